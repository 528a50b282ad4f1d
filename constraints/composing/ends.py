"""Where texts of an automaton end within a longer text, and whether the automaton accepts a whole text.

If the whole automaton of a visibly pushdown grammar would exceed the limits, its states are made on demand.

A token in an automaton (a label) is read as its name. Free text may hold that name as well, and a word, which matches
as long a text as possible, might continue into the name of the token that ends it. So this module looks for the names
of tokens in addition to reading bytes, and follows both.

Rejected: automata in which names are written as text (after free text, they would be nondeterministic).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import tokenfst
from automata.byte_automaton import ByteAutomaton
from automata.compile.nfa import FIRST_LABEL
from automata.errors import LimitExceeded
from automata.expressions import Expr, Label
from automata.limits import current_work
from automata.pushdown.automaton import PushdownAutomaton
from automata.pushdown.naming import calls_and_labels
from automata.visibly_pushdown.compile import compile_visibly_pushdown
from automata.visibly_pushdown.grammar import VisiblyPushdownGrammar
from tokenfst.token_automaton import TokenAutomaton
from tokenfst.unique_items.language import ArraysAlone, RulesAlone, UniqueArrays
from tokenfst.vocabulary import Vocabulary
from tokenfst.vocabulary.all_bytes import ALL_BYTES

# The automata that read texts: over bytes, with or without a stack, or over the tokens of single bytes.
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
        return tokenfst.compile(RulesAlone(rules), _bytes_and(_token_names(rules)))


def _token_names(rules: VisiblyPushdownGrammar) -> list[str]:
    """Return the names of the tokens in a grammar, in alphabetical order."""
    names = set[str]()
    for language in (language for rule in rules.rules for _, language, _ in rule.arcs):
        if isinstance(language, Expr):
            names |= {node.name for node, _ in calls_and_labels(language) if isinstance(node, Label)}
        elif isinstance(language, ByteAutomaton):
            names |= set(language.labels)
    return sorted(names)


def _bytes_and(names: Sequence[str]) -> Vocabulary:
    """Return the vocabulary of all single bytes, with a token for each name."""
    if not names:
        return ALL_BYTES
    tokens = [*ALL_BYTES.tokens, *[b""] * len(names)]
    numbers = {name: number for number, name in enumerate(names, len(ALL_BYTES))}
    return Vocabulary(tokens, ALL_BYTES.eos_ids, special_tokens=numbers)


def has_text(automaton: Readable, text: bytes) -> bool:
    """Return whether an automaton accepts a text."""
    followed = _followed(automaton)
    if not followed.names:
        return automaton.accepts(text)
    return any(at == len(text) and may_end for at, may_end in enumerate(followed.endings(text, 0)))


def endings(automaton: Readable, text: bytes, begin: int) -> Iterator[bool]:
    """Yield, for each offset from `begin` up, whether a text of the automaton that begins at `begin` may end there;
    stop where no text continues."""
    if isinstance(automaton, ByteAutomaton) and not automaton.labels:
        return _regular_endings(automaton, text, begin)
    return _followed(automaton).endings(text, begin)


def _regular_endings(automaton: ByteAutomaton, text: bytes, begin: int) -> Iterator[bool]:
    state, final = automaton.start, automaton.final
    for at in range(begin, len(text) + 1):
        if state < 0:
            return
        yield bool(final[state])
        state = automaton.step(state, text[at : at + 1]) if at < len(text) else -1


class _Followed(NamedTuple):
    """An automaton over symbols: bytes, and tokens that have names. Its states are followed side by side.

    Attributes:
        start: the state before a text.
        may_end: returns whether the text may end in a state.
        after: returns the states after a symbol.
        symbol: the symbol of each byte.
        names: the names of tokens, with their symbols.
    """

    start: Any
    may_end: Callable[[Any], bool]
    after: Callable[[Any, int], Iterable[Any]]
    symbol: Sequence[int]
    names: list[tuple[bytes, int]]

    def endings(self, text: bytes, begin: int) -> Iterator[bool]:
        # The states at each offset; a token's name leads beyond the next byte.
        waiting: dict[int, list[Any]] = {begin: [self.start]}
        for at in range(begin, len(text) + 1):
            found = waiting.pop(at, [])
            found = list(dict.fromkeys(found)) if len(found) > 1 else found
            yield any(map(self.may_end, found))
            moves = [(at + len(name), symbol) for name, symbol in self.names if found and text.startswith(name, at)]
            if at < len(text):
                moves.append((at + 1, self.symbol[text[at]]))
            for place, symbol in moves:
                reached = [after for each in found for after in self.after(each, symbol)]
                if reached:
                    waiting.setdefault(place, []).extend(reached)
            if not waiting:
                return


def _followed(automaton: Readable) -> _Followed:
    if isinstance(automaton, ByteAutomaton):
        return _followed_bytes(automaton)
    if isinstance(automaton, PushdownAutomaton):
        end = automaton.num_classes
        names = [(name.encode(), end + 1 + label) for label, name in enumerate(automaton.labels)]
        symbol = automaton.byte_class.tolist()
        return _Followed(
            (automaton.start, ()),
            lambda each: bool(automaton.steps_from(each, end)),
            automaton.steps_from,
            symbol,
            names,
        )
    names = [(name.encode(), token) for name, token in automaton.vocabulary.special_tokens.items()]

    def after(state: Any, token: int) -> Iterable[Any]:
        reached = automaton.step(state, token)
        return () if reached is None else (reached,)

    return _Followed(automaton.start, automaton.is_final, after, range(256), names)


def _followed_bytes(automaton: ByteAutomaton) -> _Followed:
    final, by_label = automaton.final, automaton.by_label

    def after(state: int, symbol: int) -> Iterable[int]:
        is_byte = symbol < FIRST_LABEL
        reached = automaton.step(state, bytes([symbol])) if is_byte else int(by_label[state, symbol - FIRST_LABEL])
        return (reached,) if reached >= 0 else ()

    names = [(name.encode(), symbol) for symbol, name in enumerate(automaton.labels, FIRST_LABEL)]
    start = automaton.start
    return _Followed(start, lambda state: state >= 0 and bool(final[state]), after, range(FIRST_LABEL), names)
