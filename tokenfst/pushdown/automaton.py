"""PushdownTokenAutomaton: an exact automaton over tokens with a stack.

A state of it, to whoever uses it, is opaque: configurations, each of them a state of the tables and a stack, one where
the automaton is deterministic. States are immutable, hashable and cheap to keep, so rewinding and branching are
nothing but going on from an old one.

    path     the nodes that the stack at hand picks in the context tree of a state (`tokenfst.pushdown.paths`)
    mask     the classes of all edges of the nodes of a path, as words; kept by path, so that a mask for a state of the
             same kind, whatever lies deeper in its stack, is copied
    advance  the edge of the token's class, which some node of the path has
"""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from automata.errors import AutomatonFileError, EmptyLanguage, TokenNotAllowed, TooManyConfigurations, VocabularyError
from tokenfst.kept import Kept
from tokenfst.transition.loops import Ints
from tokenfst.transition.masks import ClassRuns, expand_runs, group_runs, mask_words
from tokenfst.over_tokens import OverTokens
from tokenfst.pushdown.distance import PushdownDistance
from tokenfst.pushdown.paths import NEEDED, Configuration, ContextPath, Move, Paths
from tokenfst.pushdown.stack import Cell, symbols
from tokenfst.pushdown.stack_distance import StackDistance
from tokenfst.pushdown.tables import PushdownTables
from tokenfst.transition.token_classes import END, NEVER
from tokenfst.vocabulary import Vocabulary

# Masks kept for paths that have been visited; 16 KiB each with a vocabulary of 128,000 tokens.
MAX_CACHED_MASKS = 4096

State: TypeAlias = tuple[Configuration, ...]
# A path; and how many symbols may be added to the stack, if that is limited; or, within a budget of tokens, what lies
# below and how many levels fit (`tokenfst.over_tokens`).
_MaskKey: TypeAlias = ContextPath | tuple[ContextPath, int] | tuple[ContextPath, int, int]


