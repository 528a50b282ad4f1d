"""VisiblyPushdownGrammar: rules that call each other only behind a byte of their own, as in any bracketed language.

    rule    a non-deterministic automaton over expressions, byte automata and calls
    call    at a state from which nothing else is read: another rule is read, and then the text goes on at a state that
            depends on how the rule ended
    exit    how a rule ended: a number that the rule gives to each of its ends

So in a JSON text, the caller reads `{` and calls; the rule reads everything behind it, `}` included, and ends at a
state that nothing leaves. What a bracket opens and what closes it is then seen in the text alone: these are the visibly
pushdown languages (Alur & Madhusudan 2004), which are closed under union, intersection and complement, and every
automaton for one can be made deterministic. Exits are what that takes: one rule reads what lies between two brackets
for all that may be asked about it at once, and its exit is the answer.

This is what `automata.pushdown.grammar` is for grammars in general; here there is nothing to be resolved: no left
recursion, no tail calls, no words, no look-ahead behind an end.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from automata.byte_automaton import ByteAutomaton
from automata.expressions import Expr
from automata.visibly_pushdown.paths import CountedPaths
from automata.visibly_pushdown.units import CountedUnits

ArcLanguage: TypeAlias = Expr | ByteAutomaton | CountedUnits | CountedPaths


@dataclass(frozen=True, slots=True)
class VisiblyPushdownCall:
    """A rule is read at `source`, and the text goes on at `targets[i]` where it ended in exit i; -1: it must not."""

    source: int
    rule: int
    targets: tuple[int, ...]


@dataclass(slots=True)
class VisiblyPushdownRule:
    """One rule, as it is being built; states are 0, the start, and up.

    Attributes:
        num_states: how many states there are.
        arcs: source, what is read, and target. No expression has calls.
        epsilon: source and target.
        calls: at most one from each state, and nothing else leads away from there.
        ends: (state, exit) pairs; nothing leads away from such a state.
        num_exits: how many ways to end there are.
    """

    num_states: int = 1
    arcs: list[tuple[int, ArcLanguage, int]] = field(default_factory=list)
    epsilon: list[tuple[int, int]] = field(default_factory=list)
    calls: list[VisiblyPushdownCall] = field(default_factory=list)
    ends: list[tuple[int, int]] = field(default_factory=list)
    num_exits: int = 1

    def state(self) -> int:
        """Return a new state."""
        self.num_states += 1
        return self.num_states - 1

    @property
    def only_read(self) -> ByteAutomaton | CountedUnits | CountedPaths | None:
        """The automaton that is all that the rule reads, before its one end; None if there is more or less to it."""
        if len(self.arcs) != 1 or len(self.ends) != 1 or self.epsilon or self.calls:
            return None
        source, language, target = self.arcs[0]
        if isinstance(language, Expr) or source != 0 or target == 0 or self.ends[0][0] != target:
            return None
        return language


@dataclass(frozen=True, slots=True)
class VisiblyPushdownGrammar:
    """Rules by number; a text is what the rule `start` reads, which has one exit and is called by none."""

    rules: tuple[VisiblyPushdownRule, ...]
    start: int = 0
