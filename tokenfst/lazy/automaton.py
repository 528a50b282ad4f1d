"""LazyAutomaton: an exact automaton over tokens whose masks are made when they are first asked for.

An eager automaton finds what all tokens do to all states before the first mask; this one does nothing until a mask is
asked for, and then walks the vocabulary with the one configuration that there is. That is what a server wants that gets
another constraint with each request; whoever uses a constraint again and again compiles it eagerly, or keeps this one.

    state    a state of the automaton over bytes and a stack, both numbers, as one integer
    row      the mask of a configuration: some words that many rows share, and the tokens whose bits are to be flipped
    context  a state, and as much of the stack as the walk for its row looked at: what lies deeper makes no difference,
             so rows are kept by context

Rows are kept until there are `MAX_ROWS`, then all are forgotten, as RE2 does with its states.

Rejected: keeping masks as words (16 KiB to be written for each of them with 128,000 tokens, to allow one); evicting
the oldest (contexts share parts).
"""

from __future__ import annotations

from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from automata.byte_automaton import ByteArray, ByteAutomaton
from automata.errors import EmptyLanguage, LabelledLanguage, TokenNotAllowed, VocabularyError
from automata.limits import Work, under_way
from automata.nested.compile import compile_nested
from automata.nested.network import NestedNetwork
from automata.pushdown.automaton import PushdownAutomaton
from tokenfst import beginning
from tokenfst.lazy.budget import Budget
from tokenfst.lazy.nearness import ByBytes, ByExits, ByStack, Nearness
from tokenfst.lazy.prepared import Prepared, prepared
from tokenfst.lazy.program import BELOW, HEIGHT, SYMBOL, Machine, program_of
from tokenfst.lazy.rows import (
    COUNT,
    DONE,
    FINAL,
    LOWEST,
    NEEDS_ROOM,
    NOTE_WORDS,
    TEXT,
    TEXT_LOOPS,
    TEXT_TARGET,
    fill,
    find_chain_row,
    find_difference,
    find_row,
    find_text_row,
    may_end,
    read_token,
    with_room,
)
from tokenfst.lazy.subsets import far_set, grown, has_room_for, subset_program
from tokenfst.lazy.text import Text
from tokenfst.loops import DEAD, LOOP_WORDS, Ints
from tokenfst.over_tokens import OverTokens
from tokenfst.pushdown import beginning as stacked_beginning
from tokenfst.text_start import TextStart
from tokenfst.vocabulary import Vocabulary

MAX_ROWS = 1 << 16
# A row with more tokens than this has words of its own.
_MOST_FLIPS = 1 << 12

_STACK_SHIFT: Final = 32
_STATE: Final = (1 << _STACK_SHIFT) - 1
# The state after an end token.
_END: Final = -1


