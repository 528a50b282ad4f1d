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
        """The tokens of one byte, `[n]`."""

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
    """Return the same for automata like long lists, which are sparse."""

def is_list_like(automaton: automata._native.ByteTables, vocabulary: VocabularyTries) -> bool:
    """
    Return whether few states of a sparse automaton allow nearly every token.
    """

@overload
def spells_all(automaton: automata._native.ByteTables, is_token_byte: numpy.typing.NDArray[numpy.bool_]) -> bool: ...

@overload
def spells_all(automaton: automata._native.CountedTables, is_token_byte: numpy.typing.NDArray[numpy.bool_]) -> bool:
    """Whether every byte that an automaton reads is a token by itself."""

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
        Class, source, least and greatest register value, target and action, `[E, 6]`.
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
        Return the state after a state and one more token, None if it is not allowed.
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
        The table; or offsets and edges, and the greatest value of the register.
        """

    @property
    def token_class(self) -> NDArray[numpy.int32]:
        """The class of every token, `[V]`."""

    def min_tokens(self, arg: int, /) -> int:
        """Return the least number of tokens from a state to the end of the text."""

    def successors(self, state: int) -> tuple[NDArray[numpy.int32], NDArray[numpy.int64]]:
        """
        Return the classes that a state allows, ascending, and the states that they lead to.
        """

    def alike(self, state: int) -> int:
        """Return a state with the same mask."""

    @property
    def min_tokens_by_state(self) -> NDArray[numpy.int32]: ...

    @property
    def min_tokens_runs(self) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32]]:
        """
        With a register: the same as runs of its values, each location x (R + 1) + its least value, and the distances of its states.
        """

class PushdownTrees:
    """
    The effects of texts on a state and a stack, as trees of popped symbols.
    """

    def __len__(self) -> int: ...

    def paths(self, tree: int, budget: automata._native.Budget) -> list[tuple[tuple[int, ...], tuple[int, ...], int]]:
        """
        Return all paths through a tree: symbols popped, from the top down, symbols pushed, and the state that follows.
        """

    def build(self, paths: Sequence[Sequence[tuple[Sequence[int], Sequence[int], int]]], budget: automata._native.Budget) -> tuple[PushdownTrees, list[int]]:
        """
        Add a tree for each list of paths; return all trees and the numbers of the new ones.
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
        The tree of each state followed by the end of the text and by each label, `[Q, 1 + L]`.
        """

def token_effects(automaton: automata._native.PushdownTables, vocabulary: VocabularyTries, budget: automata._native.Budget) -> TokenEffects:
    """
    Sort the tokens of a vocabulary into classes by their effects on a state and a stack.
    """

class PushdownTables:
    """The effect of each class of tokens on a state and a stack."""

    def __init__(self, num_states: int, num_symbols: int, num_classes: int, start: int, child: numpy.typing.NDArray[numpy.int32], max_pops: int, row_offsets: numpy.typing.NDArray[numpy.int32], edge_class: numpy.typing.NDArray[numpy.int32], edge_outcome: numpy.typing.NDArray[numpy.int32], outcome_offsets: numpy.typing.NDArray[numpy.int32], move_pops: numpy.typing.NDArray[numpy.int32], move_push: numpy.typing.NDArray[numpy.int32], move_target: numpy.typing.NDArray[numpy.int32], move_room: numpy.typing.NDArray[numpy.int32], push_offsets: numpy.typing.NDArray[numpy.int32], push_symbols: numpy.typing.NDArray[numpy.int32], max_configurations: int = 1) -> None: ...

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
    def child(self) -> NDArray[numpy.int32]: ...

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
    """Return the tables of effects and of the end."""

def trimmed(effects: TokenEffects, tables: PushdownTables, overflow: numpy.typing.NDArray[numpy.int32], budget: automata._native.Budget) -> tuple[str, TokenEffects | None]:
    """
    Keep the effects after which tokens lead to an end: whether this was possible, and the effects.
    """

def clashing_class(tables: PushdownTables, budget: automata._native.Budget) -> int | None:
    """
    Return a class that has two moves in one configuration, if there is any.
    """

def pop_distances(tables: PushdownTables, budget: automata._native.Budget) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int32]]:
    """
    Return how many tokens it takes until a symbol has been popped: pop_distances, nodes, and where those of each symbol begin.
    """

class PushdownState(StateObject):
    """Where a text can stand in an automaton with a stack."""

    def __init__(self, configurations: Iterable[tuple[int, Iterable[int]]]) -> None: ...

    @property
    def configurations(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """States, each with the symbols of its stack, the last on top."""

    @property
    def tops(self) -> tuple[tuple[int, int], ...]:
        """States, each with the symbol on top of its stack, -1 for none."""

    def __len__(self) -> int: ...

    def __hash__(self) -> int: ...

    def __eq__(self, other: object, /) -> bool: ...

    def __repr__(self) -> str: ...

    def __copy__(self) -> object: ...

    def __deepcopy__(self, memo: object) -> object: ...

    def __reduce__(self) -> tuple[type, tuple[object]]: ...

class StackDistance:
    """The number of tokens to the end with a stack."""

    def __init__(self, tables: PushdownTables, max_bytes: int, max_context_bytes: int) -> None: ...

    def by_context(self, max_contexts: int) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int32], int] | None:
        """
        Return the distances by all contexts that occur with any stack; None if there are more than this.
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
        Return the same with a stack of at most `max_depth` symbols, -1 for any number.
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
        Return the state after a state and one more token, None if it is not allowed.
        """

    def fill_bitmask(self, arg0: PushdownState, arg1: numpy.typing.NDArray[numpy.int32], /) -> None:
        """Write the mask of a state."""

    def fill_within(self, arg0: PushdownState, arg1: numpy.typing.NDArray[numpy.int32], arg2: int, /) -> None:
        """Write the mask of a state within a budget of tokens."""

    def min_tokens(self, arg: PushdownState, /) -> int:
        """Return the least number of tokens from a state to the end of the text."""

    def allows_any(self, state: PushdownState) -> bool:
        """Return whether a state allows a token or the end."""

class TextLibrary:
    """What many constraints over one vocabulary share."""

    def __init__(self, vocabulary: VocabularyTries) -> None: ...

class LazyCore(AutomatonCore):
    """An automaton whose masks are made when first asked for."""

    @staticmethod
    def from_bytes(texts: TextLibrary, tables: automata._native.ByteTables, max_masks: int, budget: automata._native.Budget) -> LazyCore: ...

    @staticmethod
    def from_pushdown(texts: TextLibrary, tables: automata._native.PushdownTables, max_masks: int, budget: automata._native.Budget) -> LazyCore: ...

    @staticmethod
    def from_visibly_pushdown(texts: TextLibrary, layout: automata._native.VisiblyPushdownLayout, max_masks: int, budget: automata._native.Budget) -> LazyCore | None:
        """
        The automaton of a visibly pushdown grammar; None if sets of states would not be exact.
        """

    def set_beginnings(self, beginnings: Sequence[tuple[int, bytes, int]]) -> None:
        """
        Set what tokens write at the start of a text if it is not their bytes, and which state reads it.
        """

    @property
    def bytes_read(self) -> NDArray[numpy.bool_]:
        """
        Whether a state may read each byte, `[256]`: all of them until all states are known.
        """

    @property
    def is_empty(self) -> bool: ...

    @property
    def start(self) -> int: ...

    end_state: Final[int] = ...
    """(arg: object, /) -> int"""

    @property
    def num_masks(self) -> int:
        """How many states have a kept mask."""

    @property
    def num_contexts(self) -> int:
        """
        How many states, together with the tops of their stacks, are distinguished.
        """

    @property
    def mask_counts(self) -> dict[str, int]:
        """How many masks were found in each way."""

    @property
    def num_bytes(self) -> int: ...

    def is_final(self, arg: int, /) -> bool:
        """Whether the text may end in a state."""

    def advance(self, arg0: int, arg1: int, /) -> int | None:
        """The state after a state and one more token, None if it is not allowed."""

    def fill_bitmask(self, arg0: int, arg1: numpy.typing.NDArray[numpy.int32], /) -> None:
        """Write the mask of a state."""

    def fill_within(self, arg0: int, arg1: numpy.typing.NDArray[numpy.int32], arg2: int, /) -> bool:
        """
        Write the mask of a state within a budget of tokens; return whether that is known to exclude no token.
        """

    def predecessor(self, state: int) -> tuple[int, int] | None:
        """
        The state and the token from which a state was first reached; None for the start and for other states.
        """

    def min_tokens(self, arg: int, /) -> int:
        """A number of tokens that suffices from a state to the end of the text."""

class Derivations:
    """How merges make each token, `[V]` each."""

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
    """Which tokens may stand next to each other inside a piece."""

    def may_follow(self, left: int, right: int) -> bool: ...

    @property
    def position(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def token_at(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def offsets(self) -> Annotated[NDArray[numpy.int64], dict(writable=False)]: ...

    @property
    def intervals(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

class PieceAutomaton:
    """Where pieces of a text may end, over bytes."""

    def __init__(self, byte_class: numpy.typing.NDArray[numpy.uint8], next: numpy.typing.NDArray[numpy.int32], split: numpy.typing.NDArray[numpy.int32], final: numpy.typing.NDArray[numpy.bool_]) -> None: ...

class WholePieces:
    """The tokens that only occur as whole pieces."""

    def __init__(self, byte_class: numpy.typing.NDArray[numpy.uint8], next: numpy.typing.NDArray[numpy.int32], spells: numpy.typing.NDArray[numpy.bool_], tokens: numpy.typing.NDArray[numpy.int32]) -> None: ...

    @property
    def tokens(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

def first_wrong_merge(vocabulary: VocabularyTries, merges: numpy.typing.NDArray[numpy.int32]) -> int:
    """
    Return the index of the first merge that does not make its token of two others, or the number of merges.
    """

def derivations(vocabulary: VocabularyTries, merges: numpy.typing.NDArray[numpy.int32] | None, budget: automata._native.Budget) -> Derivations:
    """
    Run an encoder's merges over every token; without a list, any two tokens that spell one merge.
    """

def pairs(derivations: Derivations, budget: automata._native.Budget) -> Pairs: ...

class CanonicalProduct:
    """The bytes of a constraint together with the pieces of a pre-tokenizer."""

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
    Return the edges of every token, and of tokens that labels stand for: pairs of tokens and labels.
    """

