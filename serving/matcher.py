"""Matcher: the state of one request in its automaton.

An engine passes the tokens that were written, takes some of them back, tries draft tokens, and asks for masks. States
of automata are values, so the history is a list of states: taking tokens back drops the last states, and trying tokens
changes nothing.

    accept(tokens)      continue the text with tokens; return False, and change nothing, if they are not allowed
    validate(tokens)    how many of the tokens the text could continue with
    rollback(number)    take the last tokens back
    fill(words)         write the mask of the next token
    forced_text()       the text that must come next
    position            the place of the text in its automaton, a value
    fill_masks(...)     the masks of a batch of positions, in one call without Python's global interpreter lock

Engines let a request name further tokens that stop it. Such a token ends a text where the text may end; elsewhere it is
masked, because the text would stop unfinished. If a text can continue only with stop tokens, then those stop tokens
that write something allowed are allowed too, because an engine has to draw some token; the text ends there, as the
request asks. End tokens are not allowed there, so the result shows which stop token ended the text.
"""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from automata.errors import LimitExceeded, NondeterministicGrammar, TooManyConfigurations
from tokenfst.batches import fill_bitmasks
from tokenfst.jump_forward import forced_text
from tokenfst.misuse import check_automaton
from tokenfst.packed_words import set_tokens
from tokenfst.token_automaton import TokenAutomaton

# What an automaton may raise in the middle of a text. The engine should then end the request instead of failing.
EXCEEDED: Final = (LimitExceeded, TooManyConfigurations, NondeterministicGrammar)

# The states of a lazy automaton differ from those of its pickled copy.
_NOT_PICKLED: Final = "cannot be pickled: pickle the automaton and the token ids, and feed the ids to a new Matcher"

# The number of rows that justify another thread: starting it takes about as long as filling them from cached masks.
_ROWS_A_THREAD: Final = 16


class Position(NamedTuple):
    """The place of a text in an automaton.

    Attributes:
        automaton: the automaton.
        state: one of its states.
        stops: tokens that end the text where it may end, in addition to the end tokens of the vocabulary.
    """

    automaton: TokenAutomaton
    state: Any
    stops: tuple[int, ...]

    def __copy__(self) -> Position:
        return self

    def __deepcopy__(self, memo: object) -> Position:
        """Return the position itself, which never changes."""
        return self

    def __reduce__(self) -> NoReturn:
        """Raise TypeError, with what to do instead."""
        raise TypeError(f"a position {_NOT_PICKLED}")


