"""PushdownTables: what each class of tokens does to a state and a stack.

A token's effect depends on the state and on the symbols that it pops. For each state, the symbols popped form a tree,
the context tree: its root is the state, and a child is one more symbol read from the top of the stack down. The stack
at hand picks one path from the root; a class is allowed where a node of the path has an edge for it.

    node          a state with some symbols popped; nodes 0 .. Q - 1 are the roots, node q of state q. Equal subtrees
                  are one node, so trees share them.
    edge          (node, class) -> outcome
    outcome       the moves that a class makes there: one in a deterministic automaton, where also at most one node of
                  a path has an edge for a class; several otherwise, all of which count, from all nodes of the path
    move          (pops, pushes, target): so many symbols are popped, these are pushed, and this state follows

The native core owns them (`native/tokenfst/pushdown/tables.h`) and checks those that are made from arrays; arrays are
read-only views. Q states, S symbols, N nodes, K classes, E edges, O outcomes, M moves, P pushes:

    num_states          Q; state Q - 1 is the end of the sequence: only class END leads there, and only END leads on, to
                        it
    num_symbols         S
    num_classes         K, NEVER (0) and END (1) included
    start               the state of the empty text, with an empty stack
    child               `[N, S]` int32, the node for one more symbol, or -1 where no deeper node has an edge
    max_pops            the depth of the deepest node
    row_offsets         `[N + 1]` int32, where the node's own edges begin
    edge_class, edge_outcome    `[E]` int32 each, by class ascending within a node
    outcome_offsets     `[O + 1]` int32, an outcome's moves; all outcomes have one where `max_configurations` is 1
    move_pops, move_push, move_target, move_room    `[M]` int32: how many symbols are popped, the number of the sequence
                        pushed, the state that follows, and how many symbols beyond the height after popping must be
                        free so that the text can be completed after this move without a higher stack
    push_offsets, push_symbols  `[P + 1]`, `[..]` int32: sequences of pushed symbols, the last one on top. Number 0 is
                        the empty sequence
    max_configurations  1 where the automaton is deterministic, otherwise how many configurations are carried
"""

from __future__ import annotations

from automata.arrays import IntArray
from tokenfst._native import PushdownTables

__all__ = ["ARRAYS", "SIZES", "PushdownTables", "arrays_of"]

# The numbers of tables, in the order of the array `sizes` of a file.
SIZES = ("num_states", "num_symbols", "num_classes", "start", "max_pops", "max_configurations")
# The arrays of tables.
ARRAYS = (
    "child",
    "row_offsets",
    "edge_class",
    "edge_outcome",
    "outcome_offsets",
    "move_pops",
    "move_push",
    "move_target",
    "move_room",
    "push_offsets",
    "push_symbols",
)


def arrays_of(tables: PushdownTables) -> dict[str, IntArray]:
    """The arrays of tables by name."""
    return {name: getattr(tables, name) for name in ARRAYS}
