"""LazyAutomaton: an exact automaton over tokens whose masks are made when they are first asked for.

An eager automaton finds what all tokens do to all states before the first mask. This one does nothing until a mask is
asked for, and then walks the vocabulary from the one configuration that there is. That is what a server wants that
gets another constraint with each request; a constraint that is used again and again is compiled eagerly, or this
automaton is kept.

The rules of a JSON schema or another network need no automaton over bytes: the native core makes their states as the
text reaches them (`native/tokenfst/lazy/`). Where that would not be exact, and for other constraints, the automaton
over bytes is made first.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np

from automata.arrays import BoolArray
from automata.byte_automaton import ByteAutomaton
from automata.errors import EmptyLanguage, LabelledLanguage, LimitExceeded, VocabularyError
from automata.limits import Work, under_way
from automata.nested.compile import compile_nested
from automata.nested.inlining import check_calls
from automata.nested.laying import lay_out
from automata.nested.network import NestedNetwork
from automata.pushdown.automaton import PushdownAutomaton
from tokenfst import _native as native
from tokenfst import beginning
from tokenfst.native_automaton import NativeAutomaton
from tokenfst.pushdown import beginning as stacked_beginning
from tokenfst.text_start import TextStart
from tokenfst.vocabulary import Vocabulary

# States whose masks are kept; when there are more, all masks are forgotten.
MAX_ROWS = 1 << 16


@runtime_checkable
class Layered(Protocol):
    """What has a network of nested rules, which a lazy automaton takes as it is."""

    def to_network(self) -> NestedNetwork:
        """The rules."""
        ...


class LazyAutomaton(NativeAutomaton[int]):
    """An exact automaton over tokens, made by `tokenfst.compile` with `lazy=True`.

    Safe to share between threads, which take turns.

    Attributes:
        vocabulary: the tokens.
        start: the state before the first token.
        end_state: the state after an end token.
        at_text_start: whether the tokens are a text by themselves, and not the continuation of one (`compile`).
        core: the automaton of the native core.
    """

    core: native.LazyCore

    def __init__(
        self,
        constraint: ByteAutomaton | PushdownAutomaton | NestedNetwork,
        vocabulary: Vocabulary,
        *,
        at_text_start: bool = False,
        work: Work | None = None,
    ) -> None:
        """Take an automaton over bytes, or a network of rules, which is not made deterministic as a whole.

        Raises:
            EmptyLanguage: it accepts nothing.
            LabelledLanguage: it has labels.
            VocabularyError: some byte that it reads is no token by itself.
            LimitExceeded, Cancelled: as `tokenfst.compile`.
            ValueError: it is not deterministic.
        """
        work = under_way(work)
        self.vocabulary = vocabulary
        self.at_text_start = at_text_start
        rule = vocabulary.text_start if at_text_start else None
        core = None
        if isinstance(constraint, NestedNetwork):
            if not rule and vocabulary.is_token_byte.all():
                core = _of_network(constraint, vocabulary, work)
            if core is None:
                constraint = compile_nested(constraint, work=work)
        if core is None:
            assert not isinstance(constraint, NestedNetwork)
            core = _of_automaton(constraint, vocabulary, rule, work)
        self.core = core
        self.start = core.start
        self.end_state = core.end_state

    def __repr__(self) -> str:
        return f"<LazyAutomaton, {self.core.num_rows:,} states visited>"

    def min_tokens(self, state: int) -> int:
        """A number of tokens that is enough from a state to the end of the text, the end token counted.

        Every byte is a token, so it is found byte by byte, without looking at the vocabulary, but for literal texts of
        a network, which are cut into the fewest tokens. The least number may be smaller. In every state with a number
        above 0 some token leads to one with a smaller number.
        """
        return self.core.min_tokens(state)


def _of_network(network: NestedNetwork, vocabulary: Vocabulary, work: Work) -> native.LazyCore | None:
    """The automaton whose states are made on demand, None where that would not be exact."""
    check_calls(network)
    layout = lay_out(network, frozenset(), work, written=False)
    if layout.labels:
        return None
    try:
        core = native.LazyCore.from_network(vocabulary.texts, layout.tables, MAX_ROWS, work.budget)
    except LimitExceeded as error:
        raise error.of("the rules") from None
    if core is not None and core.is_empty:
        raise EmptyLanguage("the rules have no text")
    return core


def _of_automaton(
    constraint: ByteAutomaton | PushdownAutomaton, vocabulary: Vocabulary, rule: TextStart | None, work: Work
) -> native.LazyCore:
    if constraint.labels:
        raise LabelledLanguage("masks made on demand are for bytes; compile a constraint with labels eagerly")
    if isinstance(constraint, PushdownAutomaton):
        if constraint.max_configurations > 1:
            raise ValueError("masks made on demand are for deterministic automata; compile this one eagerly")
        stacked = stacked_beginning.with_beginning(constraint, rule) if rule else constraint
        core = native.LazyCore.from_pushdown(vocabulary.texts, stacked.tables, MAX_ROWS, work.budget)
    else:
        if constraint.is_empty:
            raise EmptyLanguage("the constraint allows no text at all")
        plain = beginning.with_beginning(constraint, rule)[0] if rule else constraint
        core = native.LazyCore.from_bytes(vocabulary.texts, plain.tables, MAX_ROWS, work.budget)
    _check_bytes(core, vocabulary.is_first_byte if rule else vocabulary.is_token_byte)
    if rule:
        core.set_beginnings(_beginnings(rule, vocabulary, core.start, constraint.start))
    return core


def _check_bytes(core: native.LazyCore, is_token_byte: BoolArray) -> None:
    """Refuse a vocabulary whose tokens may lead to where they do not lead on."""
    if is_token_byte.all():
        return
    for byte in np.flatnonzero(core.bytes_read & ~is_token_byte).tolist():
        raise VocabularyError(
            f"byte 0x{byte:02X} is no token by itself, and the constraint reads it: which tokens lead to an end is "
            "then known only after looking at all states; compile it eagerly"
        )


def _beginnings(rule: TextStart, vocabulary: Vocabulary, start: int, inside: int) -> list[tuple[int, bytes, int]]:
    """The tokens that are exceptions to the decoder's rule: what they write at the start of a text, and which state
    reads it."""
    found = [(token, b"", start) for token in rule.ignored]
    for token, text in rule.exceptions.items():
        if token not in rule.ignored:
            found.append((token, text, inside))
    return [each for each in found if vocabulary.tokens[each[0]]]