class PushdownTokenAutomaton(OverTokens[State]):
    """An exact automaton over tokens with a stack; made by `tokenfst.compile` from a grammar, or by `load`.

    Attributes:
        vocabulary: the tokens.
        start: the state before the first token.
        tables: what each class of tokens does.
        run_end, run_class: `[R]` each, the class of every rank as runs (`tokenfst.token_classes.TokenClasses`).
        at_text_start: whether the tokens are a text by themselves, and not the continuation of one (`compile`).
        max_depth: how many symbols the stack may hold, None for any number. What could not be completed within it is
            not allowed.
        lacks_bytes: whether some byte of the grammar's texts is no token by itself. Then how high a stack has to become
            is not known, for that is found byte by byte.
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
        lacks_bytes: bool = False,
    ) -> None:
        """Puts the parts together.

        Raises:
            EmptyLanguage: every text needs a higher stack than `max_depth`.
            VocabularyError: `max_depth` for a vocabulary that lacks bytes.
        """
        if lacks_bytes and max_depth is not None:
            raise VocabularyError(
                "the vocabulary lacks bytes that the grammar reads: what can be completed within a depth is not known"
            )
        self.vocabulary = vocabulary
        self.tables = tables
        self.run_end = run_end
        self.run_class = run_class
        self.at_text_start = at_text_start
        self.max_depth = max_depth
        self.lacks_bytes = lacks_bytes
        self.start: State = ((tables.start, None),)
        for array in (run_end, run_class):
            array.setflags(write=False)
        self._rank_of_token = vocabulary.rank_of_token.data
        self._deterministic = tables.max_configurations == 1
        self._paths = Paths(tables)
        self._masks: Kept[_MaskKey, npt.NDArray[np.int32]] = Kept(MAX_CACHED_MASKS)
        self._distance = StackDistance(tables)
        if max_depth is not None and not self._allowed(self._paths.of(self.start[0]), max_depth).size:
            raise EmptyLanguage(f"every text needs a stack of more than {max_depth} symbols")

    def __repr__(self) -> str:
        sizes = f"{self.num_states:,} states, {self.num_classes:,} classes and {len(self.tables.child):,} nodes"
        return f"<PushdownTokenAutomaton of {sizes}, {self.nbytes:,} bytes>"

    def within(self, max_depth: int | None) -> PushdownTokenAutomaton:
        """The same automaton with a stack of at most so many symbols: exactly the texts that need no more.

        Raises:
            EmptyLanguage: every text needs more.
            VocabularyError: the vocabulary lacks bytes.
        """
        automaton = PushdownTokenAutomaton(
            self.vocabulary,
            self.tables,
            self.run_end,
            self.run_class,
            at_text_start=self.at_text_start,
            max_depth=max_depth,
            lacks_bytes=self.lacks_bytes,
        )
        automaton._distance = self._distance
        return automaton

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
        return any(self._moves(configuration, END) for configuration in state)

    def advance(self, state: State, token: int) -> State:
        """The state after one more token.

        Raises:
            TokenNotAllowed: the mask of `state` does not allow the token.
            TooManyConfigurations: the text has more derivations side by side than are carried.
        """
        if 0 <= token < len(self._rank_of_token):
            number = self._class_of_rank[self._rank_of_token[token]]
            if number == NEVER and token in self.vocabulary.eos_ids:
                if self.is_final(state):
                    return self.end_state
            elif self._deterministic:
                moves = self._moves(state[0], number)
                if moves:
                    return (_moved(state[0], moves[0]),)
            else:
                found = {_moved(part, move): None for part in state for move in self._moves(part, number)}
                if found:
                    return self._carried(tuple(found))
        raise TokenNotAllowed(self._refusal(state, token))

    def _moves(self, configuration: Configuration, number: int) -> tuple[Move, ...]:
        """What a class does to a configuration."""
        path = self._paths.of(configuration)
        moves = path.moves.get(number)
        if moves is None:
            moves = self._paths.find_moves(path, number)
        if self.max_depth is not None and moves:
            slack = _slack(configuration, self.max_depth)
            moves = tuple([move for move in moves if move[NEEDED] <= slack])
        return moves

    def _carried(self, state: State) -> State:
        if len(state) > self.tables.max_configurations:
            raise TooManyConfigurations(
                f"the text has more derivations side by side than the {self.tables.max_configurations} that are "
                "carried (`max_configurations`)"
            )
        # In one order, so that equal states compare equal.
        return tuple(sorted(state, key=lambda part: (part[0], symbols(part[1])))) if len(state) > 1 else state

    # Masks

    def _words(self, state: State) -> npt.NDArray[np.int32]:
        words = self._words_of(state[0])
        for configuration in state[1:]:
            words = words | self._words_of(configuration)
        return words

    def _words_of(self, configuration: Configuration) -> npt.NDArray[np.int32]:
        path = self._paths.of(configuration)
        if self.max_depth is None:
            words = self._masks.get(path)
            return words if words is not None else self._masks.keep(path, self._made(self._allowed(path, None)))
        # With room for all that any token needs, masks are the same.
        slack = min(_slack(configuration, self.max_depth), self._most_needed)
        words = self._masks.get((path, slack))
        return words if words is not None else self._masks.keep((path, slack), self._made(self._allowed(path, slack)))

    def _words_within(self, state: State, remaining: int) -> npt.NDArray[np.int32]:
        # Without end tokens a text is complete where it may end, and what is counted for the end is not written.
        limit = remaining + (not self.vocabulary.eos_ids)
        words = self._near_words(state[0], limit)
        for configuration in state[1:]:
            words = words | self._near_words(configuration, limit)
        return words

    def _near_words(self, configuration: Configuration, limit: int) -> npt.NDArray[np.int32]:
        """The mask of a configuration, of what is less than so many tokens from the end."""
        path = self._paths.of(configuration)
        behind, cost = self._distance.behind(path, configuration[1])
        number = bisect_left(behind.levels, limit - cost)
        if number == len(behind.levels):
            return self._words_of(configuration)
        key = *behind.key, number
        words = self._masks.get(key)
        if words is None:
            words = self._masks.keep(key, self._made(np.unique(behind.classes[behind.least < limit - cost])))
        return words if self.max_depth is None else words & self._words_of(configuration)

    def _made(self, allowed: Ints) -> npt.NDArray[np.int32]:
        """The mask of the tokens of some classes, ascending."""
        words = mask_words(allowed, *self._grouped, self.vocabulary.token_of_rank, self.vocabulary.all_words)
        if END in allowed:
            words |= self.vocabulary.eos_words
        words.setflags(write=False)
        return words

    def _allowed(self, path: ContextPath, slack: int | None) -> Ints:
        """The classes that the nodes of a path allow, ascending, with room for so many symbols more."""
        tables, allowed = self.tables, []
        for node in path.nodes:
            edges = slice(tables.row_offsets[node], tables.row_offsets[node + 1])
            numbers = tables.edge_class[edges]
            if slack is not None:
                numbers = numbers[self._needed[tables.edge_outcome[edges]] <= slack]
            allowed.append(numbers)
        return np.unique(np.concatenate(allowed)) if len(allowed) > 1 else allowed[0]

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

    @property
    def distances(self) -> PushdownDistance:
        """The least numbers of tokens by all contexts that stacks come to, as tensors want them; found once.

        Raises:
            LimitExceeded: as `tokenfst.pushdown.distance.distances`.
        """
        return self._distance.by_context

    def min_tokens(self, state: State) -> int:
        """The least number of tokens from a state to the end of the text, the end token counted, however high the
        stack may become on the way (`max_depth` is not looked at)."""
        least = min([self._distance.least(configuration) for configuration in state])
        # Without end tokens a text is complete where it may end.
        return least - (not self.vocabulary.eos_ids and state != self.end_state)

    # Files

    def save(self, path: str | Path) -> None:
        """Writes the automaton as a safetensors file that names its format version and vocabulary digest."""
        from tokenfst.pushdown.storage import arrays_of
        from tokenfst.storage import write

        write(arrays_of(self), self, path)

    @staticmethod
    def load(path: str | Path, vocabulary: Vocabulary) -> PushdownTokenAutomaton:
        """Reads an automaton that was saved for the same vocabulary.

        Raises:
            AutomatonFileError: a damaged file, another format version, another vocabulary, or an automaton without a
                stack.
        """
        from tokenfst.storage import load

        automaton = load(path, vocabulary)
        if not isinstance(automaton, PushdownTokenAutomaton):
            raise AutomatonFileError(f"{path} holds one without a stack: load it with TokenAutomaton.load")
        return automaton


def _slack(configuration: Configuration, max_depth: int) -> int:
    """How many symbols may be added."""
    stack = configuration[1]
    return max_depth - (stack.height if stack is not None else 0)


def _moved(configuration: Configuration, move: Move) -> Configuration:
    stack, (pops, pushes, target, _) = configuration[1], move
    while pops:
        # The path that the move is found on says that the symbols are there.
        stack = stack.below  # type: ignore[union-attr]
        pops -= 1
    for symbol in pushes:
        stack = Cell(symbol, stack)
    return target, stack
