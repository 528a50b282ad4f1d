"""The JSON texts that a type accepts."""

from __future__ import annotations

from typing import Any

from automata import ByteAutomaton
from automata.limits import current_work
from automata.pushdown.automaton import PushdownAutomaton
from constraints.types import Typed, typed


def automaton_of(constraint: Typed[Any]) -> ByteAutomaton | PushdownAutomaton:
    return constraint.to_automaton(current_work())


def accepts(annotation: Any, *texts: str) -> list[bool]:
    automaton = automaton_of(typed(annotation))
    return [automaton.accepts(text.encode()) for text in texts]
