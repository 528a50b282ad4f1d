"""Token classes of a counted byte automaton: tokens with the same function on states and register are one letter.

The walk over the vocabulary's tries is that of `tokenfst.token_classes`, carrying the number of a guarded function
(`tokenfst.counted.functions`) in place of a plain one. No subtree is passed over but the dead ones: where characters
are counted, no function is left unchanged by anything, so the shortcut over loops has nothing to find. It visits each
node once, some hundred thousand look-ups in a table.

Rejected: the walk of `tokenfst.token_classes` with functions of both kinds (its shortcuts are most of it).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from automata.arrays import ByteArray
from automata.counted import CountedByteAutomaton
from automata.errors import LimitExceeded
from automata.jit import kernel, plain_kernel
from automata.limits import Flag, Work
from tokenfst.counted.functions import (
    BEGIN,
    CLASS,
    END,
    IDENTITY,
    CountedFunctions,
    compose,
    identity_alone,
    room_needed,
    with_room,
)
from tokenfst.transition.loops import DEAD, UNKNOWN, Ints
from tokenfst.transition.token_classes import FIRST_CLASS, NEVER
from tokenfst.transition.trie import BYTE, CHILDREN, COUNT_SHIFT, END_RANK, FIRST_RANK, Nodes
from tokenfst.vocabulary import Vocabulary

# Memory of one entry of a function.
_ENTRY_BYTES = 20

# Where the walk stands: the level of the path, how many runs and classes there are, and the step that it waits for.
_DEPTH, _RUNS, _CLASSES, _FUNCTION, _COLUMN = range(5)
_DONE, _WANTS_ROOM, _WANTS_STEP = range(3)


class CountedClasses(NamedTuple):
    """The classes of a vocabulary under a counted byte automaton.

    Attributes:
        run_end, run_class: `[R]` each, as in `tokenfst.token_classes.TokenClasses`.
        num_classes: K, NEVER and END included.
        edges: `[E, 6]`, class and then the entry (`tokenfst.counted.functions`), in order of class and then of source.
    """

    run_end: Ints
    run_class: Ints
    num_classes: int
    edges: Ints


def counted_classes(automaton: CountedByteAutomaton, vocabulary: Vocabulary, work: Work) -> CountedClasses:
    """Sorts the tokens of a vocabulary into classes.

    Raises:
        LimitExceeded: the functions together take too much memory, or the time is up.
        Cancelled: the compilation was cancelled.
    """
    max_bytes = work.limits.table_bytes
    runs, num_classes, edges = _walk(
        vocabulary.whole_trie,
        vocabulary.partial_trie,
        automaton.num_states,
        automaton.num_classes,
        automaton.max_register,
        automaton.byte_class,
        automaton.offsets,
        automaton.arcs,
        len(vocabulary.token_of_rank),
        max_bytes // _ENTRY_BYTES,
        work.stop,
    )
    work.check()
    if num_classes < 0:
        raise LimitExceeded(
            f"what tokens do to {automaton.num_states:,} states that count takes more than {max_bytes:,} bytes "
            "(limit `table_bytes`)"
        )
    return CountedClasses(runs[:, 0].copy(), runs[:, 1].copy(), num_classes, edges)


@kernel
def _walk(
    whole: Nodes,
    partial: Nodes,
    num_states: int,
    num_columns: int,
    max_register: int,
    byte_class: ByteArray,
    offsets: Ints,
    arcs: Ints,
    num_ranks: int,
    max_entries: int,
    stop: Flag,
) -> tuple[Ints, int, Ints]:
    """Walks both tries: the runs `[R, 2]`, the number of classes, -1 where a limit was hit, and the edges."""
    pool = identity_alone(num_states, num_columns, max_register)
    runs, path = np.empty((1024, 2), np.int32), np.empty((64, 3), np.int32)
    progress = np.array([0, 0, FIRST_CLASS, 0, 0], np.int32)
    for nodes in (whole, partial):
        # From the root's first child to its last.
        progress[_DEPTH] = 0
        path[0] = 1, 1 + (nodes[0, BYTE] >> COUNT_SHIFT), IDENTITY
        status = _WANTS_ROOM
        while status != _DONE:
            status = _visit(nodes, byte_class, pool.step, pool.known, path, runs, progress)
            if status == _WANTS_STEP:
                function, column = progress[_FUNCTION], progress[_COLUMN]
                pool = with_room(pool, room_needed(pool, function, column, offsets))
                compose(pool, function, column, offsets, arcs)
                if pool.known[pool.number[0] - 1, END] > max_entries or stop[0]:
                    return runs, -1, runs
            elif status == _WANTS_ROOM:
                runs, path = _more(runs), _more(path)
    num_runs = progress[_RUNS]
    if num_runs == 0 or runs[num_runs - 1, 0] < num_ranks:
        runs[num_runs, 0], runs[num_runs, 1] = num_ranks, NEVER
        num_runs += 1
    return runs[:num_runs].copy(), progress[_CLASSES], _edges(pool, progress[_CLASSES])


@plain_kernel
def _visit(nodes: Nodes, byte_class: ByteArray, step: Ints, known: Ints, path: Ints, runs: Ints, progress: Ints) -> int:
    """Walks on from where `progress` stands until the trie is done, a step is not known, or there is no room.

    A level of `path` is the next sibling to look at, the end of the siblings, and the function of their parent.
    """
    depth, num_runs, num_classes = progress[_DEPTH], progress[_RUNS], progress[_CLASSES]
    ranks_done = runs[num_runs - 1, 0] if num_runs else 0
    node, end, before = path[depth, 0], path[depth, 1], path[depth, 2]
    max_runs, max_depth = len(runs) - 3, len(path) - 2
    status = _DONE
    while True:
        if node == end:
            depth -= 1
            if depth < 0:
                break
            node, end, before = path[depth, 0], path[depth, 1], path[depth, 2]
            continue
        if num_runs > max_runs or depth > max_depth:
            status = _WANTS_ROOM
            break
        byte = nodes[node, BYTE] & 255
        function = step[before, byte_class[byte]]
        if function == DEAD:
            node += 1
            continue
        if function == UNKNOWN:
            progress[_FUNCTION], progress[_COLUMN] = before, byte_class[byte]
            status = _WANTS_STEP
            break
        first, last, children = nodes[node, FIRST_RANK], nodes[node, END_RANK], nodes[node, CHILDREN]
        if children:
            last = nodes[children, FIRST_RANK]
        if first < last:
            number = known[function, CLASS]
            if number == NEVER:
                number = known[function, CLASS] = num_classes
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
            node, before = children, function
            path[depth, 0], path[depth, 1], path[depth, 2] = node, end, before
    if depth >= 0:
        path[depth, 0] = node
    progress[_DEPTH], progress[_RUNS], progress[_CLASSES] = depth, num_runs, num_classes
    return status


@kernel
def _more(rows: Ints) -> Ints:
    """Twice as many rows."""
    grown = np.empty((2 * len(rows), rows.shape[1]), np.int32)
    grown[: len(rows)] = rows
    return grown


@kernel
def _edges(pool: CountedFunctions, num_classes: int) -> Ints:
    """The entries of every function that is a class, in order: class and entry, `[E, 6]`."""
    function_of = np.zeros(num_classes, np.int32)
    num_edges = 0
    for function in range(pool.number[0]):
        if pool.known[function, CLASS] != NEVER:
            function_of[pool.known[function, CLASS]] = function
            num_edges += pool.known[function, END] - pool.known[function, BEGIN]
    edges = np.empty((num_edges, 6), np.int32)
    at = 0
    for number in range(FIRST_CLASS, num_classes):
        function = function_of[number]
        for entry in range(pool.known[function, BEGIN], pool.known[function, END]):
            edges[at, 0] = number
            edges[at, 1:] = pool.entries[entry]
            at += 1
    return edges
