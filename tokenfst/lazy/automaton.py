"""LazyAutomaton: an exact automaton over tokens whose masks are made when they are first asked for.

An eager automaton finds what all tokens do to all states before the first mask; this one does nothing until a mask is
asked for, and then walks the vocabulary with the one configuration that there is. That is what a server wants that gets
another constraint with each request; whoever uses a constraint again and again compiles it eagerly, or keeps this one.

    state    a state of the automaton over bytes and a stack, both numbers, as one integer
    row      the mask of a configuration: some words that many rows share, and the tokens whose bits are to be flipped
    context  a state, and as much of the stack as the walk for its row looked at: what lies deeper makes no difference,
             so rows are kept by context

Rows are kept until there are `MAX_ROWS`, then all are forgotten, as RE2 does with its states; and so are steps.

Rejected: keeping masks as words (16 KiB to be written for each of them with 128,000 tokens, to allow one); evicting
the oldest (contexts share parts).
"""

from __future__ import annotations

from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from automata.byte_automaton import ByteAutomaton
from automata.errors import EmptyLanguage, LabelledLanguage, TokenNotAllowed, VocabularyError
from automata.limits import Work, under_way
from automata.nested.compile import compile_nested
from automata.nested.network import NestedNetwork
from automata.pushdown.automaton import PushdownAutomaton
from automata.transition.stacks import BELOW, SYMBOL
from tokenfst import beginning
from tokenfst.lazy.budget import Budget
from tokenfst.lazy.nearness import ByBytes, ByExits, ByStack, Nearness
from tokenfst.lazy.prepared import Prepared, prepared
from tokenfst.lazy.program import Machine, program_of
from tokenfst.lazy.rows import fill
from tokenfst.lazy.subset_program import subset_program
from tokenfst.lazy.walker import STACK_SHIFT, STATE, Row, Walker
from tokenfst.transition.loops import DEAD, Ints
from tokenfst.over_tokens import OverTokens
from tokenfst.pushdown import beginning as stacked_beginning
from tokenfst.text_start import TextStart
from tokenfst.vocabulary import Vocabulary

MAX_ROWS = 1 << 16
# The state after an end token.
_END: Final = -1


class _Context:
    """What is known of a state and the symbols on top of the stack: a row, or the contexts with one symbol more."""

    __slots__ = ("deeper", "row")

    def __init__(self) -> None:
        self.row: Row | None = None
        # By symbol, -1 for the bottom of the stack.
        self.deeper: dict[int, _Context] = {}


