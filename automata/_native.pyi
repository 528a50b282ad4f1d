from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any

import numpy
import numpy.typing
from numpy.typing import NDArray


def subsets(owner: numpy.typing.NDArray[numpy.int32], arcs: numpy.typing.NDArray[numpy.int32], jumps: numpy.typing.NDArray[numpy.int32], assertions: numpy.typing.NDArray[numpy.int32], start: int, end: int, max_states: int, budget: Budget) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.bool_]]:
    """
    Return the offsets `[Q + 1]`, arcs `[A, 2]` and final flags `[Q]` of the automaton of a text with assertions.
    """

class Budget:
    """
    The memory and time that one compilation may take, and its cancellation. Used by one thread at a time.
    """

    def __init__(self, max_bytes: int, max_seconds: float, watched: Budget | None = None) -> None:
        """
        Limit memory and time. If `watched` runs out of time or is cancelled, it stops this work too.
        """

    def check(self) -> None:
        """
        Raise if the time is up, if the work was cancelled, or if a signal handler raises.
        """

    def spend(self, steps: int) -> None:
        """
        Account for elementary steps made outside of the core; raise as `check` does.
        """

    def charge(self, num_bytes: int) -> None:
        """
        Account for memory taken outside of the core; raise if that exceeds the limit.
        """

    def release(self, num_bytes: int) -> None:
        """Account for memory that is given back."""

    def cancel(self) -> None:
        """
        Make `check`, and any work in progress, raise Cancelled. May be called from any thread.
        """

    @property
    def used_bytes(self) -> int: ...

    @property
    def peak_bytes(self) -> int: ...

    @property
    def max_bytes(self) -> int: ...

class CollectionsPaused:
    """
    A context in which Python's garbage collector does not run. If it was disabled before, it stays disabled.
    """

    def __init__(self) -> None: ...

    def __enter__(self) -> None: ...

    def __exit__(self, *args: object) -> None: ...

class Conditions:
    """The conditions of a rule, as decision diagrams over its flags."""

    def __init__(self) -> None: ...

    def __getstate__(self) -> NDArray[numpy.int32]: ...

    def __setstate__(self, arg: numpy.typing.NDArray[numpy.int32], /) -> None: ...

    def __len__(self) -> int:
        """Return the number of conditions, including the two constants."""

    def holds(self, condition: int, flags: int) -> bool:
        """
        Return whether a condition holds if these flags, and no others, are set.
        """

    def all_of(self, flags: int) -> int:
        """Return the condition that all given flags are set."""

    def not_all_of(self, flags: int) -> int:
        """Return the condition that at least one of the given flags is not set."""

    def negation(self, condition: int) -> int:
        """Return the negation of a condition."""

    def both(self, one: int, other: int) -> int:
        """Return the conjunction of two conditions."""

    def any_of(self, conditions: Iterable[int]) -> int:
        """Return the disjunction of some conditions."""

    def choice(self, condition: int, then: int, otherwise: int) -> int:
        """
        Return the condition that equals `then` if a condition holds, and `otherwise` if it does not.
        """

    def known(self, condition: int, flag: int, is_set: bool) -> int:
        """
        Return what remains of a condition once one flag is known to be set or not.
        """

    def fewest(self, condition: int) -> int:
        """
        Return a smallest set of flags with which a condition holds, or -1 if it never holds.
        """

    def decision(self, condition: int) -> tuple[int, int, int]:
        """
        Return the flag that a condition tests, and the conditions it leads to if the flag is not set and if it is.
        """

