"""The arena: automata of every kind side by side on a device, and one program that steps a batch through them.

layout       where the tables of an automaton lie in its block
machine      what every kind of automaton is to the arena
machines     from automata over tokens to machines
comb         sparse rows in one table
mask_chunks  masks as chunks that are kept once
block        from a machine to its block
heap         the memory, and which parts of it are taken
sequences    where the sequences of a batch stand
parallel     parallel configurations
program      one step of a batch as tensor operations
budgets      how many tokens are still needed
on_cpu       the same steps in the native core
arena        Arena: add, drop, compact; masks and steps
"""

from decoding.arena.arena import FREE_SLOT, Arena
from decoding.arena.machines import can_hold
from decoding.arena.sequences import Sequences

__all__ = ["FREE_SLOT", "Arena", "Sequences", "can_hold"]
