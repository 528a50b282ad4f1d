"""Where texts of an automaton end within a longer text, and whether the automaton accepts a whole text.

If the whole automaton of a visibly pushdown grammar would exceed the limits, its states are made on demand.

A token in an automaton (a label) is read as its name. An automaton with a stack may read words, which match as long a
text as possible and might therefore continue into the name of the token that ends them. So this module looks for the
names of tokens in addition to reading bytes. In all other automata names are written as text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import tokenfst
from automata.byte_automaton import ByteAutomaton
from automata.errors import LimitExceeded, TokenNotAllowed
from automata.limits import current_work
from automata.pushdown.automaton import PushdownAutomaton
from automata.pushdown.step_table import Configuration
from automata.visibly_pushdown.compile import compile_visibly_pushdown
from automata.visibly_pushdown.grammar import VisiblyPushdownGrammar
from tokenfst.token_automaton import TokenAutomaton
from tokenfst.unique_items.language import ArraysAlone, RulesAlone, UniqueArrays
from tokenfst.vocabulary.all_bytes import ALL_BYTES

# What reads texts: an automaton over bytes, one with a stack, or one over the tokens of single bytes.
Readable: TypeAlias = ByteAutomaton | PushdownAutomaton | TokenAutomaton


def readable(rules: VisiblyPushdownGrammar | UniqueArrays) -> Readable:
    """Return an automaton that reads the texts of a grammar, which may have arrays whose items must differ.

    Raises:
        EmptyLanguage: the grammar has no texts.
        LimitExceeded, Cancelled: see `Parsed.to_automaton`.
    """
    if isinstance(rules, UniqueArrays):
        return tokenfst.compile(ArraysAlone(rules), ALL_BYTES)
    try:
        return compile_visibly_pushdown(rules, work=current_work())
    except LimitExceeded as error:
        if error.limit == "seconds":
            raise
        return tokenfst.compile(RulesAlone(rules), ALL_BYTES)


def has_text(automaton: Readable, text: bytes) -> bool:
    """Return whether an automaton accepts a text."""
    if isinstance(automaton, PushdownAutomaton) and automaton.labels:
        return len(text) in _nested_ends(automaton, text, 0)
    return automaton.accepts(text)


def ends(automaton: Readable, text: bytes, begin: int) -> Iterator[int]:
    """Return the offsets at which a text of the automaton that begins at `begin` may end, in ascending order."""
    if isinstance(automaton, ByteAutomaton):
        return _regular_ends(automaton, text, begin)
    if isinstance(automaton, PushdownAutomaton):
        return _nested_ends(automaton, text, begin)
    return _ends_over_bytes(automaton, text, begin)


def _ends_over_bytes(automaton: TokenAutomaton, text: bytes, begin: int) -> Iterator[int]:
    state = automaton.start
    for at in range(begin, len(text) + 1):
        if automaton.is_final(state):
            yield at
        if at < len(text):
            try:
                state = automaton.advance(state, text[at])
            except TokenNotAllowed:
                return


def _regular_ends(automaton: ByteAutomaton, text: bytes, begin: int) -> Iterator[int]:
    state, final = automaton.start, automaton.final
    for at in range(begin, len(text) + 1):
        if state < 0:
            return
        if final[state]:
            yield at
        state = automaton.step(state, text[at : at + 1]) if at < len(text) else -1


def _nested_ends(automaton: PushdownAutomaton, text: bytes, begin: int) -> Iterator[int]:
    names = [(name.encode(), automaton.num_classes + 1 + label) for label, name in enumerate(automaton.labels)]
    # The configurations at each place; a token's name leads beyond the next byte.
    waiting: dict[int, list[Configuration]] = {begin: [(automaton.start, ())]}
    for at in range(begin, len(text) + 1):
        found = list(dict.fromkeys(waiting.pop(at, ())))
        if any(automaton.steps_from(each, automaton.num_classes) for each in found):
            yield at
        moves = [(at + len(name), column) for name, column in names if text.startswith(name, at)] if found else []
        if at < len(text):
            moves.append((at + 1, int(automaton.byte_class[text[at]])))
        for place, column in moves:
            reached = [after for each in found for after in automaton.steps_from(each, column)]
            if reached:
                waiting.setdefault(place, []).extend(reached)
        if not waiting:
            return
