"""PushdownTables: the effect of each class of tokens on a state and a stack.

The effect of a token depends on the state and on the symbols that it pops. The context tree of a state holds these
symbols: its root is the state, and each child stands for one more symbol, from the top of the stack down. A given stack
selects one path from the root. It allows a class if some node of the path has an edge for it.

    node          a state with some symbols popped; node q is the root of state q, for q < Q. Equal subtrees are shared.
    edge          (node, class) -> outcome
    outcome       the moves of a class at a node. A deterministic automaton has one move per outcome, and at most one
                  node of a path has an edge for a class. Otherwise all moves of all nodes of the path are made
    move          (pops, pushes, target): the number of symbols popped, the symbols pushed, and the next state

The native core owns the tables (`native/tokenfst/pushdown/tables.h`) and checks those that are built from arrays. The
arrays are read-only views. With Q states, S symbols, N nodes, C children, K classes, E edges, O outcomes, M moves and P
sequences of pushed symbols:

    num_states          Q; state Q - 1 is the end of the sequence, which only class END enters, and leaves to itself
    num_symbols         S
    num_nodes           N
    num_classes         K, including NEVER (0) and END (1)
    start               the state of the empty text, with an empty stack
    child_offsets       `[N + 1]` int32, the index of the first child of each node
    child_symbol, child_node    `[C]` int32 each: one more symbol, ascending within a node, and the node after it; there
                        is none if no deeper node has an edge
    max_pops            the depth of the deepest node
    row_offsets         `[N + 1]` int32, the index of the first edge of each node
    edge_class, edge_outcome    `[E]` int32 each, ascending by class within a node
    outcome_offsets     `[O + 1]` int32, the index of the first move of each outcome
    move_pops, move_push, move_target, move_room    `[M]` int32 each: the number of symbols popped, the index of the
                        sequence pushed, the next state, and the number of symbols that must fit above the height after
                        popping so that the text can be completed
    push_offsets, push_symbols  `[P + 1]`, `[..]` int32: sequences of pushed symbols, the last one on top; sequence 0 is
                        empty
    max_configurations  1 for a deterministic automaton, otherwise the greatest number of configurations of a state
"""

from __future__ import annotations

from automata.arrays import IntArray
from tokenfst._native import PushdownTables

__all__ = ["ARRAYS", "SIZES", "PushdownTables", "arrays_of"]

# The numbers of the tables, in the order of the array `sizes` of a file.
SIZES = ("num_states", "num_symbols", "num_classes", "start", "max_pops", "max_configurations")
# The arrays of the tables.
ARRAYS = (
    "child_offsets",
    "child_symbol",
    "child_node",
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
    """Return the arrays of the tables by name."""
    return {name: getattr(tables, name) for name in ARRAYS}