def live_edges(edges: CanonicalEdges, product: CanonicalProduct, pairs: Pairs, closing: int, budget: automata._native.Budget) -> LiveEdges: ...

class CanonicalCore(AutomatonCore):
    """An automaton over the tokens of an encoder."""

    def is_final(self, arg: int, /) -> bool:
        """Return whether the text may end in a state."""

    def advance(self, arg0: int, arg1: int, /) -> int | None:
        """
        Return the state after a state and one more token, None if it is not allowed.
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
    def needs_token(self) -> Annotated[NDArray[numpy.bool_], dict(writable=False)]: ...

    @property
    def class_of(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    def min_tokens(self, arg: int, /) -> int:
        """Return the least number of tokens from a state to the end of the text."""

class TokenCosts:
    """What each token costs in a state of a weighted automaton over bytes."""

    def __init__(self, vocabulary: VocabularyTries, tables: automata._native.WeightedTables) -> None: ...

    def of_states(self, states: numpy.typing.NDArray[numpy.int32], budget: automata._native.Budget) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int64]]:
        """
        Return the tokens that do not cost 0 in some states: the place of the state, the token and its cost in units, `[n]` each.
        """

class ItemValue:
    """A JSON value as `uniqueItems` compares it."""

    def __hash__(self) -> int: ...

    def __eq__(self, other: object, /) -> bool: ...

    @property
    def text(self) -> bytes:
        """The characters of a string; a word; the digits of a number."""

class ItemScalar:
    """A string, number or word of a JSON text under way."""

    @staticmethod
    def string() -> ItemScalar:
        """The string that a quotation mark begins."""

    @staticmethod
    def plain(text: bytes) -> ItemScalar:
        """The number or word that a text begins."""

    def read(self, text: bytes) -> ItemScalar:
        """The scalar after more bytes, which do not end it."""

    def may_be(self, value: ItemValue) -> bool:
        """Whether it may become a value."""

    def value(self) -> ItemValue:
        """The value that ends here."""

    @property
    def escapes(self) -> bool:
        """
        Whether the next byte is part of an escape even if it is a quotation mark.
        """

    @property
    def done(self) -> bytes:
        """What is read, without an escape that is not complete."""

class SeparatingTokens:
    """The tokens of a vocabulary in which another item may begin."""

    def __init__(self, vocabulary: VocabularyTries) -> None: ...

    @property
    def opening(self) -> NDArray[numpy.int32]:
        """The tokens that open an array and continue to a second item in it."""

class ItemPosition:
    """
    Where a text stands: a state of the marked automaton, and the memory of items.
    """

    @property
    def has_rivals(self) -> bool:
        """Whether something under way may still become what was there."""

    @property
    def num_repeats(self) -> int:
        """How many items have ended that were there."""

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
        The position after more bytes; None if they are not allowed, or write an item twice.
        """

    def repeats(self, arg0: ItemPosition, arg1: bytes, /) -> list[int]:
        """The places in a text that is allowed where items end that were there."""

    def goes_on(self, arg: ItemPosition, /) -> bool:
        """Whether what is under way can end as something that was not there."""

    def clear(self, arg0: ItemPosition, arg1: numpy.typing.NDArray[numpy.int32], /) -> None:
        """
        Take out of a mask of the rules the tokens that the memory does not allow.
        """

    def doubtful(self, position: ItemPosition, mask: numpy.typing.NDArray[numpy.int32]) -> list[tuple[int, ItemPosition | None]]:
        """
        The tokens of a mask after which something has rivals, or in which an item ends that was there, and where they lead; None where they are not allowed.
        """

    def way_out(self, position: ItemPosition) -> bytes | None:
        """
        The first of the shortest texts that lead to where nothing has rivals; None if none does.
        """
