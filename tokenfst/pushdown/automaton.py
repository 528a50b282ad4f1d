"""PushdownTokenAutomaton: an exact automaton over tokens with a stack.

A state of it, to whoever uses it, is opaque: configurations, each of them a state of the tables and a stack, one where
the automaton is deterministic. States are immutable, hashable and cheap to keep, so rewinding and branching are
nothing but going on from an old one.

    path     the nodes that the stack at hand picks in the context tree of a state
    mask     the classes of all edges of the nodes of a path, as words; kept by path, so that a mask for a state of the
             same kind, whatever lies deeper in its stack, is copied
    advance  the edge of the token's class, which some node of the path has
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from automata.errors import EmptyLanguage, TokenNotAllowed, TooManyConfigurations
from tokenfst.loops import Ints
from tokenfst.masks import ClassRuns, expand_runs, group_runs, mask_words
from tokenfst.pushdown.stack import Cell, Stack
from tokenfst.pushdown.tables import PushdownTables
from tokenfst.token_classes import END, NEVER
from tokenfst.vocabulary import Vocabulary

# Masks kept for paths that have been visited; 16 KiB each with a vocabulary of 128,000 tokens.
MAX_CACHED_MASKS = 4096

Configuration: TypeAlias = tuple[int, Stack]
State: TypeAlias = tuple[Configuration, ...]


class PushdownTokenAutomaton:
    """An exact automaton over tokens with a stack; made by `tokenfst.compile` from a grammar, or by `load`.

    Attributes:
        vocabulary: the tokens.
        start: the state before the first token.
        tables: what each class of tokens does.
        run_end, run_class: `[R]` each, the class of every rank as runs (`tokenfst.token_classes.TokenClasses`).
        at_text_start: whether the tokens are a text by themselves, and not the continuation of one (`compile`).
        max_depth: how many symbols the stack may hold, None for any number. What could not be completed within it is
            not allowed.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        tables: PushdownTables,
        run_end: Ints,
        run_class: Ints,
        *,
        at_text_start: bool = False,
        max_depth: int | None = None,
    ) -> None:
        """Puts the parts together.

        Raises:
            EmptyLanguage: every text needs a higher stack than `max_depth`.
        """
        self.vocabulary = vocabulary
        self.tables = tables
        self.run_end = run_end
        self.run_class = run_class
        self.at_text_start = at_text_start
        self.max_depth = max_depth
        self.start: State = ((tables.start, None),)
        for array in (run_end, run_class):
            array.setflags(write=False)
        self._rank_of_token = vocabulary.rank_of_token.data
        self._num_symbols = tables.num_symbols
        self._child = tables.child.reshape(-1).data
        self._row_offsets, self._edge_class = tables.row_offsets.data, tables.edge_class.data
        self._edge_outcome, self._outcome_offsets = tables.edge_outcome.data, tables.outcome_offsets.data
        self._moves = tables.move_pops.data, tables.move_push.data, tables.move_target.data, tables.move_room.data
        self._push_offsets, self._push_symbols = tables.push_offsets.data, tables.push_symbols.data
        self._masks: dict[tuple[int, ...], npt.NDArray[np.int32]] = {}
        if max_depth is not None and not self._allowed_within(self.start[0]).size:
            raise EmptyLanguage(f"every text needs a stack of more than {max_depth} symbols")

    def __repr__(self) -> str:
        sizes = f"{self.num_states:,} states, {self.num_classes:,} classes and {len(self.tables.child):,} nodes"
        return f"<PushdownTokenAutomaton of {sizes}, {self.nbytes:,} bytes>"

    def within(self, max_depth: int | None) -> PushdownTokenAutomaton:
        """The same automaton with a stack of at most so many symbols: exactly the texts that need no more.

        Raises:
            EmptyLanguage: every text needs more.
        """
        runs = self.run_end, self.run_class
        return PushdownTokenAutomaton(
            self.vocabulary, self.tables, *runs, at_text_start=self.at_text_start, max_depth=max_depth
        )

    # Sizes

    @property
    def num_states(self) -> int:
        """Q, the states of the tables, the one after the end included; with their stacks there are infinitely many."""
        return self.tables.num_states

    @property
    def num_classes(self) -> int:
        """K, NEVER and END included."""
        return self.tables.num_classes

    @property
    def nbytes(self) -> int:
        """Memory of the tables in bytes, without the vocabulary and without cached masks."""
        return self.tables.nbytes + self.run_end.nbytes + self.run_class.nbytes + self._class_of_rank.nbytes

    @property
    def end_state(self) -> State:
        """The state after an end token."""
        return ((self.num_states - 1, None),)

    # Steps

    def is_final(self, state: State) -> bool:
        """Whether the text may end here."""
        return any(move[2] == self.num_states - 1 for part in state for move in self._moves_of(part, END))

    def advance(self, state: State, token: int) -> State:
        """The state after one more token.

        Raises:
            TokenNotAllowed: the mask of `state` does not allow the token.
            TooManyConfigurations: the text has more derivations side by side than are carried.
        """
        if 0 <= token < len(self._rank_of_token):
            number = self._class_of_rank[self._rank_of_token[token]]
            if number == NEVER and token in self.vocabulary.eos_ids:
                number = END
            if len(state) == 1 and self.tables.max_configurations == 1:
                for move in self._moves_of(state[0], number):
                    return (self._moved(state[0], move),) if number != END else self.end_state
            elif number == END and self.is_final(state):
                return self.end_state
            else:
                found = {self._moved(part, move): None for part in state for move in self._moves_of(part, number)}
                if found:
                    return self._carried(tuple(found))
        raise TokenNotAllowed(self._refusal(state, token))

    def _carried(self, state: State) -> State:
        if len(state) > self.tables.max_configurations:
            raise TooManyConfigurations(
                f"the text has {len(state)} derivations side by side, and at most "
                f"{self.tables.max_configurations} are carried (`max_configurations`)"
            )
        # In one order, so that equal states compare equal.
        return tuple(sorted(state, key=lambda part: (part[0], hash(part[1])))) if len(state) > 1 else state

    def _moves_of(self, configuration: Configuration, number: int) -> Iterator[tuple[int, int, int]]:
        """What a class does to a configuration: pops, pushes and the target."""
        node, stack = configuration
        height = stack.height if stack is not None else 0
        while node >= 0:
            begin, end = self._row_offsets[node], self._row_offsets[node + 1]
            edge = bisect_left(self._edge_class, number, begin, end)
            if edge < end and self._edge_class[edge] == number:
                pops, push, target, room = self._moves
                outcome = self._edge_outcome[edge]
                for move in range(self._outcome_offsets[outcome], self._outcome_offsets[outcome + 1]):
                    if self.max_depth is None or height - pops[move] + room[move] <= self.max_depth:
                        yield pops[move], push[move], target[move]
            if stack is None:
                return
            node = self._child[node * self._num_symbols + stack.symbol]
            stack = stack.below

    def _moved(self, configuration: Configuration, move: tuple[int, int, int]) -> Configuration:
        stack, (pops, push, target) = configuration[1], move
        for _ in range(pops):
            assert stack is not None
            stack = stack.below
        if push:
            for symbol in self._push_symbols[self._push_offsets[push] : self._push_offsets[push + 1]]:
                stack = Cell(symbol, stack)
        return target, stack

    def _refusal(self, state: State, token: int) -> str:
        if not 0 <= token < len(self.vocabulary):
            return f"token {token} is outside the vocabulary of {len(self.vocabulary):,}"
        return f"token {token} ({self.vocabulary.tokens[token]!r}) is not allowed in state {state}"

    def accepts(self, token_ids: Iterable[int]) -> bool:
        """Whether the tokens, with an end token behind them or without, are a whole text of the language."""
        tokens = list(token_ids)
        if tokens and tokens[-1] in self.vocabulary.eos_ids:
            tokens.pop()
        state = self.start
        try:
            for token in tokens:
                if token in self.vocabulary.eos_ids:
                    return False
                state = self.advance(state, token)
        except TokenNotAllowed:
            return False
        return self.is_final(state)

    def text(self, token_ids: Iterable[int]) -> bytes:
        """What tokens write where this automaton begins: at the start of a text, or inside of one."""
        return self.vocabulary.detokenize(token_ids, at_text_start=self.at_text_start)

    # Masks

    def mask(self, state: State) -> npt.NDArray[np.bool_]:
        """The tokens allowed in a state, `[V]` bool; end tokens exactly where the text may end."""
        bits = np.unpackbits(self._words(state).view(np.uint8), count=len(self.vocabulary), bitorder="little")
        return bits.view(np.bool_)

    def fill_bitmask(self, state: State, out: npt.NDArray[np.int32]) -> None:
        """Writes the mask of a state as packed words: bit `i & 31` of word `i >> 5` is token i.

        Args:
            state: the state.
            out: int32 `[W]`, `W >= ceil(V / 32)`; words past the vocabulary are cleared.

        Raises:
            ValueError: `out` is too short.
        """
        words = self._words(state)
        if len(out) == len(words):
            out[:] = words
            return
        if len(out) < len(words):
            raise ValueError(f"a mask takes {len(words)} words, and there are {len(out)}")
        out[: len(words)] = words
        out[len(words) :] = 0

    def _words(self, state: State) -> npt.NDArray[np.int32]:
        if len(state) == 1:
            return self._words_of(state[0])
        words = self._words_of(state[0])
        for configuration in state[1:]:
            words = words | self._words_of(configuration)
        return words

    def _words_of(self, configuration: Configuration) -> npt.NDArray[np.int32]:
        key = self._path(configuration)
        if self.max_depth is not None:
            # With room enough for all that a token does, masks are the same.
            key = (*key, min(self._slack(configuration), self._most_needed))
        words = self._masks.get(key)
        if words is None:
            allowed = self._allowed_within(configuration)
            words = mask_words(allowed, *self._grouped, self.vocabulary.token_of_rank, self.vocabulary.all_words)
            if END in allowed:
                words |= self.vocabulary.eos_words
            words.setflags(write=False)
            while len(self._masks) >= MAX_CACHED_MASKS:
                # The oldest goes; another thread may change the cache meanwhile, and then this one looks again.
                with suppress(RuntimeError):
                    self._masks.pop(next(iter(self._masks), ()), None)
            self._masks[key] = words
        return words

    def _path(self, configuration: Configuration) -> tuple[int, ...]:
        """The nodes that a stack picks."""
        node, stack = configuration
        path: tuple[int, ...] = ()
        while True:
            path += (node,)
            if stack is None:
                return path
            node = self._child[node * self._num_symbols + stack.symbol]
            if node < 0:
                return path
            stack = stack.below

    def _allowed_within(self, configuration: Configuration) -> Ints:
        """The classes that a configuration allows, ascending."""
        tables, allowed = self.tables, []
        for node in self._path(configuration):
            edges = slice(tables.row_offsets[node], tables.row_offsets[node + 1])
            numbers = tables.edge_class[edges]
            if self.max_depth is not None:
                numbers = numbers[self._needed[tables.edge_outcome[edges]] <= self._slack(configuration)]
            allowed.append(numbers)
        return np.unique(np.concatenate(allowed))

    def _slack(self, configuration: Configuration) -> int:
        """How many symbols may be added at most."""
        stack = configuration[1]
        assert self.max_depth is not None
        return self.max_depth - (stack.height if stack is not None else 0)

    @cached_property
    def _needed(self) -> Ints:
        """How much higher than before the stack must be allowed to grow for each outcome, `[O]`."""
        tables = self.tables
        return np.minimum.reduceat(tables.move_room - tables.move_pops, tables.outcome_offsets[:-1])

    @cached_property
    def _most_needed(self) -> int:
        return int(self._needed.max())

    @cached_property
    def _class_of_rank(self) -> memoryview:
        """The class of every rank; the entry behind the last is for tokens that have no rank."""
        class_of_rank = np.empty(len(self.vocabulary.token_of_rank) + 1, np.min_scalar_type(self.num_classes))
        expand_runs(self.run_end, self.run_class, class_of_rank)
        return class_of_rank.data

    @cached_property
    def _grouped(self) -> ClassRuns:
        return group_runs(self.run_end, self.run_class, self.num_classes)

    # Whole tables

    @cached_property
    def token_class(self) -> Ints:
        """The class of every token, `[V]` int32."""
        classes = np.asarray(self._class_of_rank)[self.vocabulary.rank_of_token].astype(np.int32)
        classes[list(self.vocabulary.eos_ids)] = END
        classes.setflags(write=False)
        return classes

    # Files

    def save(self, path: str | Path) -> None:
        """Writes the automaton as a safetensors file that names its format version and vocabulary digest."""
        from tokenfst.storage import save

        save(self, path)

    @staticmethod
    def load(path: str | Path, vocabulary: Vocabulary) -> PushdownTokenAutomaton:
        """Reads an automaton that was saved for the same vocabulary.

        Raises:
            AutomatonFileError: a damaged file, another format version, another vocabulary, or an automaton without a
                stack.
        """
        from tokenfst.storage import load_pushdown

        return load_pushdown(path, vocabulary)
