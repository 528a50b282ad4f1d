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
its function as it is, the node's tokens are one run; and a function that all but rare bytes leave as it is goes
straight to the next node with a rare byte (`tokenfst.trie`). Inside a character the same test looks ahead: if every valid rest
of the character leads each target to one state, whichever rest it is, the function after the character stands for all
of them.

The result is the minimal-alphabet form of `determinize(A o T)` (Koo, Liu & He 2024, Algorithm 2): a class for each
token and the transitions of each class, kilobytes in place of a mask for each state. `tokenfst.reference` is the
definition that this is tested against.

Rejected: composing arc by arc (hundreds of milliseconds for free text); a table of all states by all tokens (Q x V);
the wildcard labels of the paper's section 2.5.1 (not exact, and not needed for speed).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from automata.byte_automaton import ByteArray, ByteAutomaton
from automata.errors import LimitExceeded
from automata.jit import kernel
from tokenfst.functions import (
    IDENTITY,
    Functions,
    compose,
    grow,
    identity_only,
    is_full,
    num_pairs,
    pass_character,
)
from tokenfst.loops import (
    AFTER_CONTINUATION,
    AFTER_LEAD,
    DEAD,
    NUM_PENDING,
    UNKNOWN,
    WHOLE,
    Ints,
    state_loops,
)
from tokenfst.trie import BYTE, DEPTH_SHIFT, FIRST_RANK, HIGH_BYTE_BELOW, NEXT_RARE, SKIP, Nodes
from tokenfst.vocabulary import Vocabulary

# Class 0 is every token that no state allows; class 1 is the end of the sequence.
NEVER, END, FIRST_CLASS = 0, 1, 2
# At most this many (source, target) pairs in all functions together: 512 MiB.
MAX_PAIRS = 1 << 26

# A subtree with fewer nodes than this is walked without asking whether it could be skipped.
_WORTH_SKIPPING = 1
# Where the walk stands: the node, how many runs and classes there are, and how many ranks they cover.
_NODE, _RUNS, _CLASSES, _RANKS = range(4)


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


def token_classes(automaton: ByteAutomaton, vocabulary: Vocabulary) -> TokenClasses:
    """Sorts the tokens of a vocabulary into classes.

    Raises:
        LimitExceeded: the functions together hold more than `MAX_PAIRS` pairs.
    """
    run_end, run_class, num_classes, source, edge_class, target = _walk(
        vocabulary.whole_trie, vocabulary.partial_trie, automaton.next, automaton.byte_class
    )
    if num_classes < 0:
        raise LimitExceeded(f"the functions of {automaton.num_states:,} states hold more than {MAX_PAIRS:,} pairs")
    return TokenClasses(run_end, run_class, num_classes, source, edge_class, target)


@kernel
def _walk(whole: Nodes, partial: Nodes, delta: Ints, byte_class: ByteArray) -> tuple[Ints, Ints, int, Ints, Ints, Ints]:
    """Walks both tries; see `TokenClasses` for what it returns, with -1 classes where a limit was hit."""
    num_states = len(delta)
    after = np.full((num_states, NUM_PENDING), UNKNOWN, np.int32)
    state_loop = state_loops(delta, byte_class, after)
    functions = identity_only(delta, state_loop)
    runs = np.empty((1024, 2), np.int32)
    # At each depth: the function, what is pending of a character, and the end of the topmost subtree without a change.
    longest = max(whole[len(whole) - 1, BYTE], partial[len(partial) - 1, BYTE]) >> DEPTH_SHIFT
    path = np.empty((longest + 1, 3), np.int32)
    progress = np.array([1, 0, FIRST_CLASS, 0], np.int32)
    for nodes, characters in ((whole, True), (partial, False)):
        progress[_NODE] = 1
        path[0] = IDENTITY, WHOLE, len(nodes) - 1
        while not _visit(nodes, characters, delta, byte_class, after, state_loop, functions, path, runs, progress):
            # Not done: there was no room for another function, or for another run.
            if is_full(functions, num_states):
                functions = grow(functions, num_states)
            else:
                runs = _doubled(runs)
            if num_pairs(functions) > MAX_PAIRS:
                return delta[0], delta[0], -1, delta[0], delta[0], delta[0]
    num_runs, num_ranks = progress[_RUNS], partial[len(partial) - 1, FIRST_RANK]
    if progress[_RANKS] < num_ranks:
        runs = _doubled(runs)
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