class LazyAutomaton(OverTokens[int]):
    """An exact automaton over tokens, made by `tokenfst.compile` with `lazy=True`.

    Safe to share between threads; what has been found is kept under a lock.

    Attributes:
        vocabulary: the tokens.
        start: the state before the first token.
        end_state: the state after an end token.
        at_text_start: whether the tokens are a text by themselves, and not the continuation of one (`compile`).
        walker: the walks, and their tables.
    """

    def __init__(
        self,
        constraint: ByteAutomaton | PushdownAutomaton | NestedNetwork,
        vocabulary: Vocabulary,
        *,
        at_text_start: bool = False,
        work: Work | None = None,
    ) -> None:
        """Takes an automaton over bytes, or a network of rules, which is not made deterministic as a whole.

        Raises:
            EmptyLanguage: it accepts nothing.
            LabelledLanguage: it has labels.
            VocabularyError: some byte that it reads is no token by itself.
            LimitExceeded, Cancelled: as `tokenfst.compile`, for a network.
            ValueError: it is not deterministic.
        """
        self.vocabulary = vocabulary
        self.at_text_start = at_text_start
        self._prepared: Prepared = prepared(vocabulary)
        rule = vocabulary.text_start if at_text_start else None
        program = None
        if isinstance(constraint, NestedNetwork):
            with under_way(work) as work:
                if not rule and self._prepared.all_bytes:
                    program = subset_program(constraint, work)
                if program is None:
                    constraint = compile_nested(constraint, work=work)
        # What is stepped through, None where it is a network.
        self._stepped: ByteAutomaton | PushdownAutomaton | None = None
        if program is None:
            assert not isinstance(constraint, NestedNetwork)
            _check(constraint)
            self._stepped = _with_beginning(constraint, rule) if rule else constraint
            program = program_of(self._stepped)
        if rule or not self._prepared.all_bytes:
            token_bytes = vocabulary.is_first_byte if rule else vocabulary.is_token_byte
            _check_bytes(program.machine, token_bytes)
        self.start = program.start
        self.end_state = _END
        longest = max([self._prepared.longest, *map(len, rule.exceptions.values())]) if rule else self._prepared.longest
        self.walker = Walker(program, self._prepared, longest)
        self._rows: dict[int, Row] = {}
        # Texts of one constraint begin alike, and a look-up takes a tenth of a walk through a token's bytes.
        self._steps: dict[tuple[int, int], int] = {}
        self._contexts: dict[int, _Context] = {}
        self._forget()
        # Where tokens lead from the start that are exceptions to the decoder's rule, DEAD for nowhere.
        self._first: dict[int, int] = {}
        if rule:
            assert not isinstance(constraint, NestedNetwork)
            self._first = self._exceptions(rule, constraint.start)

    def __repr__(self) -> str:
        return f"<LazyAutomaton, {len(self._rows):,} states visited>"

    @property
    def nbytes(self) -> int:
        """Memory of the tables in bytes, without the vocabulary's, which all its automata share, and cached rows."""
        return self.walker.nbytes

    def _forget(self) -> None:
        after_end = Row(self._prepared.nothing, np.array(self.vocabulary.eos_ids, np.int32), True, 0)
        self._contexts = {}
        self._rows = {self.end_state: after_end}
        self._steps.clear()

    # Distances

    def min_tokens(self, state: int) -> int:
        """A number of tokens that is enough from a state to the end of the text, the end token counted.

        Every byte is a token, so it is found byte by byte, without looking at the vocabulary, but for literal texts of
        a network, which are cut into the fewest tokens (`tokenfst.lazy.network_distance`). The least number may be
        smaller. In every state with a number above 0 some token leads to one with a smaller number.
        """
        if state == self.end_state:
            return 0
        with self._prepared.lock:
            least = self._budget.distance(state & STATE, state >> STACK_SHIFT)
        return least - (not self.vocabulary.eos_ids)

    @cached_property
    def _budget(self) -> Budget:
        machine = self.walker.machine
        if self._stepped is None:
            return Budget(self, Nearness(ByExits(machine, self.vocabulary), machine, len(machine.table)))
        if isinstance(self._stepped, ByteAutomaton):
            return Budget(self, Nearness(ByBytes(machine), machine, 0))
        return Budget(self, Nearness(ByStack(self._stepped), machine, self._stepped.num_symbols))

    # Steps

    def _exceptions(self, rule: TextStart, inside: int) -> dict[int, int]:
        tokens, first = self.vocabulary.tokens, dict.fromkeys(rule.ignored, self.start)
        for token in rule.exceptions:
            if tokens[token] and token not in first:
                text = rule.first(token, tokens[token])
                bounds = np.array([0, len(text)], np.int32)
                first[token] = (
                    self.walker.read(np.frombuffer(text or b"\0", np.uint8), bounds, 0, inside) if text else inside
                )
        return {token: reached for token, reached in first.items() if tokens[token]}

    def is_final(self, state: int) -> bool:
        """Whether the text may end here."""
        row = self._rows.get(state)
        if row is not None:
            return row.final
        does = int(self.walker.machine.ends[state & STATE])
        if does >= DEAD:
            return does >= 0
        with self._prepared.lock:
            return self.walker.may_end(state)

    def advance(self, state: int, token: int) -> int:
        """The state after one more token.

        Raises:
            TokenNotAllowed: the mask of `state` does not allow the token.
        """
        found = self._steps.get((state, token))
        if found is not None:
            return found
        if 0 <= token < len(self.vocabulary) and state != self.end_state:
            kept = self._prepared
            if self._first and state == self.start and token in self._first:
                reached = self._first[token]
            else:
                with kept.lock:
                    reached = self.walker.read(kept.data, kept.offsets, token, state)
            if reached >= 0:
                if len(self._steps) >= MAX_ROWS:
                    self._steps.clear()
                self._steps[state, token] = reached
                return reached
        if token in self.vocabulary.eos_ids and self.is_final(state):
            return self.end_state
        raise TokenNotAllowed(self._refusal(state, token))

    # Masks

    def fill_bitmask(self, state: int, out: npt.NDArray[np.int32], remaining: int | None = None) -> None:
        """Writes the mask of a state as packed words; see `OverTokens.fill_bitmask`."""
        row = self._row_of(state)
        words = self._near_words(state, row, remaining) if remaining is not None else None
        if words is not None:
            row = Row(words, self._prepared.ends[:0], row.final, row.depth)
        if len(out) < len(row.base):
            raise ValueError(f"a mask takes {len(row.base)} words, and there are {len(out)}")
        fill(row.base, row.flips, out)

    def _words(self, state: int) -> Ints:
        words = np.empty_like(self._prepared.nothing)
        self.fill_bitmask(state, words)
        return words

    def _words_within(self, state: int, remaining: int) -> Ints:
        words = np.empty_like(self._prepared.nothing)
        self.fill_bitmask(state, words, remaining)
        return words

    def _near_words(self, state: int, row: Row, remaining: int) -> Ints | None:
        """The mask within a budget, None where it is that of the row."""
        if remaining <= 0:
            return self._prepared.nothing
        if state == self.end_state:
            return None
        # The end token is counted in any case.
        limit = remaining + (not self.vocabulary.eos_ids)
        with self._prepared.lock:
            return self._budget.words(row, state & STATE, state >> STACK_SHIFT, limit)

    def _row_of(self, state: int) -> Row:
        return self._rows.get(state) or self._row(state)

    def _row(self, state: int) -> Row:
        """The row of a state that has none yet."""
        with self._prepared.lock:
            top = state >> STACK_SHIFT
            at = self.walker.far(state & STATE)
            row = self._known(at, top)
            if row is None:
                row = self.walker.row(at, top, self._row_of)
                if state == self.start:
                    row = self._with_exceptions(row)
                self._keep(row, at, top)
            if len(self._rows) >= MAX_ROWS:
                self._forget()
            self._rows[state] = row
            return row

    def _with_exceptions(self, row: Row) -> Row:
        """The row of the start, with the bits of tokens that are exceptions there put right."""
        if not self._first:
            return row
        words = np.empty_like(row.base)
        fill(row.base, row.flips, words)
        wrong = [token for token, to in self._first.items() if (to >= 0) != bool(words[token >> 5] >> (token & 31) & 1)]
        flips = np.concatenate([row.flips, np.array(wrong, np.int32)])
        return Row(row.base, flips, row.final, row.depth)

    def _known(self, at: int, top: int) -> Row | None:
        context = self._contexts.get(at)
        while context is not None and context.row is None:
            context = context.deeper.get(int(self.walker.cells[top, SYMBOL]) if top else -1)
            top = int(self.walker.cells[top, BELOW])
        return context.row if context is not None else None

    def _keep(self, row: Row, at: int, top: int) -> None:
        context = self._contexts.get(at)
        if context is None:
            context = self._contexts[at] = _Context()
        for _ in range(row.depth):
            symbol = int(self.walker.cells[top, SYMBOL]) if top else -1
            top = int(self.walker.cells[top, BELOW])
            found = context.deeper.get(symbol)
            if found is None:
                found = context.deeper[symbol] = _Context()
            context = found
        context.row = row


