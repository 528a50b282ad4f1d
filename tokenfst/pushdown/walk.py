"""Token effects: classes of tokens that do the same to a state and a stack, and what they do.

The walk over the vocabulary's tries is that of `tokenfst.token_classes`, with its short cuts over what loops and over
whole characters, carrying functions from states to trees (`tokenfst.pushdown.effects`). Tokens with one function are
one letter to the automaton, whatever its stack is.

Rejected: one walk for both, which stops for every composition and leaves it to its caller. It takes half as long again
for the small constraints of `tokenfst.token_classes`; and Numba keeps no kernels that are given others on disk.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from automata.arrays import ByteArray
from automata.errors import LimitExceeded
from automata.jit import kernel, plain_kernel
from automata.limits import Flag, Work
from automata.pushdown.automaton import PushdownAutomaton
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
    grow,
    is_full,
    num_pairs,
)
from tokenfst.transition.loops import AFTER_CONTINUATION, AFTER_LEAD, DEAD, UNKNOWN, WHOLE, Ints
from tokenfst.pushdown.effects import followed, identity_alone, passed
from tokenfst.pushdown.following import resolved
from tokenfst.pushdown.trees import FOLLOWED, Steps, Trees, grown, num_bytes, states_alone
from tokenfst.transition.token_classes import FIRST_CLASS, NEVER
from tokenfst.transition.trie import BYTE, CHILDREN, COUNT_SHIFT, END_RANK, FIRST_RANK, HIGH_BYTE_BELOW, Nodes
from tokenfst.vocabulary import Vocabulary

# Memory of one (source, tree) pair of a function.
_PAIR_BYTES = 8

# Where the walk stands: the level of the path, how many runs and classes there are, and for what it waits: the function
# and the byte class that follows it, or what is pending of a character.
_DEPTH, _RUNS, _CLASSES, _FUNCTION, _FOLLOWED_BY = range(5)
# Why it has stopped.
_DONE, _STOPPED, _WANTS_ROOM, _WANTS_FUNCTIONS, _WANTS_TREES, _WANTS_STEP, _WANTS_CHARACTER = range(7)


class TokenEffects(NamedTuple):
    """The classes of a vocabulary under a pushdown automaton, and what each does.

    Attributes:
        run_end, run_class: `[R]` each, as in `tokenfst.token_classes.TokenClasses`.
        num_classes: K, NEVER and END included.
        entries: `[E, 3]`: class, source and tree, in order of class and then of source.
        trees: what the trees are.
        column_trees: `[Q, 1 + L]`, the tree of each state followed by the end of the text and by each label, or DEAD.
    """

    run_end: Ints
    run_class: Ints
    num_classes: int
    entries: Ints
    trees: Trees
    column_trees: Ints


def token_effects(automaton: PushdownAutomaton, vocabulary: Vocabulary, work: Work) -> TokenEffects:
    """Sorts the tokens of a vocabulary into classes by what they do.

    Raises:
        LimitExceeded: the effects together take too much memory, or the time is up.
        Cancelled: the compilation was cancelled.
    """
    max_bytes = work.limits.table_bytes
    runs, num_classes, entries, trees, column_trees = _walk(
        vocabulary.whole_trie,
        vocabulary.partial_trie,
        automaton.num_states,
        automaton.num_classes,
        automaton.byte_class,
        automaton.step_offsets,
        automaton.step_pops,
        automaton.step_pushes,
        automaton.step_target,
        automaton.parent,
        automaton.symbol,
        len(vocabulary.token_of_rank),
        max_bytes,
        work.stop,
    )
    work.check()
    if num_classes < 0:
        raise LimitExceeded(
            f"what tokens do to {automaton.num_states:,} states and their stacks takes more than {max_bytes:,} bytes "
            "(limit `table_bytes`)"
        )
    return TokenEffects(runs[:, 0].copy(), runs[:, 1].copy(), num_classes, entries, trees, column_trees)


def column_entries(effects: TokenEffects, column: int) -> Ints:
    """What the end of the text (column 0) or a label (those behind) does, as entries `[E, 3]` of class NEVER."""
    trees = effects.column_trees[:, column]
    source = np.flatnonzero(trees >= 0).astype(np.int32)
    return np.stack([np.full_like(source, NEVER), source, trees[source]], axis=1)


@kernel
def _walk(
    whole: Nodes,
    partial: Nodes,
    num_states: int,
    num_byte_classes: int,
    byte_class: ByteArray,
    offsets: Ints,
    step_pops: Ints,
    step_pushes: Ints,
    step_target: Ints,
    parent: Ints,
    symbol: Ints,
    num_ranks: int,
    max_bytes: int,
    stop: Flag,
) -> tuple[Ints, int, Ints, Trees, Ints]:
    """Walks both tries: the runs `[R, 2]`, the number of classes, -1 where a limit was hit, and the rest of
    `TokenEffects`."""
    trees, steps = states_alone(
        offsets, step_pops, step_pushes, step_target, parent, symbol, byte_class, num_states, num_byte_classes
    )
    functions = identity_alone(trees, num_states, num_byte_classes)
    runs, path = np.empty((1024, 2), np.int32), np.empty((64, 4), np.int32)
    progress = np.array([0, 0, FIRST_CLASS, 0, 0], np.int32)
    for nodes, characters in ((whole, True), (partial, False)):
        # From the root's first child to its last.
        progress[_DEPTH] = 0
        path[0] = 1, 1 + (nodes[0, BYTE] >> COUNT_SHIFT), IDENTITY, WHOLE
        status = _WANTS_ROOM
        while status != _DONE:
            status = _walk_on(
                nodes,
                characters,
                byte_class,
                functions,
                trees,
                steps,
                path,
                runs,
                progress,
                num_states,
                max_bytes,
                stop,
            )
            if status == _WANTS_ROOM:
                runs, path = _more_rows(runs, progress[_RUNS]), _more_rows(path, progress[_DEPTH])
            elif status == _WANTS_FUNCTIONS:
                functions = grow(functions, num_states)
            elif status == _WANTS_TREES:
                trees = grown(trees)
            elif status == _STOPPED:
                return runs, -1, runs, trees, runs
    num_runs = progress[_RUNS]
    if num_runs == 0 or runs[num_runs - 1, 0] < num_ranks:
        runs[num_runs, 0], runs[num_runs, 1] = num_ranks, NEVER
        num_runs += 1
    column_trees = np.empty((num_states, steps.width - num_byte_classes), np.int32)
    for state in range(num_states):
        for column in range(num_byte_classes, steps.width):
            while not resolved(trees, steps, state, column):
                trees = grown(trees)
            column_trees[state, column - num_byte_classes] = trees.rows[state, FOLLOWED + column]
    entries = _entries(functions, progress[_CLASSES])
    return runs[:num_runs].copy(), progress[_CLASSES], entries, trees, column_trees


@plain_kernel
def _walk_on(
    nodes: Nodes,
    characters: bool,
    byte_class: ByteArray,
    functions: Functions,
    trees: Trees,
    steps: Steps,
    path: Ints,
    runs: Ints,
    progress: Ints,
    num_states: int,
    max_bytes: int,
    stop: Flag,
) -> int:
    """Walks on and makes the functions that are needed, until the trie is done or something has no room; says which."""
    while True:
        if stop[0] or _PAIR_BYTES * num_pairs(functions) > max_bytes or num_bytes(trees) > max_bytes:
            return _STOPPED
        status = _visit(nodes, characters, byte_class, functions.rows, path, runs, progress)
        if status in (_DONE, _WANTS_ROOM):
            return status
        if is_full(functions, num_states):
            return _WANTS_FUNCTIONS
        function, following = progress[_FUNCTION], progress[_FOLLOWED_BY]
        if status == _WANTS_STEP:
            is_made = followed(functions, trees, steps, function, following)
        else:
            is_made = passed(functions, trees, steps, function, following)
        if not is_made:
            return _WANTS_TREES


@plain_kernel
def _visit(
    nodes: Nodes, characters: bool, byte_class: ByteArray, rows: Ints, path: Ints, runs: Ints, progress: Ints
) -> int:
    """Walks on from where `progress` stands until the trie is done or something is needed; says which.

    A level of `path` is the next sibling to look at, the end of the siblings, the function of their parent and what is
    pending there of a character.

    One long loop that calls nothing: a call for each node costs more than the visit.
    """
    depth, num_runs, num_classes = progress[_DEPTH], progress[_RUNS], progress[_CLASSES]
    ranks_done = runs[num_runs - 1, 0] if num_runs else 0
    node, end, before, pending = path[depth, 0], path[depth, 1], path[depth, 2], path[depth, 3]
    max_runs, max_depth = len(runs) - 2, len(path) - 2
    status = _WANTS_ROOM
    while num_runs <= max_runs and depth <= max_depth:
        if node == end:
            depth -= 1
            if depth < 0:
                status = _DONE
                break
            node, end, before, pending = path[depth, 0], path[depth, 1], path[depth, 2], path[depth, 3]
            continue
        byte = nodes[node, BYTE] & 255
        function = rows[before, STEP + byte_class[byte]]
        if function == DEAD:
            node += 1
            continue
        if function == UNKNOWN:
            progress[_FUNCTION], progress[_FOLLOWED_BY] = before, byte_class[byte]
            status = _WANTS_STEP
            break
        rest = WHOLE
        if byte >= 0x80 and characters:
            rest = AFTER_LEAD[byte] if byte >= 0xC0 else AFTER_CONTINUATION[pending]
        first, last, children = nodes[node, FIRST_RANK], nodes[node, END_RANK], nodes[node, CHILDREN]
        if children:
            passed = function if rest == WHOLE else rows[function, THROUGH + rest]
            if passed == UNKNOWN:
                progress[_FUNCTION], progress[_FOLLOWED_BY] = function, rest
                status = _WANTS_CHARACTER
                break
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
    return status


@kernel
def _more_rows(rows: Ints, used: int) -> Ints:
    """The rows, or twice as many of them where fewer than three are free."""
    if used + 3 <= len(rows):
        return rows
    grown = np.empty((2 * len(rows), rows.shape[1]), np.int32)
    grown[: len(rows)] = rows
    return grown


@kernel
def _entries(functions: Functions, num_classes: int) -> Ints:
    """The pairs of every function that is a class, in order: class, source and tree, `[E, 3]`."""
    rows, pairs = functions.rows, functions.pairs
    function_of = np.zeros(num_classes, np.int32)
    num_entries = 0
    for function in range(functions.number[0]):
        if rows[function, CLASS] != NEVER:
            function_of[rows[function, CLASS]] = function
            num_entries += rows[function, PAIRS_END] - rows[function, PAIRS_BEGIN]
    entries = np.empty((num_entries, 3), np.int32)
    at = 0
    for number in range(FIRST_CLASS, num_classes):
        function = function_of[number]
        for pair in range(rows[function, PAIRS_BEGIN], rows[function, PAIRS_END]):
            both = pairs[pair]
            entries[at, 0], entries[at, 1], entries[at, 2] = number, both >> SOURCE_SHIFT, both & TARGET
            at += 1
    return entries
