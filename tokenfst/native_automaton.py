"""NativeTokenAutomaton: the base class of most kinds of token automata, which the native core implements."""

from __future__ import annotations

from operator import index
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from tokenfst.token_automaton import State, TokenAutomaton
from tokenfst.vocabulary.arguments import shown

# Stands for no budget: `kUnlimited` of the native core, which takes any other number as a budget.
UNLIMITED: Final = 1 << 60


def core_budget(remaining: int) -> int:
    """Return a budget in the range that the native core accepts."""
    return min(max(index(remaining), 0), UNLIMITED)


class Core(Protocol):
    """An automaton of the native core; its methods raise ValueError for a state of another automaton."""

    @property
    def num_bytes(self) -> int: ...

    def is_final(self, state: Any, /) -> bool: ...

    def advance(self, state: Any, token: int, /) -> Any: ...

    def min_tokens(self, state: Any, /) -> int: ...

    def fill_bitmask(self, state: Any, out: npt.NDArray[np.int32], /) -> None: ...

    def fill_within(self, state: Any, out: npt.NDArray[np.int32], remaining: int, /) -> Any: ...


class NativeTokenAutomaton(TokenAutomaton):
    """An automaton over tokens that is implemented by the native core.

    Attributes:
        core: the automaton of the native core.
    """

    core: Core

    @property
    def nbytes(self) -> int:
        """The memory of the automaton in bytes; see `TokenAutomaton.nbytes`."""
        return self.core.num_bytes

    def is_final(self, state: State) -> bool:
        """Return whether the text may end in a state; see `TokenAutomaton.is_final`."""
        try:
            return self.core.is_final(state)
        except TypeError as error:
            raise self._refused(state, error) from None

    def advance(self, state: State, token: int) -> Any:
        """Return the state after one more token; see `TokenAutomaton.advance`."""
        try:
            reached = self.core.advance(state, token)
        except TypeError as error:
            raise self._refused(state, error) from None
        if reached is None:
            raise self._refusal(state, token)
        return reached

    def step(self, state: State, token: int) -> Any:
        try:
            return self.core.advance(state, token)
        except TypeError as error:
            raise self._refused(state, error) from None

    def min_tokens(self, state: State) -> int:
        """Return the least number of tokens to the end; see `TokenAutomaton.min_tokens`."""
        try:
            return self.core.min_tokens(state)
        except TypeError as error:
            raise self._refused(state, error) from None

    def fill_bitmask(self, state: State, out: npt.NDArray[np.int32], remaining: int | None = None) -> None:
        """Write the mask of a state as packed words; see `TokenAutomaton.fill_bitmask`."""
        try:
            if remaining is None:
                self.core.fill_bitmask(state, out)
            else:
                self._fill_within(state, out, remaining)
        except TypeError as error:
            raise self._refused(state, error) from None

    def _fill_within(self, state: State, out: npt.NDArray[np.int32], remaining: int) -> None:
        self.core.fill_within(state, out, core_budget(remaining))

    def _refused(self, state: object, error: TypeError) -> TypeError:
        """Return the error for arguments that the native core has refused; if the state is to blame, it says so."""
        is_state = hasattr(state, "__index__") if isinstance(self.start, int) else isinstance(state, type(self.start))
        return error if is_state else TypeError(f"{shown(state)} is not a state of this automaton")