def _check(automaton: ByteAutomaton | PushdownAutomaton) -> None:
    if automaton.labels:
        raise LabelledLanguage("masks made on demand are for bytes; compile a constraint with labels eagerly")
    if isinstance(automaton, PushdownAutomaton) and automaton.max_configurations > 1:
        raise ValueError("masks made on demand are for deterministic automata; compile this one eagerly")
    if automaton.start < 0:
        raise EmptyLanguage("the constraint allows no text at all")


def _with_beginning(automaton: ByteAutomaton | PushdownAutomaton, rule: TextStart) -> ByteAutomaton | PushdownAutomaton:
    if isinstance(automaton, ByteAutomaton):
        return beginning.with_beginning(automaton, rule)[0]
    return stacked_beginning.with_beginning(automaton, rule)


def _check_bytes(machine: Machine, is_token_byte: npt.NDArray[np.bool_]) -> None:
    """Refuses a vocabulary whose tokens may lead to where they do not lead on."""
    for byte in np.flatnonzero(~is_token_byte).tolist():
        if (machine.table[:, machine.byte_class[byte]] != DEAD).any():
            raise VocabularyError(
                f"byte 0x{byte:02X} is no token by itself, and the constraint reads it: which tokens lead to an end is "
                "then known only after looking at all states; compile it eagerly"
            )
