"""Explain ambiguity: name two derivations that stay open side by side, a text after which they do, and remedies.

A set of configurations that passes a bound comes from sets with several elements. The first of these sets shows where
two derivations part: the rules of its elements, and a shortest text that leads to it. The text is found by trying texts
in the order of their lengths on the part of the automaton that is known by then.
"""

from __future__ import annotations

from collections.abc import Mapping

from automata.arrays import IntArray
from automata.errors import NondeterministicGrammar
from automata.limits import Work
from automata.pushdown.automaton import PushdownAutomaton
from automata.pushdown.construction import Construction, Element, Unbounded
from automata.pushdown.grammar import Place
from automata.pushdown.sequences import Stack
from automata.pushdown.step_table import Configuration
from automata.texts import readable

# The symbols that a move pops and pushes, from the bottom up; the state that it leads to, and a byte that it reads.
_Move = tuple[Stack, Stack, int, bytes]
# The maximum number of moves tried in the search for a text, and the maximum height of its stacks.
_MAX_TRIED, _MAX_HEIGHT = 50_000, 100

_ADVICE = (
    "let both begin with a rule that they share, make what should be read as a whole a lexical rule, give lexical "
    'rules priorities, or give the grammar ambiguity="parallel"'
)
_ADVICE_ON_WORDS = (
    "let the text before the second word end with a delimiter, make that text a lexical rule, or "
    'give the grammar ambiguity="parallel"'
)


def explained(
    found: Construction, unbounded: Unbounded, known: PushdownAutomaton, number: IntArray, places: Mapping[str, Place]
) -> NondeterministicGrammar:
    """Return the error for a set that exceeds a bound.

    Args:
        found: the construction, as far as it went.
        unbounded: the set, the bound that it exceeds, and the state that it comes from.
        known: the automaton of the states that were expanded.
        number: for each state of the construction, its number in `known`.
        places: where rules were defined.
    """
    state, elements = unbounded.state, unbounded.elements
    if unbounded.reason != "words":
        state = _first_state(found, state)
        if len(found.elements(state)) > 1:
            elements = found.elements(state)
    text = shown(shortest_text(known, int(number[state]), found.work))
    name = found.rule_name(elements[0][1])
    place = places.get(name)
    return NondeterministicGrammar(
        f"after {text} {_reason(found, unbounded.reason, elements[0], elements[-1])}",
        rule=name,
        line=place.line if place else None,
        column=place.column if place else None,
    )


def _reason(found: Construction, reason: str, left: Element, right: Element) -> str:
    """Return the part of the message that names two derivations, why they are ambiguous, and remedies."""
    first, second = _described(found, left), _described(found, right)
    if reason == "pops":
        return f"any number of rules can end at once: {first}, and each can continue as well; {_ADVICE}"
    both = f"one is in {first}, the other in {second}"
    if reason == "words":
        return f"a word may be open while another one begins, so that they compete: {both}; {_ADVICE_ON_WORDS}"
    return f"two derivations are open, and no bounded look-ahead tells them apart: {both}; {_ADVICE}"


def _first_state(found: Construction, state: int) -> int:
    """Go back along the path to a state while the previous state has several elements; return the state reached."""
    before = found.tables.came_from
    while before[state] >= 0 and len(found.elements(before[state])) > 1:
        state = int(before[state])
    return state


def shortest_text(automaton: PushdownAutomaton, state: int, work: Work) -> bytes | None:
    """Return a shortest text that leads to a state, or None if none is found within the bounds of the search.

    Args:
        automaton: the part of the automaton that is known.
        state: the state; negative if `automaton` does not have it.
        work: the limits, and the means to stop the search.
    """
    if state < 0:
        return None
    moves = _moves(automaton, work)
    level: dict[Configuration, bytes] = {(automaton.start, ()): b""}
    known = set(level)
    num_tried = 0
    while level:
        reached: dict[Configuration, bytes] = {}
        for (at, stack), text in work.watched(level.items()):
            if at == state:
                return text
            candidates = moves[at].get((), []) + (moves[at].get(stack[-1:], []) if stack else [])
            num_tried += len(candidates)
            if num_tried > _MAX_TRIED:
                return None
            for pops, pushes, target, byte in candidates:
                height = len(stack) - len(pops)
                if height < 0 or stack[height:] != pops or height + len(pushes) > _MAX_HEIGHT:
                    continue
                after = target, stack[:height] + pushes
                if after not in known:
                    known.add(after)
                    reached[after] = text + byte
        level = reached
    return None


def _moves(automaton: PushdownAutomaton, work: Work) -> list[dict[Stack, list[_Move]]]:
    """Return, for each state, its steps over bytes by the symbol that must be on top of the stack, or by the empty
    stack if any symbol may be. Of several bytes with the same effect, only one is listed."""
    rank, byte_of = _by_appearance(automaton)
    found: list[dict[Stack, list[_Move]]] = []
    num_classes = automaton.num_classes
    for steps in work.watched(automaton.steps_by_state(work)):
        moves: dict[tuple[Stack, Stack, int], bytes] = {}
        for column, pops, pushes, target in sorted(steps, key=lambda step: rank[step[0]]):
            if column < num_classes:
                moves.setdefault((pops, pushes, target), byte_of[column])
        by_top: dict[Stack, list[_Move]] = {}
        for (pops, pushes, target), byte in moves.items():
            by_top.setdefault(pops[-1:], []).append((pops, pushes, target, byte))
        found.append(by_top)
    return found


def _by_appearance(automaton: PushdownAutomaton) -> tuple[list[int], list[bytes]]:
    """Return the rank of each column and a byte of each class; letters and digits come before other bytes."""
    order = sorted(range(256), key=lambda byte: (not chr(byte).isalnum() or byte > 127, not 32 < byte < 127, byte))
    rank = [256] * automaton.num_columns
    byte_of = [b""] * automaton.num_columns
    for at, byte in enumerate(order):
        column = int(automaton.byte_class[byte])
        if not byte_of[column]:
            rank[column], byte_of[column] = at, bytes([byte])
    return rank, byte_of


def shown(text: bytes | None) -> str:
    """Write a text for a message."""
    if text is None:
        return "some text"
    return repr(readable(text)) if text else "the empty text"


def _described(found: Construction, element: Element) -> str:
    """Describe the rules that an element is in, from the innermost out, without immediate repetitions."""
    stack, place = element
    names: list[str] = []
    for state in (place, *reversed(stack)):
        name = found.rule_name(state)
        if not names or names[-1] != name:
            names.append(name)
    kept = names if len(names) <= 4 else [*names[:2], "…", names[-1]]
    return "rule " + ", called from ".join(repr(name) if name != "…" else name for name in kept)