class Row:
    """A mask: `base` with the bits of the tokens `flips` flipped; `depth` symbols of the stack were looked at."""

    __slots__ = ("base", "depth", "final", "flips")

    def __init__(self, base: Ints, flips: Ints, final: bool, depth: int) -> None:
        self.base, self.flips, self.final, self.depth = base, flips, final, depth


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
        self._machine = program.machine
        if rule or not self._prepared.all_bytes:
            token_bytes = vocabulary.is_first_byte if rule else vocabulary.is_token_byte
            _check_bytes(self._machine, token_bytes)
        self.start = program.start
        self.end_state = _END
        longest = max([self._prepared.longest, *map(len, rule.exceptions.values())]) if rule else self._prepared.longest
        self._room = longest * program.most_pushed
        self._cells: Ints = np.zeros((1, 3), np.int32)
        self._cells[0, SYMBOL] = 1
        self._slots: Ints = np.zeros(4, np.int32)
        if program.most_pushed:
            self._cells, self._slots = with_room(self._cells, 2 * self._room)
        self._counts = program.counts
        self._loops: Ints = np.zeros((len(self._machine.table), LOOP_WORDS), np.int32)
        self._texts: Ints = np.zeros((len(self._machine.table), TEXT_TARGET + 1), np.int32)
        self._note = np.zeros(NOTE_WORDS, np.int32)
        self._noted = self._note.data
        self._rows: dict[int, Row] = {}
        self._contexts: dict[int, _Context] = {}
        self._forget()
        # Where tokens lead from the start that are exceptions to the decoder's rule, DEAD for nowhere.
        self._first: dict[int, int] = {}
        if rule:
            assert not isinstance(constraint, NestedNetwork)
            self._first = self._exceptions(rule, constraint.start)

    def __repr__(self) -> str:
        return f"<LazyAutomaton, {len(self._rows):,} states visited>"

    def _forget(self) -> None:
        after_end = Row(self._prepared.nothing, np.array(self.vocabulary.eos_ids, np.int32), True, 0)
        self._contexts = {}
        self._rows = {self.end_state: after_end}

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
            least = self._budget.distance(state & _STATE, state >> _STACK_SHIFT)
        return least - (not self.vocabulary.eos_ids)

    @cached_property
    def _budget(self) -> Budget:
        machine = self._machine
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
                first[token] = self._read(np.frombuffer(text or b"\0", np.uint8), bounds, 0, inside) if text else inside
        return {token: reached for token, reached in first.items() if tokens[token]}

    def is_final(self, state: int) -> bool:
        """Whether the text may end here."""
        row = self._rows.get(state)
        if row is not None:
            return row.final
        at = state & _STATE
        does = int(self._machine.ends[at])
        if does >= DEAD:
            return does >= 0
        with self._prepared.lock:
            cells = self._cells
            return bool(may_end(at, self._machine, cells, state >> _STACK_SHIFT, 0)[0])

    def advance(self, state: int, token: int) -> int:
        """The state after one more token.

        Raises:
            TokenNotAllowed: the mask of `state` does not allow the token.
        """
        if 0 <= token < len(self.vocabulary) and state != self.end_state:
            kept = self._prepared
            if self._first and state == self.start and token in self._first:
                reached = self._first[token]
            else:
                with kept.lock:
                    reached = self._read(kept.data, kept.offsets, token, state)
            if reached >= 0:
                return reached
        if token in self.vocabulary.eos_ids and self.is_final(state):
            return self.end_state
        raise TokenNotAllowed(self._refusal(state, token))

    def _read(self, data: ByteArray, offsets: Ints, token: int, state: int) -> int:
        """The state after a token of those whose bytes are given, DEAD where it is not allowed."""
        while True:
            reached: int = read_token(
                data,
                offsets,
                self._machine,
                self._cells,
                self._slots,
                self._room,
                token,
                state & _STATE,
                state >> _STACK_SHIFT,
            )
            if reached >= DEAD:
                return reached
            self._grow()

    def _grow(self) -> None:
        if self._cells.item(0, SYMBOL) + 2 * self._room > len(self._cells):
            self._cells, self._slots = with_room(self._cells, max(2 * self._room, len(self._cells)))
        else:
            self._grow_sets()

    def _grow_sets(self) -> None:
        self._machine = grown(self._machine)
        added = len(self._machine.table) - len(self._loops)
        self._loops = np.concatenate([self._loops, np.zeros((added, LOOP_WORDS), np.int32)])
        self._texts = np.concatenate([self._texts, np.zeros((added, TEXT_TARGET + 1), np.int32)])

    # Masks

    def fill_bitmask(self, state: int, out: npt.NDArray[np.int32], remaining: int | None = None) -> None:
        """Writes the mask of a state as packed words; see `OverTokens.fill_bitmask`."""
        row = self._rows.get(state) or self._row(state)
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
            return self._budget.words(row, state & _STATE, state >> _STACK_SHIFT, limit)

    def _row(self, state: int) -> Row:
        """The row of a state that has none yet."""
        with self._prepared.lock:
            top = state >> _STACK_SHIFT
            at = self._far(state & _STATE)
            row = self._known(at, top)
            if row is None:
                row = self._make(at, top)
                if state == self.start:
                    row = self._with_exceptions(row)
                self._keep(row, at, top)
            if len(self._rows) >= MAX_ROWS:
                self._forget()
            self._rows[state] = row
            return row

    def _far(self, at: int) -> int:
        """The state that has the same row, and counts no more than tokens can tell."""
        if not self._counts:
            return at
        while (far := far_set(at, self._prepared.longest, self._machine)) < 0:
            self._grow_sets()
        return int(far)

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
            context = context.deeper.get(int(self._cells[top, SYMBOL]) if top else -1)
            top = int(self._cells[top, BELOW])
        return context.row if context is not None else None

    def _keep(self, row: Row, at: int, top: int) -> None:
        context = self._contexts.get(at)
        if context is None:
            context = self._contexts[at] = _Context()
        for _ in range(row.depth):
            symbol = int(self._cells[top, SYMBOL]) if top else -1
            top = int(self._cells[top, BELOW])
            found = context.deeper.get(symbol)
            if found is None:
                found = context.deeper[symbol] = _Context()
            context = found
        context.row = row

    def _make(self, at: int, top: int) -> Row:
        """The row of a configuration, found by a walk."""
        # Where it is counted, a walk looks at as many units as a token may have; without room it would see no text.
        while self._counts and not has_room_for(self._machine, self._prepared.longest):
            self._grow_sets()
        while True:
            does = self._find(at, top, True)
            if does == TEXT:
                row = self._text_row(at, top)
                if row is not None:
                    return row
                does = self._find(at, top, False)
            if does == DONE:
                return self._noted_row(self._prepared.nothing, top)
            self._grow()

    def _find(self, at: int, top: int, texts: bool) -> int:
        kept, vocabulary = self._prepared, self.vocabulary
        does: int = find_row(
            vocabulary.whole_trie,
            vocabulary.partial_trie,
            vocabulary.token_of_rank,
            self._machine,
            self._cells,
            self._loops,
            kept.path,
            kept.tokens,
            self._note,
            self._room,
            texts,
            at,
            top,
        )
        return does

    def _text_row(self, at: int, top: int) -> Row | None:
        """The row of a text-like state, None where it takes a walk over everything."""
        noted = self._noted
        target: int = noted[TEXT_TARGET]
        key = tuple(noted[:TEXT_TARGET])
        if target == at:
            text = self._prepared.text(key)
            return self._looping_row(at, top, text) if text is not None else None
        if not noted[TEXT_LOOPS]:
            text = self._prepared.text(key)
            return self._chain_row(at, top, text) if text is not None else None
        state = top << _STACK_SHIFT | target
        other = self._rows.get(state) or self._row(state)
        while self._find_difference(at, target, top) == NEEDS_ROOM:
            self._grow()
        return self._noted_row(other.base, top, other)

    def _looping_row(self, at: int, top: int, text: Text) -> Row:
        kept, vocabulary = self._prepared, self.vocabulary
        while (
            find_text_row(
                vocabulary.whole_trie,
                vocabulary.partial_trie,
                vocabulary.token_of_rank,
                text.rests,
                text.token_of_rest,
                self._machine,
                self._cells,
                self._loops,
                kept.path,
                kept.tokens,
                self._note,
                self._room,
                at,
                top,
            )
            == NEEDS_ROOM
        ):
            self._grow()
        return self._noted_row(text.words, top)

    def _chain_row(self, at: int, top: int, text: Text) -> Row | None:
        kept, vocabulary = self._prepared, self.vocabulary
        while (
            find_chain_row(
                vocabulary.whole_trie,
                vocabulary.partial_trie,
                vocabulary.token_of_rank,
                *text.by_length,
                self._machine,
                self._cells,
                self._loops,
                self._texts,
                kept.path,
                kept.tokens,
                self._note,
                self._room,
                at,
                top,
            )
            == NEEDS_ROOM
        ):
            self._grow()
        length: int = self._noted[TEXT_TARGET]
        return self._noted_row(text.up_to(length), top) if length >= 0 else None

    def _find_difference(self, at: int, other: int, top: int) -> int:
        kept, vocabulary = self._prepared, self.vocabulary
        does: int = find_difference(
            vocabulary.whole_trie,
            vocabulary.partial_trie,
            vocabulary.token_of_rank,
            self._machine,
            self._cells,
            self._loops,
            kept.path,
            kept.tokens,
            self._note,
            self._room,
            at,
            other,
            top,
        )
        return does

    def _noted_row(self, base: Ints, top: int, other: Row | None = None) -> Row:
        """The row that a walk has found, beside what `base` has, or beside another row that it was compared with."""
        noted, ends = self._noted, self._prepared.ends
        count, final = noted[COUNT], bool(noted[FINAL])
        depth = self._cells.item(top, HEIGHT) + 1 - noted[LOWEST]
        found = self._prepared.tokens[:count]
        if other is not None:
            depth = max(depth, other.depth)
            found = np.concatenate([other.flips[len(ends) if other.final else 0 :], found])
        if len(found) > _MOST_FLIPS:
            words = np.empty_like(base)
            fill(base, found, words)
            words.setflags(write=False)
            base, found = words, found[:0]
        flips = np.concatenate([ends, found]) if final else found.copy()
        return Row(base, flips, final, depth)


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