class ByteTables:
    """A deterministic automaton over bytes and labels, dense or sparse."""

    @staticmethod
    def dense(start: int, byte_class: numpy.typing.NDArray[numpy.uint8], next: numpy.typing.NDArray[numpy.int32], final: numpy.typing.NDArray[numpy.bool_], by_label: numpy.typing.NDArray[numpy.int32]) -> ByteTables: ...

    @staticmethod
    def sparse(start: int, offsets: numpy.typing.NDArray[numpy.int32], arcs: numpy.typing.NDArray[numpy.int32], final: numpy.typing.NDArray[numpy.bool_], by_label: numpy.typing.NDArray[numpy.int32]) -> ByteTables: ...

    @property
    def start(self) -> int: ...

    @property
    def is_sparse(self) -> bool: ...

    @property
    def num_states(self) -> int: ...

    @property
    def num_classes(self) -> int: ...

    @property
    def num_labels(self) -> int: ...

    @property
    def num_bytes(self) -> int: ...

    @property
    def final(self) -> Annotated[NDArray[numpy.bool_], dict(writable=False)]: ...

    @property
    def byte_class(self) -> Annotated[NDArray[numpy.uint8], dict(writable=False)]: ...

    @property
    def next(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def offsets(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def arcs(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def by_label(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    def walk(self, state: int, text: bytes) -> int:
        """Return the state that a text leads to, or -1."""

    def accepts(self, text: bytes) -> bool: ...

    def range_arcs(self, budget: Budget) -> NDArray[numpy.int32]:
        """
        Return the arcs over runs of bytes, `[A, 4]`: source, low, high and target.
        """

    def densified(self, budget: Budget) -> ByteTables: ...

    def without_unused_labels(self) -> tuple[ByteTables, list[int]]:
        """
        Return the tables without the labels that no state reads, and the numbers of the labels that are kept.
        """

def minimal(num_states: int, ranges: numpy.typing.NDArray[numpy.int32], epsilon: numpy.typing.NDArray[numpy.int32], num_labels: int, max_states: int, dense_bytes: int, budget: Budget) -> ByteTables:
    """Return the minimal automaton of a fragment from state 0 to state 1."""

def product(left: ByteTables, left_labels: numpy.typing.NDArray[numpy.int32], right: ByteTables, right_labels: numpy.typing.NDArray[numpy.int32], difference: bool, max_states: int, dense_bytes: int, budget: Budget) -> ByteTables:
    """
    Return the minimal automaton of the intersection or the difference of two languages.
    """

def combinations(texts: ByteTables, languages: Sequence[ByteTables], max_states: int, budget: Budget) -> NDArray[numpy.uint8]:
    """
    Return the combinations of languages to which some text belongs: rows `[N, K]` of 0 and 1, the greatest first.
    """

def word_list(strings: tuple[bytes, ...], dense_bytes: int, budget: Budget) -> ByteTables:
    """
    Return the minimal automaton of a list of strings, which are in ascending order.
    """

def from_ranges(start: int, final: numpy.typing.NDArray[numpy.bool_], ranges: numpy.typing.NDArray[numpy.int32], dense_bytes: int, budget: Budget) -> ByteTables:
    """
    Return the tables of an automaton that is already minimal, given its arcs.
    """

def from_state(tables: ByteTables, state: int, dense_bytes: int, budget: Budget) -> ByteTables:
    """
    Return the automaton started from another state, without unreachable states.
    """

def substrings(text: bytes, chunks: numpy.typing.NDArray[numpy.int32], numbers: numpy.typing.NDArray[numpy.int32], budget: Budget) -> tuple[int, NDArray[numpy.int32], NDArray[numpy.int32]]:
    """
    Return the number of states, the ranges and the epsilon arcs of an NFA of all substrings of a sequence of chunks.
    """

class PushdownConstruction:
    """
    The states of a pushdown automaton as sets of elements, and their steps.
    """

    @property
    def unbounded(self) -> int: ...

    @property
    def unbounded_state(self) -> int: ...

    @property
    def unbounded_elements(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...

    @property
    def rule_of(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def element_offsets(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def elements(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def came_from(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def too_many(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def steps(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def shared(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def parent(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def last(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def state_kind(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def symbol_kind(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def below_offsets(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def below(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def headroom(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def symbol_headroom(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

def construct(byte_class: numpy.typing.NDArray[numpy.uint8], next: numpy.typing.NDArray[numpy.int32], by_label: numpy.typing.NDArray[numpy.int32], final: numpy.typing.NDArray[numpy.bool_], rule_of: numpy.typing.NDArray[numpy.int32], rule_start: numpy.typing.NDArray[numpy.int32], start_rule: int, call_offsets: numpy.typing.NDArray[numpy.int32], calls: numpy.typing.NDArray[numpy.int32], word_offsets: numpy.typing.NDArray[numpy.int32], words: numpy.typing.NDArray[numpy.int32], in_words: numpy.typing.NDArray[numpy.bool_], lexer: numpy.typing.NDArray[numpy.int32], num_lazy: int, side_by_side: bool, max_configurations: int, max_states: int, max_ways: int, budget: Budget) -> PushdownConstruction:
    """
    Run the subset construction over the configurations of a network of rules.
    """

def with_shared(steps: numpy.typing.NDArray[numpy.int32], shared: numpy.typing.NDArray[numpy.int32], num_states: int, budget: Budget) -> NDArray[numpy.int32]:
    """
    Return the sorted steps, including those that states share with others, `[E, 5]`.
    """

def moves_of(steps: numpy.typing.NDArray[numpy.int32], budget: Budget) -> NDArray[numpy.int32]:
    """
    Return the sorted moves of sorted steps: the steps without their columns, `[n, 4]`.
    """

class CountedTables:
    """A deterministic automaton over bytes with a register."""

    def __init__(self, start: int, max_register: int, num_classes: int, byte_class: numpy.typing.NDArray[numpy.uint8], offsets: numpy.typing.NDArray[numpy.int32], arcs: numpy.typing.NDArray[numpy.int32], final_from: numpy.typing.NDArray[numpy.int32]) -> None: ...

    @property
    def start(self) -> int: ...

    @property
    def max_register(self) -> int: ...

    @property
    def num_states(self) -> int: ...

    @property
    def num_classes(self) -> int: ...

    @property
    def num_bytes(self) -> int: ...

    @property
    def byte_class(self) -> Annotated[NDArray[numpy.uint8], dict(writable=False)]: ...

    @property
    def offsets(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def final_from(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def arcs(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    def step(self, state: int, value: int, byte: int) -> tuple[int, int] | None:
        """
        Return the state and the register value after a byte, or None if there is no arc.
        """

    def accepts(self, text: bytes) -> bool: ...

def compile_counted(ranges: numpy.typing.NDArray[numpy.int32], epsilon: numpy.typing.NDArray[numpy.int32], loop_of: numpy.typing.NDArray[numpy.int32], loops: numpy.typing.NDArray[numpy.int32], max_register: int, is_product: bool, max_states: int, max_bytes: int, budget: Budget) -> CountedTables | tuple[int, int] | None:
    """
    Return the minimal automaton of a layout with loops; or two loops that clash; or None if it would take too many states, bytes or separate counts.
    """

def counted_product(ranges: numpy.typing.NDArray[numpy.int32], epsilon: numpy.typing.NDArray[numpy.int32], num_states: int, automaton: ByteTables, budget: Budget) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32]]:
    """
    Return the arcs and the epsilon arcs of a layout that runs in parallel with an automaton.
    """

def distances(source: numpy.typing.NDArray[numpy.int32], target: numpy.typing.NDArray[numpy.int32], goal: numpy.typing.NDArray[numpy.bool_], budget: Budget) -> NDArray[numpy.int32]:
    """
    Return the least number of edges from each state to a goal, `[Q]`; -1 if none can be reached.
    """

def bottom_up(num_states: int, source: numpy.typing.NDArray[numpy.int32], target: numpy.typing.NDArray[numpy.int32], budget: Budget) -> NDArray[numpy.int32]:
    """
    Return the states from which no cycle can be reached, each after all states that it has edges to.
    """

def components(offsets: numpy.typing.NDArray[numpy.int32], targets: numpy.typing.NDArray[numpy.int32], budget: Budget) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32]]:
    """
    Return the strongly connected components of a graph, each after those that it leads to: where each begins, `[C + 1]`, and their nodes, `[N]`. The successors of a node begin at its offset.
    """

def minimal_over_symbols(num_states: int, num_symbols: int, arcs: numpy.typing.NDArray[numpy.int32], epsilon: numpy.typing.NDArray[numpy.int32], max_states: int, budget: Budget) -> tuple[int, NDArray[numpy.bool_], NDArray[numpy.int32]]:
    """
    Return the start (-1 if nothing is accepted), the final flags and the arcs of the minimal automaton of an NFA from state 0 to state 1.
    """

def vector_fst_words(final: numpy.typing.NDArray[numpy.bool_], arcs: numpy.typing.NDArray[numpy.int32]) -> NDArray[numpy.int32]:
    """
    Return the body of OpenFst's binary form of a `vector` automaton, as 4-byte words.
    """

def image(nfa_states: int, nfa_arcs: numpy.typing.NDArray[numpy.int32], nfa_epsilon: numpy.typing.NDArray[numpy.int32], nfa_arc_costs: numpy.typing.NDArray[numpy.float64], nfa_epsilon_costs: numpy.typing.NDArray[numpy.float64], num_states: int, arcs: numpy.typing.NDArray[numpy.int32], epsilon: numpy.typing.NDArray[numpy.int32], arc_costs: numpy.typing.NDArray[numpy.float64], epsilon_costs: numpy.typing.NDArray[numpy.float64], num_labels: int, weighted: bool, each_path_once: bool, max_states: int, budget: Budget) -> tuple[int, NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.float64], NDArray[numpy.float64]]:
    """
    Return the NFA of the texts that a transducer can write when it reads a text of another NFA: the number of states, the arcs, the epsilon arcs, and the costs of both.
    """

class Fragment:
    """An automaton from its state 0 to its state 1, which layouts share."""

    def __init__(self, num_states: int, arcs: numpy.typing.NDArray[numpy.int32], epsilon: numpy.typing.NDArray[numpy.int32], budget: Budget) -> None: ...

    @property
    def num_states(self) -> int: ...

    @property
    def nbytes(self) -> int:
        """Its size in bytes."""

class VisiblyPushdownLayout:
    """A visibly pushdown grammar as one nondeterministic automaton."""

    def __init__(self, num_states: int, num_labels: int, starts: numpy.typing.NDArray[numpy.int32], first_exit: numpy.typing.NDArray[numpy.int32], text: numpy.typing.NDArray[numpy.uint8], text_offsets: numpy.typing.NDArray[numpy.int32], chains: numpy.typing.NDArray[numpy.int32], fragments: Sequence[Fragment], copies: numpy.typing.NDArray[numpy.int32], epsilon: numpy.typing.NDArray[numpy.int32], calls: numpy.typing.NDArray[numpy.int32], targets: numpy.typing.NDArray[numpy.int32], ends: numpy.typing.NDArray[numpy.int32], prepared: numpy.typing.NDArray[numpy.int32], counters: numpy.typing.NDArray[numpy.int32], numbers: numpy.typing.NDArray[numpy.int32], budget: Budget) -> None: ...

    @property
    def num_states(self) -> int: ...

    @property
    def starts(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def first_exit(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def text(self) -> Annotated[NDArray[numpy.uint8], dict(writable=False)]: ...

    @property
    def text_offsets(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def chains(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def copies(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def calls(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def targets(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def ends(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def counters(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def num_written_arcs(self) -> int:
        """The number of arcs of chains and copies, were they written out."""

    def reads(self, byte: int) -> bool:
        """Return whether some chain or some fragment reads a byte."""

class LayoutWriter:
    """Makes a layout from the lists of rules."""

    def __init__(self) -> None: ...

    @property
    def num_states(self) -> int:
        """The number of states so far."""

    def rule(self, num_exits: int) -> None:
        """Begin a rule, to which the states that are added next belong."""

    def states(self, count: int) -> int:
        """Add states, and return the number of the first one."""

    def arcs(self, arcs: Sequence[tuple[int, object, int]], first: int, pieces: Callable[[Any], Any], budget: Budget) -> None:
        """
        Lay arcs between states, numbered from `first`. `pieces` lists the texts, fragments and counters of a language.
        """

    def epsilon(self, arcs: Sequence[tuple[int, int]], first: int, budget: Budget) -> None:
        """Lay epsilon arcs between states, numbered from `first`."""

    def calls(self, calls: Sequence[tuple[int, int, tuple[int, ...]]], first: int, place: numpy.typing.NDArray[numpy.int32], budget: Budget) -> None:
        """
        Lay calls of rules. `place` gives the place of each rule in the layout.
        """

    def guarded(self, arcs: Sequence[tuple[int, int, int, int]], first: int, conditions: Conditions, budget: Budget) -> None:
        """Lay guarded arcs, and add all decisions of `conditions` to the layout."""

    def ends(self, ends: Sequence[tuple[int, int]], first: int) -> None:
        """Lay the ends of the rule that was begun last."""

    def detours(self, detours: Sequence[tuple[int, int]], first: int) -> None:
        """
        Lay states with how many more tokens distances count where the text passes through them.
        """

    def prepared(self, fragment: int) -> None:
        """Declare that the rule that was begun last is one fragment."""

    def fragment(self, fragment: Fragment) -> None:
        """Add the next fragment."""

    def numbers(self, numbers: numpy.typing.NDArray[numpy.int32]) -> None:
        """Add the numbers of the states of a counted fragment."""

    def layout(self, num_labels: int, budget: Budget) -> VisiblyPushdownLayout:
        """Return the layout, and begin a new, empty one."""

def compile_regular(layout: VisiblyPushdownLayout, max_states: int, dense_bytes: int, budget: Budget) -> ByteTables:
    """Return the minimal automaton of a layout with one rule."""

def compile_visibly_pushdown(layout: VisiblyPushdownLayout, max_states: int, budget: Budget) -> tuple[tuple[int, int, int], bool, NDArray[numpy.uint8], NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int32]]:
    """
    Return the fault (its kind, 0 for none, and the two rules concerned), whether there is a text, and the byte classes, the steps, the symbols and the headroom of the pushdown automaton of a layout.
    """

def path_numbers(automaton: ByteTables, is_counted: numpy.typing.NDArray[numpy.bool_], budget: Budget) -> tuple[bool, NDArray[numpy.int32], NDArray[numpy.int32]]:
    """
    Return whether the numbers of counted states have no gaps, and the least and the greatest number from each state to an end, `[Q]` each.
    """

def expanded_paths(automaton: ByteTables, numbers: numpy.typing.NDArray[numpy.int32], start: int, low: int, high: int, dense_bytes: int, budget: Budget) -> ByteTables:
    """
    Return the minimal automaton of the texts from `start` that enter between `low` and `high` counted states.
    """

def nfa_fragment(automaton: ByteTables, start: int, budget: Budget) -> tuple[int, NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int32]]:
    """
    Return the number of states, the arcs and the epsilon arcs of the fragment of an automaton, and the fragment's state for each state of the automaton.
    """

class PushdownTables:
    """A pushdown automaton over bytes as its table of steps."""

    def __init__(self, num_states: int, start: int, byte_class: numpy.typing.NDArray[numpy.uint8], num_classes: int, num_labels: int, num_symbols: int, step_offsets: numpy.typing.NDArray[numpy.int32], pops: numpy.typing.NDArray[numpy.int32], pushes: numpy.typing.NDArray[numpy.int32], targets: numpy.typing.NDArray[numpy.int32], parent: numpy.typing.NDArray[numpy.int32], symbol: numpy.typing.NDArray[numpy.int32], max_configurations: int, budget: Budget) -> None: ...

    @property
    def num_states(self) -> int: ...

    @property
    def start(self) -> int: ...

    @property
    def num_classes(self) -> int: ...

    @property
    def num_labels(self) -> int: ...

    @property
    def num_symbols(self) -> int: ...

    @property
    def max_configurations(self) -> int: ...

    def read(self, text: bytes, budget: Budget) -> tuple[bool, int]:
        """
        Return whether a text is accepted, and after how many bytes there are more configurations than may be carried, or -1.
        """

def is_deterministic(step_offsets: numpy.typing.NDArray[numpy.int32], pops: numpy.typing.NDArray[numpy.int32], parent: numpy.typing.NDArray[numpy.int32], budget: Budget) -> bool:
    """
    Return whether, in any configuration, at most one step applies to each column.
    """

def productive_exits(num_states: int, num_exits: int, edges: numpy.typing.NDArray[numpy.int32], returns: numpy.typing.NDArray[numpy.int32], starts: numpy.typing.NDArray[numpy.int32], ends: numpy.typing.NDArray[numpy.int32], budget: Budget) -> NDArray[numpy.bool_]:
    """Return whether each exit is productive, `[X]`."""

def possibly_dead_states(moves: numpy.typing.NDArray[numpy.int32], parent: numpy.typing.NDArray[numpy.int32], symbol: numpy.typing.NDArray[numpy.int32], end: int, state_kind: numpy.typing.NDArray[numpy.int32], symbol_kind: numpy.typing.NDArray[numpy.int32], below_offsets: numpy.typing.NDArray[numpy.int32], below: numpy.typing.NDArray[numpy.int32], budget: Budget) -> NDArray[numpy.bool_]:
    """
    Return whether each state is possibly dead, `[Q]`: not proved to be coaccessible whatever lies under it.
    """

def rule_tables(num_states: int, ranges: numpy.typing.NDArray[numpy.int32], epsilon: numpy.typing.NDArray[numpy.int32], num_rules: int, num_labels: int, max_states: int, budget: Budget) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int32]]:
    """
    Return the byte classes, the table, the rule of each state, the start of each rule and the other arcs of the minimal automata of rules.
    """

class WeightedTables:
    """A deterministic automaton over bytes and labels with costs."""

    @staticmethod
    def of(initial: int, offsets: numpy.typing.NDArray[numpy.int32], arcs: numpy.typing.NDArray[numpy.int32], cost: numpy.typing.NDArray[numpy.int64], final: numpy.typing.NDArray[numpy.int64], num_labels: int) -> WeightedTables: ...

    @property
    def initial(self) -> int: ...

    @property
    def num_labels(self) -> int: ...

    @property
    def num_states(self) -> int: ...

    @property
    def num_bytes(self) -> int: ...

    @property
    def offsets(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def arcs(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def cost(self) -> Annotated[NDArray[numpy.int64], dict(writable=False)]: ...

    @property
    def final(self) -> Annotated[NDArray[numpy.int64], dict(writable=False)]: ...

    def weight(self, text: bytes) -> int:
        """
        Return the cost of a whole text in units, or the greatest int64 if it is not accepted.
        """

    def walk(self, state: int, text: bytes) -> tuple[int, int]:
        """
        Return the state after a text, or -1, and the cost of the arcs that lead to it.
        """

    def find(self, state: int, symbol: int) -> int:
        """Return the index of the arc of a state over a symbol, or -1."""

def weighted(num_states: int, arcs: numpy.typing.NDArray[numpy.int32], arc_cost: numpy.typing.NDArray[numpy.int64], epsilon: numpy.typing.NDArray[numpy.int32], epsilon_cost: numpy.typing.NDArray[numpy.int64], num_labels: int, is_log: bool, max_states: int, budget: Budget) -> WeightedTables:
    """
    Return the minimal weighted automaton of an NFA from state 0 to state 1.
    """

def weighted_product(left: WeightedTables, left_labels: numpy.typing.NDArray[numpy.int32], right: WeightedTables, right_labels: numpy.typing.NDArray[numpy.int32], difference: bool, is_log: bool, max_states: int, budget: Budget) -> WeightedTables:
    """
    Return the minimal intersection or difference of two weighted automata.
    """
