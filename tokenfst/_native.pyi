from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Final, overload

import automata._native
import numpy
import numpy.typing
from numpy.typing import NDArray


class VocabularyTries:
    """The tokens of a model as bytes, sorted into tries."""

    def __init__(self, tokens: Sequence[bytes], eos_ids: numpy.typing.NDArray[numpy.int32]) -> None: ...

    def __len__(self) -> int: ...

    @property
    def num_whole(self) -> int: ...

    @property
    def longest(self) -> int: ...

    @property
    def token_of_rank(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def rank_of_token(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def all_words(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def eos_words(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def byte_tokens(self) -> NDArray[numpy.int32]:
        """The ids of the tokens of one byte, `[n]`, ascending."""

class TokenClasses:
    """The classes of a vocabulary under a byte automaton."""

    def __init__(self, run_end: numpy.typing.NDArray[numpy.int32], run_class: numpy.typing.NDArray[numpy.int32], num_classes: int, source: numpy.typing.NDArray[numpy.int32], edge_class: numpy.typing.NDArray[numpy.int32], target: numpy.typing.NDArray[numpy.int32]) -> None: ...

    @property
    def run_end(self) -> NDArray[numpy.int32]: ...

    @property
    def run_class(self) -> NDArray[numpy.int32]: ...

    @property
    def num_classes(self) -> int: ...

    @property
    def source(self) -> NDArray[numpy.int32]: ...

    @property
    def edge_class(self) -> NDArray[numpy.int32]: ...

    @property
    def target(self) -> NDArray[numpy.int32]: ...

def token_classes(automaton: automata._native.ByteTables, vocabulary: VocabularyTries, budget: automata._native.Budget) -> TokenClasses:
    """Sort the tokens of a vocabulary into classes."""

def relation_classes(automaton: automata._native.ByteTables, vocabulary: VocabularyTries, budget: automata._native.Budget) -> TokenClasses:
    """
    Sort the tokens of a vocabulary into classes, by the method for sparse automata that are like long lists.
    """

def is_list_like(automaton: automata._native.ByteTables, vocabulary: VocabularyTries) -> bool:
    """
    Return whether `relation_classes` is the better method: whether few states allow nearly every token.
    """

@overload
def spells_all(automaton: automata._native.ByteTables, is_token_byte: numpy.typing.NDArray[numpy.bool_]) -> bool: ...

@overload
def spells_all(automaton: automata._native.CountedTables, is_token_byte: numpy.typing.NDArray[numpy.bool_]) -> bool:
    """
    Return whether every byte that an automaton reads is a token by itself.
    """

class CountedClasses:
    """The classes of a vocabulary under a byte automaton with a register."""

    def __init__(self, run_end: numpy.typing.NDArray[numpy.int32], run_class: numpy.typing.NDArray[numpy.int32], num_classes: int, edges: numpy.typing.NDArray[numpy.int32]) -> None: ...

    @property
    def run_end(self) -> NDArray[numpy.int32]: ...

    @property
    def run_class(self) -> NDArray[numpy.int32]: ...

    @property
    def num_classes(self) -> int: ...

    @property
    def edges(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]:
        """
        Class, source, least and greatest register value, target and action of each edge, `[E, 6]`.
        """

def counted_classes(automaton: automata._native.CountedTables, vocabulary: VocabularyTries, budget: automata._native.Budget) -> CountedClasses:
    """Sort the tokens of a vocabulary into classes."""

class StateObject:
    """A state that is more than a number."""

class AutomatonCore:
    """An automaton over tokens."""

def fill_bitmasks(automata: Sequence[AutomatonCore], states: Sequence[object], out: numpy.typing.NDArray[numpy.int32], remaining: numpy.typing.NDArray[numpy.int64] | None = None, num_threads: int = 1) -> None:
    """
    Write the mask of each state of a batch, a row of words each, without Python's lock.
    """

class FiniteCore(AutomatonCore):
    """A deterministic automaton over tokens without a stack."""

    def is_final(self, arg: int, /) -> bool:
        """Return whether the text may end in a state."""

    def advance(self, arg0: int, arg1: int, /) -> int | None:
        """
        Return the state after a state and one more token, or None if the token is not allowed.
        """

    def fill_bitmask(self, arg0: int, arg1: numpy.typing.NDArray[numpy.int32], /) -> None:
        """Write the mask of a state."""

    def fill_within(self, arg0: int, arg1: numpy.typing.NDArray[numpy.int32], arg2: int, /) -> None:
        """Write the mask of a state within a budget of tokens."""

    @staticmethod
    def from_classes(vocabulary: VocabularyTries, start: int, final: numpy.typing.NDArray[numpy.bool_], classes: TokenClasses, dense_bytes: int, max_masks: int, budget: automata._native.Budget) -> FiniteCore: ...

    @staticmethod
    def from_counted(vocabulary: VocabularyTries, automaton: automata._native.CountedTables, classes: CountedClasses, spells_all: bool, max_masks: int, budget: automata._native.Budget) -> FiniteCore: ...

    @staticmethod
    def dense(vocabulary: VocabularyTries, start: int, final: numpy.typing.NDArray[numpy.bool_], runs: numpy.typing.NDArray[numpy.int32], next: numpy.typing.NDArray[numpy.int32], max_masks: int, max_bytes: int) -> FiniteCore: ...

    @staticmethod
    def sparse(vocabulary: VocabularyTries, start: int, final: numpy.typing.NDArray[numpy.bool_], runs: numpy.typing.NDArray[numpy.int32], num_classes: int, offsets: numpy.typing.NDArray[numpy.int64], edges: numpy.typing.NDArray[numpy.int32], max_masks: int, max_bytes: int) -> FiniteCore: ...

    @staticmethod
    def guarded(vocabulary: VocabularyTries, start: int, final: numpy.typing.NDArray[numpy.bool_], runs: numpy.typing.NDArray[numpy.int32], num_classes: int, max_register: int, offsets: numpy.typing.NDArray[numpy.int64], edges: numpy.typing.NDArray[numpy.int32], max_masks: int, max_bytes: int) -> FiniteCore: ...

    @property
    def start(self) -> int: ...

    @property
    def num_states(self) -> int: ...

    @property
    def num_classes(self) -> int: ...

    @property
    def num_bytes(self) -> int: ...

    @property
    def final(self) -> Annotated[NDArray[numpy.bool_], dict(writable=False)]: ...

    @property
    def runs(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def transitions(self) -> tuple[Any, ...]:
        """
        The table; or offsets and edges, and with a register its greatest value.
        """

    @property
    def token_class(self) -> NDArray[numpy.int32]:
        """The class of every token, `[V]`."""

    def min_tokens(self, arg: int, /) -> int:
        """
        Return the least number of tokens from a state to the end of the text, counting the end token.
        """

    def successors(self, state: int) -> tuple[NDArray[numpy.int32], NDArray[numpy.int64]]:
        """
        Return the classes that a state allows, ascending, and the state that each leads to.
        """

    def alike(self, state: int) -> int:
        """Return a state with the same mask."""

    @property
    def min_tokens_by_state(self) -> NDArray[numpy.int32]: ...

    @property
    def min_tokens_runs(self) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32]]:
        """
        With a register: `min_tokens` as runs of register values. The key of each run, control state x (R + 1) + its least value, and the number of tokens.
        """

class PushdownTrees:
    """
    The effects of texts on a state and a stack, as trees of popped symbols.
    """

    def __len__(self) -> int: ...

    def paths(self, tree: int, budget: automata._native.Budget) -> list[tuple[tuple[int, ...], tuple[int, ...], int]]:
        """
        Return all paths through a tree: the symbols popped, from the top of the stack down, the symbols pushed, the last one on top, and the next state.
        """

    def build(self, paths: Sequence[Sequence[tuple[Sequence[int], Sequence[int], int]]], budget: automata._native.Budget) -> tuple[PushdownTrees, list[int]]:
        """
        Return these trees together with one for each list of paths, and the numbers of the latter.
        """

class TokenEffects:
    """The effect of each class of a vocabulary under a pushdown automaton."""

    def __init__(self, run_end: numpy.typing.NDArray[numpy.int32], run_class: numpy.typing.NDArray[numpy.int32], num_classes: int, entries: numpy.typing.NDArray[numpy.int32], trees: PushdownTrees, column_trees: numpy.typing.NDArray[numpy.int32]) -> None: ...

    @property
    def run_end(self) -> NDArray[numpy.int32]: ...

    @property
    def run_class(self) -> NDArray[numpy.int32]: ...

    @property
    def num_classes(self) -> int: ...

    @property
    def entries(self) -> NDArray[numpy.int32]:
        """Class, source and tree, `[E, 3]`."""

    @property
    def trees(self) -> PushdownTrees: ...

    @property
    def column_trees(self) -> NDArray[numpy.int32]:
        """
        The tree of each state for the end of the text and for each label, `[Q, 1 + L]`.
        """

def token_effects(automaton: automata._native.PushdownTables, vocabulary: VocabularyTries, budget: automata._native.Budget) -> TokenEffects:
    """
    Sort the tokens of a vocabulary into classes by their effects on a state and a stack.
    """

class PushdownTables:
    """The effect of each class of tokens on a state and a stack."""

    def __init__(self, num_states: int, num_symbols: int, num_classes: int, start: int, child_offsets: numpy.typing.NDArray[numpy.int32], child_symbol: numpy.typing.NDArray[numpy.int32], child_node: numpy.typing.NDArray[numpy.int32], max_pops: int, row_offsets: numpy.typing.NDArray[numpy.int32], edge_class: numpy.typing.NDArray[numpy.int32], edge_outcome: numpy.typing.NDArray[numpy.int32], outcome_offsets: numpy.typing.NDArray[numpy.int32], move_pops: numpy.typing.NDArray[numpy.int32], move_push: numpy.typing.NDArray[numpy.int32], move_target: numpy.typing.NDArray[numpy.int32], move_room: numpy.typing.NDArray[numpy.int32], push_offsets: numpy.typing.NDArray[numpy.int32], push_symbols: numpy.typing.NDArray[numpy.int32], max_configurations: int = 1) -> None: ...

    @property
    def num_states(self) -> int: ...

    @property
    def num_symbols(self) -> int: ...

    @property
    def num_classes(self) -> int: ...

    @property
    def start(self) -> int: ...

    @property
    def max_pops(self) -> int: ...

    @property
    def max_configurations(self) -> int: ...

    @property
    def nbytes(self) -> int: ...

    @property
    def num_nodes(self) -> int: ...

    @property
    def child_offsets(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def child_symbol(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def child_node(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def row_offsets(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def edge_class(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def edge_outcome(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def outcome_offsets(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def move_pops(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def move_push(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def move_target(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def move_room(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def push_offsets(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def push_symbols(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

def context_tables(effects: TokenEffects, start: int, max_configurations: int, headroom: numpy.typing.NDArray[numpy.int32], symbol_headroom: numpy.typing.NDArray[numpy.int32], budget: automata._native.Budget) -> PushdownTables:
    """Return the tables of the effects, including that of the end tokens."""

def trimmed(effects: TokenEffects, tables: PushdownTables, overflow: numpy.typing.NDArray[numpy.int32], budget: automata._native.Budget) -> tuple[str, TokenEffects | None]:
    """
    Keep the effects after which tokens lead to an end. Return `done` and these effects; or `empty` or `depends on the stack`, and None.
    """

def clashing_class(tables: PushdownTables, budget: automata._native.Budget) -> int | None:
    """Return a class that has two moves in one configuration, or None."""

def pop_distances(tables: PushdownTables, budget: automata._native.Budget) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int32]]:
    """
    Return the least numbers of tokens from each node until a symbol has been popped, `[N, columns]`, the last column being for the end; the node that each column leads to; and where the columns of each symbol begin.
    """

class PushdownState(StateObject):
    """A position of a text in an automaton with a stack."""

    def __init__(self, configurations: Iterable[tuple[int, Iterable[int]]]) -> None: ...

    @property
    def configurations(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """
        The configurations: states, each with the symbols of its stack, the topmost one last.
        """

    @property
    def tops(self) -> tuple[tuple[int, int], ...]:
        """
        The states of the configurations, each with the topmost symbol of its stack, or -1 if the stack is empty.
        """

    def __len__(self) -> int: ...

    def __hash__(self) -> int: ...

    def __eq__(self, other: object, /) -> bool: ...

    def __repr__(self) -> str: ...

    def __copy__(self) -> object: ...

    def __deepcopy__(self, memo: object) -> object: ...

    def __reduce__(self) -> tuple[type, tuple[object]]: ...

class StackDistance:
    """
    The least number of tokens from a state with a stack to the end of the text.
    """

    def __init__(self, tables: PushdownTables, max_bytes: int, max_context_bytes: int) -> None: ...

    def by_context(self, max_contexts: int) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int32], int] | None:
        """
        Return the distances for all contexts that occur with any stack, or None if there are more than `max_contexts`.
        """

class PushdownCore(AutomatonCore):
    """An automaton over tokens with a stack."""

    def __init__(self, vocabulary: VocabularyTries, tables: PushdownTables, run_end: numpy.typing.NDArray[numpy.int32], run_class: numpy.typing.NDArray[numpy.int32], distance: StackDistance, max_depth: int, max_masks: int) -> None: ...

    @property
    def run_end(self) -> NDArray[numpy.int32]: ...

    @property
    def run_class(self) -> NDArray[numpy.int32]: ...

    def within(self, max_depth: int) -> PushdownCore:
        """
        Return the same automaton with a stack of at most `max_depth` symbols; -1 for no limit.
        """

    @property
    def start(self) -> PushdownState: ...

    @property
    def end_state(self) -> PushdownState: ...

    @property
    def tables(self) -> PushdownTables: ...

    @property
    def distance(self) -> StackDistance: ...

    @property
    def num_bytes(self) -> int: ...

    @property
    def token_class(self) -> NDArray[numpy.int32]:
        """The class of every token, `[V]`."""

    def is_final(self, arg: PushdownState, /) -> bool:
        """Return whether the text may end in a state."""

    def advance(self, arg0: PushdownState, arg1: int, /) -> PushdownState | None:
        """
        Return the state after a state and one more token, or None if the token is not allowed.
        """

    def fill_bitmask(self, arg0: PushdownState, arg1: numpy.typing.NDArray[numpy.int32], /) -> None:
        """Write the mask of a state."""

    def fill_within(self, arg0: PushdownState, arg1: numpy.typing.NDArray[numpy.int32], arg2: int, /) -> None:
        """Write the mask of a state within a budget of tokens."""

    def min_tokens(self, arg: PushdownState, /) -> int:
        """
        Return the least number of tokens from a state to the end of the text, without a limit on the stack.
        """

    def allows_any(self, state: PushdownState) -> bool:
        """Return whether a state allows a token or the end."""

class TextLibrary:
    """The parts of a vocabulary that are prepared once for many constraints."""

    def __init__(self, vocabulary: VocabularyTries) -> None: ...

class LazyCore(AutomatonCore):
    """
    An automaton over tokens that computes each mask when it is first needed.
    """

    @staticmethod
    def from_bytes(texts: TextLibrary, tables: automata._native.ByteTables, max_masks: int, budget: automata._native.Budget) -> LazyCore: ...

    @staticmethod
    def from_pushdown(texts: TextLibrary, tables: automata._native.PushdownTables, max_masks: int, budget: automata._native.Budget) -> LazyCore: ...

    @staticmethod
    def from_visibly_pushdown(texts: TextLibrary, layout: automata._native.VisiblyPushdownLayout, max_masks: int, budget: automata._native.Budget) -> LazyCore | None:
        """
        Return the automaton of a visibly pushdown grammar, or None if sets of states would not be exact.
        """

    def set_beginnings(self, beginnings: Sequence[tuple[int, bytes, int]]) -> None:
        """
        Set the tokens that do not write their own bytes at the start of a text: the token, what it writes there, and the state that reads it.
        """

    @property
    def bytes_read(self) -> NDArray[numpy.bool_]:
        """
        Whether some state may read each byte, `[256]`; true while the transitions of some state are unknown.
        """

    @property
    def is_empty(self) -> bool: ...

    @property
    def start(self) -> int: ...

    end_state: Final[int] = ...
    """(arg: object, /) -> int"""

    @property
    def num_masks(self) -> int:
        """The number of states of the current generation whose masks are kept."""

    @property
    def num_contexts(self) -> int:
        """
        The number of contexts of the current generation: states, each with a top part of the stack.
        """

    @property
    def mask_counts(self) -> dict[str, int]:
        """The number of masks found in each way."""

    @property
    def num_bytes(self) -> int: ...

    def is_final(self, arg: int, /) -> bool:
        """Return whether the text may end in a state."""

    def advance(self, arg0: int, arg1: int, /) -> int | None:
        """
        Return the state after a state and one more token, or None if the token is not allowed.
        """

    def fill_bitmask(self, arg0: int, arg1: numpy.typing.NDArray[numpy.int32], /) -> None:
        """Write the mask of a state."""

    def fill_within(self, arg0: int, arg1: numpy.typing.NDArray[numpy.int32], arg2: int, /) -> bool:
        """
        Write the mask of a state within a budget of tokens. Return whether the budget is known to exclude no token.
        """

    def last_tokens(self, state: int) -> tuple[int, list[int]] | None:
        """
        Return the last tokens by which a state was first reached, after the state before them; None for the start, and where they are unknown.
        """

    def min_tokens(self, arg: int, /) -> int:
        """
        Return a number of tokens that suffices from a state to the end of the text.
        """

class Derivations:
    """How merges make each token, as arrays `[V]`."""

    @property
    def left(self) -> NDArray[numpy.int32]: ...

    @property
    def right(self) -> NDArray[numpy.int32]: ...

    @property
    def rank(self) -> NDArray[numpy.int32]: ...

    @property
    def clock(self) -> NDArray[numpy.int32]: ...

    @property
    def made(self) -> NDArray[numpy.bool_]: ...

class Pairs:
    """Which tokens may be adjacent inside a piece."""

    def may_follow(self, left: int, right: int) -> bool: ...

    @property
    def position(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def token_at(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def offsets(self) -> Annotated[NDArray[numpy.int64], dict(writable=False)]: ...

class PieceAutomaton:
    """An automaton over bytes that tells where the pieces of a text may end."""

    def __init__(self, byte_class: numpy.typing.NDArray[numpy.uint8], next: numpy.typing.NDArray[numpy.int32], split: numpy.typing.NDArray[numpy.int32], final: numpy.typing.NDArray[numpy.bool_]) -> None: ...

class WholePieces:
    """The tokens that occur only as whole pieces."""

    def __init__(self, byte_class: numpy.typing.NDArray[numpy.uint8], next: numpy.typing.NDArray[numpy.int32], spells: numpy.typing.NDArray[numpy.bool_], tokens: numpy.typing.NDArray[numpy.int32]) -> None: ...

    @property
    def tokens(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

def first_wrong_merge(vocabulary: VocabularyTries, merges: numpy.typing.NDArray[numpy.int32]) -> int:
    """
    Return the index of the first merge whose result is not the concatenation of its two non-empty parts, or the number of merges.
    """

def derivations(vocabulary: VocabularyTries, merges: numpy.typing.NDArray[numpy.int32] | None, budget: automata._native.Budget) -> Derivations:
    """
    Run an encoder's merges over every token. Without a list, any two tokens that spell a token merge, the token with the least id first.
    """

def pairs(derivations: Derivations, budget: automata._native.Budget) -> Pairs: ...

class CanonicalProduct:
    """The product of a constraint and the pieces of a pre-tokenizer."""

    @property
    def num_states(self) -> int: ...

    @property
    def is_empty(self) -> bool: ...

class CanonicalEdges:
    """The edges of every token in a product."""

class LiveEdges:
    """The edges of a product that lead to an end."""

    @property
    def has_text(self) -> bool: ...

def canonical_product(constraint: automata._native.ByteTables, pieces: PieceAutomaton, words: WholePieces, max_states: int, budget: automata._native.Budget) -> CanonicalProduct: ...

def canonical_edges(product: CanonicalProduct, vocabulary: VocabularyTries, pairs: Pairs, words: WholePieces, never: numpy.typing.NDArray[numpy.int32], labelled: Sequence[tuple[object, object]], budget: automata._native.Budget) -> CanonicalEdges:
    """
    Return the edges of all tokens. `labelled` has groups of tokens that write nothing, each with the labels that stand for them.
    """

def live_edges(edges: CanonicalEdges, product: CanonicalProduct, pairs: Pairs, closing: int, budget: automata._native.Budget) -> LiveEdges: ...

class CanonicalCore(AutomatonCore):
    """
    An automaton that accepts, of each text, only the tokenization that an encoder produces.
    """

    def is_final(self, arg: int, /) -> bool:
        """Return whether the text may end in a state."""

    def advance(self, arg0: int, arg1: int, /) -> int | None:
        """
        Return the state after a state and one more token, or None if the token is not allowed.
        """

    def fill_bitmask(self, arg0: int, arg1: numpy.typing.NDArray[numpy.int32], /) -> None:
        """Write the mask of a state."""

    def fill_within(self, arg0: int, arg1: numpy.typing.NDArray[numpy.int32], arg2: int, /) -> None:
        """Write the mask of a state within a budget of tokens."""

    @staticmethod
    def from_live(vocabulary: VocabularyTries, live: LiveEdges, product: CanonicalProduct, pairs: Pairs, max_states: int, max_masks: int, budget: automata._native.Budget) -> CanonicalCore: ...

    @staticmethod
    def from_subsets(vocabulary: VocabularyTries, offsets: numpy.typing.NDArray[numpy.int32], edges: numpy.typing.NDArray[numpy.int32], final: numpy.typing.NDArray[numpy.bool_], class_of: numpy.typing.NDArray[numpy.int32], pairs: Pairs, max_masks: int) -> CanonicalCore: ...

    @property
    def num_states(self) -> int: ...

    @property
    def num_classes(self) -> int: ...

    @property
    def num_bytes(self) -> int: ...

    @property
    def end_state(self) -> int: ...

    @property
    def pairs(self) -> Pairs: ...

    @property
    def offsets(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def edges(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def final(self) -> Annotated[NDArray[numpy.bool_], dict(writable=False)]: ...

    @property
    def class_of(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    def min_tokens(self, arg: int, /) -> int:
        """
        Return the least number of tokens from a state to the end of the text, counting the end token.
        """

class TokenCosts:
    """What each token costs in a state of a weighted automaton over bytes."""

    def __init__(self, vocabulary: VocabularyTries, tables: automata._native.WeightedTables) -> None: ...

    def of_states(self, states: numpy.typing.NDArray[numpy.int32], budget: automata._native.Budget) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int64]]:
        """
        Return the tokens that do not cost 0 in some of the states: the index of the state in `states`, the token and its cost in units, `[n]` each.
        """

class ItemValue:
    """A JSON value as `uniqueItems` compares it."""

    def __hash__(self) -> int: ...

    def __eq__(self, other: object, /) -> bool: ...

    @property
    def text(self) -> bytes:
        """
        The characters of a string in UTF-8, a word, or the digits of a number without zeros at either end.
        """

class ItemScalar:
    """A string, number or word of a JSON text, as far as it has been read."""

    @staticmethod
    def string() -> ItemScalar:
        """Return the string that a quotation mark begins."""

    @staticmethod
    def plain(text: bytes) -> ItemScalar:
        """Return the number or word that a text begins."""

    def read(self, text: bytes) -> ItemScalar:
        """Return the scalar after more bytes, which do not end it."""

    def may_be(self, value: ItemValue) -> bool:
        """Return whether it may still become a value."""

    def value(self) -> ItemValue:
        """Return the value of the scalar if it ends here."""

    @property
    def escapes(self) -> bool:
        """
        Whether the next byte is part of an escape even if it is a quotation mark.
        """

    @property
    def done(self) -> bytes:
        """
        The text read so far, without an incomplete escape or the first half of a surrogate pair.
        """

class SeparatingTokens:
    """The tokens of a vocabulary in which another item may begin."""

    def __init__(self, vocabulary: VocabularyTries) -> None: ...

    @property
    def opening(self) -> NDArray[numpy.int32]:
        """The tokens that may open an array and continue to a second item in it."""

class ItemPosition:
    """
    A position of a text: a state of the marked automaton, and the memory of items.
    """

    @property
    def size(self) -> int:
        """About how many items, members and rivals the position remembers."""

    @property
    def has_rivals(self) -> bool:
        """Whether the current item or name may still repeat an earlier one."""

    @property
    def num_repeats(self) -> int:
        """The number of items that have repeated an earlier one."""

    def __hash__(self) -> int: ...

    def __eq__(self, other: object, /) -> bool: ...

    def __repr__(self) -> str: ...

    def __copy__(self) -> object: ...

    def __deepcopy__(self, memo: object) -> object: ...

class ItemTokenReader:
    """Follows texts with a memory of the items that must differ."""

    def __init__(self, marked: LazyCore, separating: SeparatingTokens, marks: tuple[int, int], max_positions: int) -> None: ...

    @property
    def start(self) -> ItemPosition: ...

    def after(self, arg0: ItemPosition, arg1: bytes, /) -> ItemPosition | None:
        """
        Return the position after more bytes, or None if they are not allowed or wrongly repeat an item.
        """

    def repeats(self, arg0: ItemPosition, arg1: bytes, /) -> list[int]:
        """
        Return the places in an allowed text at which items that repeat an earlier one end.
        """

    def can_continue(self, arg: ItemPosition, /) -> bool:
        """
        Return whether the current item or name can still differ from all earlier ones.
        """

    def clear(self, arg0: ItemPosition, arg1: numpy.typing.NDArray[numpy.int32], /) -> None:
        """Remove from a mask of the rules the tokens that the memory forbids."""

    def doubtful(self, position: ItemPosition, mask: numpy.typing.NDArray[numpy.int32]) -> list[tuple[int, ItemPosition | None]]:
        """
        Return the tokens of a mask after which the current item or name has rivals, or in which an item repeats an earlier one, each with the position that it leads to, or None if it is not allowed.
        """

    def some_way(self, arg: ItemPosition, /) -> bytes | None:
        """
        Return a text that leads from a position with rivals to one without, or None if there is none.
        """