@kernel
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

    One long loop that replaces no array and calls nothing while functions are known: a call for each node, or counting
    references to arrays that change, costs ten times the visit.
    """
    step, through, loop, class_of = functions.step, functions.through, functions.loop, functions.class_of
    node, num_runs, num_classes, ranks_done = (
        progress[_NODE],
        progress[_RUNS],
        progress[_CLASSES],
        progress[_RANKS],
    )
    last, max_runs = len(nodes) - 1, len(runs) - 2
    while node < last:
        depth, byte, behind = nodes[node, BYTE] >> DEPTH_SHIFT, nodes[node, BYTE] & 255, nodes[node, SKIP]
        before = path[depth - 1, 0]
        function = step[before, byte_class[byte]]
        if function == UNKNOWN:
            if is_full(functions, len(delta)):
                break
            function = compose(functions, before, byte_class[byte], delta, state_loop)
        if function == DEAD:
            node = behind
            continue
        rest = WHOLE
        if byte >= 0x80 and characters:
            rest = AFTER_LEAD[byte] if byte >= 0xC0 else AFTER_CONTINUATION[path[depth - 1, 1]]
        unchanged = path[depth - 1, 2] if function == before else behind
        path[depth, 0], path[depth, 1], path[depth, 2] = function, rest, unchanged
        following = node + 1
        if behind - node > _WORTH_SKIPPING:
            passed = function if rest == WHOLE else through[function, rest]
            if passed == UNKNOWN:
                if is_full(functions, len(delta)):
                    break
                passed = pass_character(functions, function, rest, delta, byte_class, after, state_loop)
            if passed == DEAD:
                node = behind
                continue
            # Does all that occurs below leave the function as it is?
            if passed >= 0 and not (
                nodes[node, 0] & ~loop[passed, 0]
                | nodes[node, 1] & ~loop[passed, 1]
                | nodes[node, 2] & ~loop[passed, 2]
                | nodes[node, 3] & ~loop[passed, 3]
                | nodes[node, BYTE] & HIGH_BYTE_BELOW & (~loop[passed, 4] if characters else HIGH_BYTE_BELOW)
            ):
                following, function = behind, passed
            elif characters and rest == WHOLE and loop[function, 5]:
                following = min(nodes[node, NEXT_RARE], unchanged)
        first, end = nodes[node, FIRST_RANK], nodes[following, FIRST_RANK]
        if first < end:
            if num_runs > max_runs:
                break
            number = class_of[function]
            if number == NEVER:
                number = class_of[function] = num_classes
                num_classes += 1
            if ranks_done < first:
                runs[num_runs, 0], runs[num_runs, 1] = first, NEVER
                num_runs += 1
            if num_runs and runs[num_runs - 1, 1] == number:
                num_runs -= 1
            runs[num_runs, 0], runs[num_runs, 1] = end, number
            num_runs += 1
            ranks_done = end
        node = following
    progress[_NODE], progress[_RUNS], progress[_CLASSES], progress[_RANKS] = (
        node,
        num_runs,
        num_classes,
        ranks_done,
    )
    return bool(node == last)


@kernel
def _doubled(runs: Ints) -> Ints:
    grown = np.empty((2 * len(runs), 2), np.int32)
    grown[: len(runs)] = runs
    return grown


@kernel
def _edges(functions: Functions, num_classes: int) -> tuple[Ints, Ints, Ints]:
    """The pairs of every function that is a class, in order: source, class and target, `[E]` each."""
    function_of = np.zeros(num_classes, np.int32)
    num_edges = 0
    for function in range(functions.count[0]):
        if functions.class_of[function] != NEVER:
            function_of[functions.class_of[function]] = function
            num_edges += functions.offset[function + 1] - functions.offset[function]
    edges = np.empty((3, num_edges), np.int32)
    at = 0
    for number in range(FIRST_CLASS, num_classes):
        function = function_of[number]
        for pair in range(functions.offset[function], functions.offset[function + 1]):
            edges[0, at], edges[1, at], edges[2, at] = (
                functions.pairs[pair, 0],
                number,
                functions.pairs[pair, 1],
            )
            at += 1
    return edges[0], edges[1], edges[2]
