"""The arena: automata of every kind side by side on a device, and one program that steps a batch through them.

An automaton is converted to a machine, the machine to one block of words, and the block is copied into the memory:

    from_automata                   automaton -> machine (from_counted, from_pushdown, pushdown_rows)
    machine                         the form of tables that is common to all kinds of automata
    block, comb, mask_chunks        machine -> block (layout: the structure of a block)
    heap                            the memory, and the places of blocks in it

The states of a batch are stepped and masked by tensor operations, by the native core, or by kernels:

    sequences                       the states of a batch
    program, parallel               one step of a batch as tensor operations; parallel configurations
    budgets                         the least number of tokens that are still needed
    on_cpu                          the same steps in the native core
    on_gpu, kernels                 the same steps as kernels for a GPU
    arena, checks, bits             Arena, the user interface; its checks; packed masks

In this package, a row is a row of the tables; the rows of a batch are called sequences.
"""

from decoding.arena.arena import FREE_SLOT, Arena
from decoding.arena.from_automata import tables_for_arena
from decoding.arena.sequences import Sequences

__all__ = ["FREE_SLOT", "Arena", "Sequences", "tables_for_arena"]
