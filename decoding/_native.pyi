from typing import overload

import automata._native
import numpy
import numpy.typing
from numpy.typing import NDArray
import tokenfst._native


class ArenaMemory:
    """The memory of an arena on the CPU, as its steps read it."""

    def __init__(self, words: object, places: object, sizes: object, configurations: int, stack_size: int, begin: int, end: int) -> None:
        """
        Keep the words of all blocks and, by slot, the place and the size of each block in words; size 0 if there is none.
        """

    def check(self, arg0: numpy.typing.NDArray[numpy.int64], arg1: numpy.typing.NDArray[numpy.int64], arg2: numpy.typing.NDArray[numpy.int64], arg3: numpy.typing.NDArray[numpy.int64], arg4: numpy.typing.NDArray[numpy.int32], /) -> None:
        """
        Raise ValueError unless the slots, rows, counts and heights of all sequences are valid.
        """

    def advance(self, arg0: numpy.typing.NDArray[numpy.int64], arg1: numpy.typing.NDArray[numpy.int64], arg2: numpy.typing.NDArray[numpy.int64], arg3: numpy.typing.NDArray[numpy.int64], arg4: numpy.typing.NDArray[numpy.int32], arg5: numpy.typing.NDArray[numpy.int64], arg6: numpy.typing.NDArray[numpy.int64], arg7: numpy.typing.NDArray[numpy.int64], arg8: numpy.typing.NDArray[numpy.int64], arg9: numpy.typing.NDArray[numpy.int32], /) -> None:
        """
        Write the rows, counts, heights and stacks of sequences after one more token.
        """

    def write_masks(self, arg0: numpy.typing.NDArray[numpy.int64], arg1: numpy.typing.NDArray[numpy.int64], arg2: numpy.typing.NDArray[numpy.int32], /) -> None:
        """Write the packed masks of sequences, in whole chunks."""

    @overload
    def mask_logits(self, arg0: numpy.typing.NDArray[numpy.int64], arg1: numpy.typing.NDArray[numpy.int64], arg2: int, arg3: int, arg4: numpy.typing.NDArray[numpy.int16], /) -> None:
        """
        Write minus infinity over the logits of forbidden tokens, and subtract the costs of the others.
        """

    @overload
    def mask_logits(self, arg0: numpy.typing.NDArray[numpy.int64], arg1: numpy.typing.NDArray[numpy.int64], arg2: int, arg3: int, arg4: numpy.typing.NDArray[numpy.int32], /) -> None: ...

    @overload
    def mask_logits(self, arg0: numpy.typing.NDArray[numpy.int64], arg1: numpy.typing.NDArray[numpy.int64], arg2: int, arg3: int, arg4: numpy.typing.NDArray[numpy.int64], /) -> None: ...

    @overload
    def mask_logits_within(self, arg0: numpy.typing.NDArray[numpy.int64], arg1: numpy.typing.NDArray[numpy.int64], arg2: numpy.typing.NDArray[numpy.int64], arg3: numpy.typing.NDArray[numpy.int64], arg4: numpy.typing.NDArray[numpy.int32], arg5: numpy.typing.NDArray[numpy.int64], arg6: int, arg7: int, arg8: numpy.typing.NDArray[numpy.int16], /) -> None:
        """Do the same as `mask_logits`, within budgets of tokens."""

    @overload
    def mask_logits_within(self, arg0: numpy.typing.NDArray[numpy.int64], arg1: numpy.typing.NDArray[numpy.int64], arg2: numpy.typing.NDArray[numpy.int64], arg3: numpy.typing.NDArray[numpy.int64], arg4: numpy.typing.NDArray[numpy.int32], arg5: numpy.typing.NDArray[numpy.int64], arg6: int, arg7: int, arg8: numpy.typing.NDArray[numpy.int32], /) -> None: ...

    @overload
    def mask_logits_within(self, arg0: numpy.typing.NDArray[numpy.int64], arg1: numpy.typing.NDArray[numpy.int64], arg2: numpy.typing.NDArray[numpy.int64], arg3: numpy.typing.NDArray[numpy.int64], arg4: numpy.typing.NDArray[numpy.int32], arg5: numpy.typing.NDArray[numpy.int64], arg6: int, arg7: int, arg8: numpy.typing.NDArray[numpy.int64], /) -> None: ...

def comb(offsets: numpy.typing.NDArray[numpy.int32], edges: numpy.typing.NDArray[numpy.int32], first: numpy.typing.NDArray[numpy.int32], num_classes: int, budget: automata._native.Budget) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32]]:
    """
    Return, for each row, where its family begins in the comb and the first row of the family, `[E, 2]`; and the entries of the comb, each a row and an outcome, `[n, 2]`.
    """

def row_masks(offsets: numpy.typing.NDArray[numpy.int32], edges: numpy.typing.NDArray[numpy.int32], first: numpy.typing.NDArray[numpy.int32], token_class: numpy.typing.NDArray[numpy.int32], num_classes: int, begin: int, end: int, budget: automata._native.Budget) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int32]]:
    """
    Return the mask of each row, the chunks of each mask, the chunks, and the only token that each row allows (-1 if it allows several, -2 if none).
    """

def pushdown_rows(tables: tokenfst._native.PushdownTables, budget: automata._native.Budget) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int32], int, int]:
    """
    Return the rows of an automaton with a stack: rows_at, cuts_at, num_cuts, node_rows, cuts, offsets, edges, first, outcomes, parts, at_once.
    """
