"""NativeAutomaton: what all automata over tokens have in common whose steps are the native core's.

The native object owns the tables. What users call at every step is the same for all kinds and is here; each kind adds
what only it has.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from automata.errors import TokenNotAllowed
from tokenfst.over_tokens import OverTokens, S


class Core(Protocol[S]):
    """The steps of a native automaton. A state of another automaton is a ValueError."""

    @property
    def num_bytes(self) -> int: ...

    def is_final(self, state: S, /) -> bool: ...

    def advance(self, state: S, token: int, /) -> S | None: ...

    def min_tokens(self, state: S, /) -> int: ...

    def fill_bitmask(self, state: S, out: npt.NDArray[np.int32], /) -> None: ...

    def fill_within(self, state: S, out: npt.NDArray[np.int32], remaining: int, /) -> None: ...


class NativeAutomaton(OverTokens[S]):
    """An exact automaton over tokens whose tables are a native object.

    Attributes:
        core: the native automaton.
    """

    core: Core[S]

    @property
    def nbytes(self) -> int:
        """Memory of the tables in bytes, without the vocabulary's, which all its automata share, and cached masks."""
        return self.core.num_bytes

    def is_final(self, state: S) -> bool:
        """Whether the text may end here.

        Raises:
            ValueError: the state is none of this automaton's, as of all that follow.
        """
        return self.core.is_final(state)

    def advance(self, state: S, token: int) -> S:
        """The state after one more token.

        Raises:
            TokenNotAllowed: the mask of `state` does not allow the token.
            TooManyConfigurations: a grammar's text has more derivations side by side than are carried.
            LimitExceeded: new states of a lazy automaton would take more memory than allowed, as of all that follow.
        """
        reached = self.core.advance(state, token)
        if reached is None:
            raise TokenNotAllowed(self._refusal(state, token))
        return reached

    def min_tokens(self, state: S) -> int:
        """The least number of tokens from a state to the end of the text, the end token counted."""
        return self.core.min_tokens(state)

    def fill_bitmask(self, state: S, out: npt.NDArray[np.int32], remaining: int | None = None) -> None:
        """Write the mask of a state as packed words; see `OverTokens.fill_bitmask`."""
        if remaining is None:
            self.core.fill_bitmask(state, out)
        else:
            self.core.fill_within(state, out, remaining)