def fill_masks(positions: Mapping[int, Position], out: npt.NDArray[np.int32], max_threads: int = 1) -> list[int]:
    """Write the masks of some rows of `out`, leaving the other rows unchanged. Other Python threads can run meanwhile.

    Args:
        positions: the position of the text of each row.
        out: packed words, int32 `[B, W]`, at least as wide as each vocabulary; words past it are cleared.
        max_threads: the maximum number of threads, including the calling one; a small batch uses fewer.

    Returns:
        The rows whose automata exceeded their limits. These rows allow all tokens; the matcher later refuses a written
        token if it is not allowed.

    Raises:
        IndexError: `out` has no such row.
        TypeError: `out` has numbers of another type.
    """
    if out.dtype != np.int32:
        raise TypeError(f"masks are written into int32, not {out.dtype}")
    rows, wanted = sorted(positions), [positions[row] for row in sorted(positions)]
    if not rows:
        return []
    if rows[0] < 0 or rows[-1] >= len(out):
        raise IndexError(f"rows {rows[0]} to {rows[-1]} are asked for, and there are {len(out)}")
    together = out.flags.c_contiguous and rows[-1] - rows[0] == len(rows) - 1
    words = out[rows[0] : rows[-1] + 1] if together else np.empty((len(rows), out.shape[1]), np.int32)
    exceeded = _fill(wanted, words, min(max_threads, 1 + len(rows) // _ROWS_A_THREAD))
    if not together:
        out[rows] = words
    return [rows[at] for at in exceeded]


def _fill(positions: Sequence[Position], words: npt.NDArray[np.int32], num_threads: int) -> list[int]:
    """Write one mask into each row of words; return the rows whose automata exceeded their limits."""
    automata, states = [each.automaton for each in positions], [each.state for each in positions]
    exceeded = []
    try:
        fill_bitmasks(automata, states, words, num_threads=num_threads)
    except EXCEEDED:
        for row, (automaton, state, _) in enumerate(positions):
            try:
                automaton.fill_bitmask(state, words[row])
            except EXCEEDED:
                words[row] = -1
                exceeded.append(row)
    for row, position in enumerate(positions):
        if position.stops and row not in exceeded:
            _mark_stops(position, words[row])
    return exceeded


def _mark_stops(position: Position, words: npt.NDArray[np.int32]) -> None:
    """Allow the stop tokens where the text may end, and mask them elsewhere, unless that masks everything."""
    stops = [stop for stop in position.stops if stop < 32 * len(words)]
    if position.automaton.is_final(position.state):
        set_tokens(words, stops, allowed=True)
        return
    before = words.copy()
    set_tokens(words, stops, allowed=False)
    if not words.any():
        words[:] = before


class Matcher:
    """The state of one request.

    Attributes:
        automaton: the automaton, which requests may share.
        stops: the tokens that stop the request, in addition to the end tokens of the vocabulary; negative numbers are
            ignored.
    """

    automaton: TokenAutomaton
    stops: tuple[int, ...]

    def __init__(self, automaton: TokenAutomaton, stops: Iterable[int] = ()) -> None:
        check_automaton(automaton)
        self.automaton = automaton
        self.stops = tuple(sorted({stop for stop in stops if stop >= 0} - set(automaton.vocabulary.eos_ids)))
        self._states: list[Any] = [automaton.start]

    def __repr__(self) -> str:
        return f"<Matcher of {self.automaton!r}, {self.num_tokens:,} tokens>"

    @property
    def state(self) -> Any:
        """The state after all accepted tokens."""
        return self._states[-1]

    @property
    def position(self) -> Position:
        """The place of the text; a value, which does not change when the matcher continues."""
        return Position(self.automaton, self.state, self.stops)

    @property
    def num_tokens(self) -> int:
        """The number of accepted tokens."""
        return len(self._states) - 1

    @property
    def has_ended(self) -> bool:
        """Whether an end token or a stop token was accepted."""
        return bool(self.state == self.automaton.end_state)

    def accept(self, tokens: Iterable[int], *, as_text: bool = False) -> bool:
        """Continue the text with tokens; return False, and change nothing, if they are not allowed.

        Args:
            tokens: the tokens.
            as_text: whether stop tokens are read as the text that they write, instead of ending the text.

        Raises:
            LimitExceeded: a lazy automaton exceeds its limits; nothing has changed.
            TooManyConfigurations: the text has more derivations side by side than the automaton may carry; nothing has
                changed.
            NondeterministicGrammar: as for `TokenAutomaton.advance`; nothing has changed.
        """
        tokens = list(tokens)
        states = self._after(tokens, self.automaton.step if as_text else self._step)
        if len(states) < len(tokens):
            return False
        self._states += states
        return True

    def validate(self, tokens: Iterable[int]) -> int:
        """Return how many of the tokens the text may continue with; nothing changes.

        Raises:
            LimitExceeded, TooManyConfigurations, NondeterministicGrammar: as for `accept`.
        """
        return len(self._after(tokens, self._step))

    def _after(self, tokens: Iterable[int], step: Callable[[Any, int], Any]) -> list[Any]:
        """Return the states after tokens, up to the first one that is not allowed."""
        state, states = self.state, []
        for token in tokens:
            state = step(state, token)
            if state is None:
                break
            states.append(state)
        return states

    def _step(self, state: Any, token: int) -> Any:
        automaton = self.automaton
        if state == automaton.end_state:
            return state if token in automaton.vocabulary.eos_ids or token in self.stops else None
        if token in self.stops:
            return automaton.end_state if self._may_stop(state, token) else None
        return automaton.step(state, token)

    def _may_stop(self, state: Any, stop: int) -> bool:
        """Return whether the mask of a state allows a stop token."""
        if self.automaton.is_final(state):
            return True
        allowed = np.flatnonzero(self.automaton.mask(state))
        return stop in allowed and set(self.stops).issuperset(allowed.tolist())

    def rollback(self, number: int) -> None:
        """Take the last tokens back.

        Raises:
            ValueError: fewer tokens were accepted.
        """
        if not 0 <= number < len(self._states):
            raise ValueError(f"{number} tokens cannot be taken back: {self.num_tokens} were accepted")
        if number:
            del self._states[-number:]

    def reset(self) -> None:
        """Take all tokens back."""
        del self._states[1:]

    def fill(self, words: npt.NDArray[np.int32]) -> bool:
        """Write the mask of the next token, as packed words; words past the vocabulary are cleared.

        Args:
            words: int32 `[W]`, `W >= ceil(V / 32)`.

        Returns:
            False if the automaton exceeds its limits; all tokens are allowed then, as in `fill_masks`.

        Raises:
            ValueError: `words` is too short.
            TypeError: `words` is not a writable array of this kind.
        """
        return not _fill([self.position], words[None], 1)

    def forced_text(self, max_bytes: int = 256) -> str:
        """Return the whole characters that must come next (`tokenfst.jump_forward`), at most `max_bytes`.

        If a token has begun a character, nothing is forced, because the engine's text does not show that character yet.

        Raises:
            LimitExceeded, TooManyConfigurations, NondeterministicGrammar: as for `accept`.
        """
        reader = getincrementaldecoder("utf-8")()
        try:
            return reader.decode(forced_text(self.automaton, self.state, max_bytes))
        except UnicodeDecodeError:
            return ""

    def copy(self) -> Matcher:
        """Return an independent copy with the same state."""
        other = Matcher(self.automaton, self.stops)
        other._states = self._states.copy()
        return other

    __copy__ = copy

    def __deepcopy__(self, memo: object) -> Matcher:
        """Return a copy; the automaton, which any number of matchers may share, stays the same."""
        return self.copy()

    def __reduce__(self) -> NoReturn:
        """Raise TypeError, with what to do instead."""
        raise TypeError(f"a matcher {_NOT_PICKLED}")
