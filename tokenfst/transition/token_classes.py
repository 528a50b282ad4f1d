"""Token classes: the composition of a constraint with a detokenizer, fast and exact.

A byte automaton with states Q gives every byte string w a partial function f_w: Q -> Q, and f_wc = delta_c o f_w. Two
tokens with the same function are one letter to the automaton. So the vocabulary's trie is walked once, in depth-first
order, carrying not a state but the function of the prefix:

    function    (source, target) pairs with ascending sources, in a pool; equal ones are one number (hash-consing)
    step        [function, byte class] -> function, filled in when first needed; the empty function prunes a subtree
    class       a function that some token has, numbered in order of appearance
    run         ranks that are neighbours and share a class

Most of a free-text constraint is never visited. A function is unchanged by a byte when each of its target states has a
loop on that byte, so every state keeps the 128 ASCII bytes that it loops on, and whether it loops on every other whole
character (`tokenfst.loops`); a function keeps the conjunction over its targets. If all that occurs below a node leaves
its function as it is, the node's tokens are one run. Inside a character the same test looks ahead: if every valid rest
of the character leads each target to one state, whichever rest it is, the function after the character stands for all
of them.

The result is the minimal-alphabet form of `determinize(A o T)` (Koo, Liu & He 2024, Algorithm 2): a class for each
token and the transitions of each class, kilobytes in place of a mask for each state. `tokenfst.reference` is the
definition that this is tested against.

Rejected: composing arc by arc (hundreds of milliseconds for free text); a table of all states by all tokens (Q x V);
the wildcard labels of the paper's section 2.5.1 (not exact, and not needed for speed); links between siblings over
those that quoted text holds as they are (a tenth less time for quoted text, a tenth more for the rest).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from automata.arrays import ByteArray
from automata.byte_automaton import ByteAutomaton
from automata.errors import LimitExceeded
from automata.jit import kernel, plain_kernel
from automata.limits import Flag, Work
from tokenfst.transition.functions import (
    CLASS,
    IDENTITY,
    LOOP,
    PAIRS_BEGIN,
    PAIRS_END,
    SOURCE_SHIFT,
    STEP,
    TARGET,
    THROUGH,
    Functions,
    compose,
    grow,
    identity_only,
    is_full,
    num_pairs,
    pass_character,
)
from tokenfst.transition.loops import (
    AFTER_CONTINUATION,
    AFTER_LEAD,
    DEAD,
    NUM_PENDING,
    UNKNOWN,
    WHOLE,
    Ints,
    state_loops,
)
from tokenfst.transition.trie import BYTE, CHILDREN, COUNT_SHIFT, END_RANK, FIRST_RANK, HIGH_BYTE_BELOW, Nodes
from tokenfst.vocabulary import Vocabulary

# Class 0 is every token that no state allows; class 1 is the end of the sequence.
NEVER, END, FIRST_CLASS = 0, 1, 2
# Memory of one (source, target) pair of a function.
_PAIR_BYTES = 8

# Where the walk stands: the level of the path, and how many runs and classes there are.
_DEPTH, _RUNS, _CLASSES = range(3)


class TokenClasses(NamedTuple):
    """The classes of a vocabulary under a byte automaton.

    Attributes:
        run_end: `[R]`, one past the last rank of each run; runs cover all ranks in order.
        run_class: `[R]`, the class of each run, NEVER or at least FIRST_CLASS.
        num_classes: K, NEVER and END included.
        source, edge_class, target: `[E]` each, the transitions in order of class and then of source.
    """

    run_end: Ints
    run_class: Ints
    num_classes: int
    source: Ints
    edge_class: Ints
    target: Ints


def token_classes(automaton: ByteAutomaton, vocabulary: Vocabulary, work: Work) -> TokenClasses:
    """Sorts the tokens of a vocabulary into classes.

    Raises:
        LimitExceeded: the functions together take too much memory, or the time is up.
        Cancelled: the compilation was cancelled.
    """
    if automaton.is_sparse:
        from tokenfst import relations

        if relations.is_list_like(automaton, vocabulary):
            return relations.relation_classes(automaton, vocabulary, work)
    max_bytes = work.limits.table_bytes
    run_end, run_class, num_classes, source, edge_class, target = _walk(
        vocabulary.whole_trie,
        vocabulary.partial_trie,
        automaton.next,
        automaton.byte_class,
        len(vocabulary.token_of_rank),
        max_bytes // _PAIR_BYTES,
        work.stop,
    )
    work.check()
    if num_classes < 0:
        raise LimitExceeded(
            f"what tokens do to {automaton.num_states:,} states takes more than {max_bytes:,} bytes "
            "(limit `table_bytes`)"
        )
    return TokenClasses(run_end, run_class, num_classes, source, edge_class, target)


@kernel
def _walk(
    whole: Nodes,
    partial: Nodes,
    delta: Ints,
    byte_class: ByteArray,
    num_ranks: int,
    max_pairs: int,
    stop: Flag,
) -> tuple[Ints, Ints, int, Ints, Ints, Ints]:
    """Walks both tries; see `TokenClasses` for what it returns, with -1 classes where a limit was hit."""
    num_states = len(delta)
    after = np.full((num_states, NUM_PENDING), UNKNOWN, np.int32)
    state_loop = state_loops(delta, byte_class, after)
    functions = identity_only(delta, state_loop)
    runs, path = np.empty((1024, 2), np.int32), np.empty((64, 4), np.int32)
    progress = np.array([0, 0, FIRST_CLASS], np.int32)
    for nodes, characters in ((whole, True), (partial, False)):
        # From the root's first child to its last.
        progress[_DEPTH] = 0
        path[0] = 1, 1 + (nodes[0, BYTE] >> COUNT_SHIFT), IDENTITY, WHOLE
        while not _visit(nodes, characters, delta, byte_class, after, state_loop, functions, path, runs, progress):
            # Not done: there was no room for another function, another run or another level.
            if is_full(functions, num_states):
                functions = grow(functions, num_states)
            runs, path = _with_room(runs, progress[_RUNS]), _with_room(path, progress[_DEPTH])
            if num_pairs(functions) > max_pairs or stop[0]:
                return delta[0], delta[0], -1, delta[0], delta[0], delta[0]
    num_runs = progress[_RUNS]
    if num_runs == 0 or runs[num_runs - 1, 0] < num_ranks:
        runs[num_runs, 0], runs[num_runs, 1] = num_ranks, NEVER
        num_runs += 1
    source, edge_class, target = _edges(functions, progress[_CLASSES])
    return (
        runs[:num_runs, 0].copy(),
        runs[:num_runs, 1].copy(),
        progress[_CLASSES],
        source,
        edge_class,
        target,
    )


@plain_kernel
def _visit(
    nodes: Nodes,
    characters: bool,
    delta: Ints,
    byte_class: ByteArray,
    after: Ints,
    state_loop: Ints,
    functions: Functions,
    path: Ints,
    runs: Ints,
    progress: Ints,
) -> bool:
    """Walks on from where `progress` stands until the trie is done (true) or something has no room (false).

    A level of `path` is the next sibling to look at, the end of the siblings, the function of their parent and what is
    pending there of a character.

    One long loop that calls nothing while functions are known: a call for each node costs more than the visit.
    """
    rows = functions.rows
    depth, num_runs, num_classes = progress[_DEPTH], progress[_RUNS], progress[_CLASSES]
    ranks_done = runs[num_runs - 1, 0] if num_runs else 0
    node, end, before, pending = path[depth, 0], path[depth, 1], path[depth, 2], path[depth, 3]
    max_runs, max_depth = len(runs) - 2, len(path) - 2
    while num_runs <= max_runs and depth <= max_depth:
        if node == end:
            depth -= 1
            if depth < 0:
                break
            node, end, before, pending = path[depth, 0], path[depth, 1], path[depth, 2], path[depth, 3]
            continue
        byte = nodes[node, BYTE] & 255
        function = rows[before, STEP + byte_class[byte]]
        if function == DEAD:
            node += 1
            continue
        if function == UNKNOWN:
            if is_full(functions, len(delta)):
                break
            compose(functions, before, byte_class[byte], delta, state_loop)
            continue
        rest = WHOLE
        if byte >= 0x80 and characters:
            rest = AFTER_LEAD[byte] if byte >= 0xC0 else AFTER_CONTINUATION[pending]
        first, last, children = nodes[node, FIRST_RANK], nodes[node, END_RANK], nodes[node, CHILDREN]
        if children:
            passed = function if rest == WHOLE else rows[function, THROUGH + rest]
            if passed == UNKNOWN:
                if is_full(functions, len(delta)):
                    break
                pass_character(functions, function, rest, delta, byte_class, after, state_loop)
                continue
            if passed == DEAD:
                node += 1
                continue
            # Does all that occurs below leave the function as it is?
            if passed >= 0 and not (
                nodes[node, 0] & ~rows[passed, LOOP]
                | nodes[node, 1] & ~rows[passed, LOOP + 1]
                | nodes[node, 2] & ~rows[passed, LOOP + 2]
                | nodes[node, 3] & ~rows[passed, LOOP + 3]
                | nodes[node, BYTE] & HIGH_BYTE_BELOW & (~rows[passed, LOOP + 4] if characters else HIGH_BYTE_BELOW)
            ):
                function, children = passed, 0
            else:
                last = nodes[children, FIRST_RANK]
        if first < last:
            number = rows[function, CLASS]
            if number == NEVER:
                number = rows[function, CLASS] = num_classes
                num_classes += 1
            if ranks_done < first:
                runs[num_runs, 0], runs[num_runs, 1] = first, NEVER
                num_runs += 1
            if num_runs and runs[num_runs - 1, 1] == number:
                num_runs -= 1
            runs[num_runs, 0], runs[num_runs, 1] = last, number
            num_runs += 1
            ranks_done = last
        node += 1
        if children:
            path[depth, 0] = node
            depth += 1
            end = children + (nodes[node - 1, BYTE] >> COUNT_SHIFT)
            node, before, pending = children, function, rest
            path[depth, 0], path[depth, 1], path[depth, 2], path[depth, 3] = node, end, before, pending
    if depth >= 0:
        path[depth, 0] = node
    progress[_DEPTH], progress[_RUNS], progress[_CLASSES] = depth, num_runs, num_classes
    return bool(depth < 0)


@kernel
def _with_room(rows: Ints, used: int) -> Ints:
    """The rows, or twice as many of them where fewer than three are free."""
    if used + 3 <= len(rows):
        return rows
    grown = np.empty((2 * len(rows), rows.shape[1]), np.int32)
    grown[: len(rows)] = rows
    return grown


@kernel
def _edges(functions: Functions, num_classes: int) -> tuple[Ints, Ints, Ints]:
    """The pairs of every function that is a class, in order: source, class and target, `[E]` each."""
    rows, pairs = functions.rows, functions.pairs
    function_of = np.zeros(num_classes, np.int32)
    num_edges = 0
    for function in range(functions.number[0]):
        if rows[function, CLASS] != NEVER:
            function_of[rows[function, CLASS]] = function
            num_edges += rows[function, PAIRS_END] - rows[function, PAIRS_BEGIN]
    edges = np.empty((3, num_edges), np.int32)
    at = 0
    for number in range(FIRST_CLASS, num_classes):
        function = function_of[number]
        for pair in range(rows[function, PAIRS_BEGIN], rows[function, PAIRS_END]):
            both = pairs[pair]
            edges[0, at], edges[1, at], edges[2, at] = both >> SOURCE_SHIFT, number, both & TARGET
            at += 1
    return edges[0], edges[1], edges[2]
