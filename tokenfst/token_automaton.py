"""TokenAutomaton: an exact automaton over the tokens of a vocabulary, the same interface for every constraint.

It accepts every tokenization of every text of its language and nothing else. There are no dead ends: a mask allows a
token if and only if the text can be completed after it.

    state          an opaque value, immutable and hashable; keep it to rewind or to branch
    mask           the tokens that a state allows; with a budget, those after which the text can be completed within it
    complete()     the same automaton with complete tables, which tensors, files and pictures need

The subclasses differ in their states and in what is computed in advance:

    LazyTokenAutomaton        computes masks when they are first needed             tokenfst.lazy
    FiniteTokenAutomaton      tables over states                                    tokenfst.finite
    CountedTokenAutomaton     tables over states and a register                     tokenfst.counted
    PushdownTokenAutomaton    tables over states and a stack                        tokenfst.pushdown
    CanonicalTokenAutomaton   only the tokenizations that the encoder produces      tokenfst.canonical
    WeightedTokenAutomaton    one of the above, with a cost for every token         tokenfst.weighted
    UniqueItemsTokenAutomaton one of the above, with a memory of array items        tokenfst.unique_items

Texts end within their budget, by induction: a state fits a budget if `min_tokens` is at most the budget. Before the
end, such a state allows a token, and every token that its mask with this budget allows leads to a state that fits the
budget less one. At the end `min_tokens` is 0: in `end_state`, and without end tokens wherever the text may end.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from math import inf
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from automata.copying import Shared
from automata.drawing import Drawing, shown
from automata.errors import AutomatonFileError, FstError, LimitExceeded, TokenNotAllowed
from automata.limits import DEFAULT_LIMITS, Cancellation, Limits, Work
from automata.openfst import Fst, SymbolTable
from automata.texts import bytes_or_none
from tokenfst.explanation.explanation import Explanation
from tokenfst.files import Array, Saved, write_file
from tokenfst.tokenizations import accepts_text
from tokenfst.vocabulary import Vocabulary

# Opaque, immutable and hashable.
State: TypeAlias = Any

# The greatest number of tokens that a message names.
_MAX_NAMED = 8


class Source(NamedTuple):
    """The arguments from which an automaton was compiled, for explanations; see `tokenfst.compile`."""

    constraint: Any
    terminals: Mapping[str, Iterable[int]]
    tokenization: Literal["any", "canonical"]


class TokenAutomaton(Shared, ABC):
    """An exact automaton over the tokens of a vocabulary.

    `tokenfst.compile` and `tokenfst.load_automaton` return one. It never changes, so threads may share it, and
    `copy.copy` and `copy.deepcopy` return it as it is.

    >>> import tokenfst
    >>> vocabulary = tokenfst.Vocabulary([b"a", b"b", b"ab", b""], eos_ids=3)
    >>> automaton = tokenfst.compile("(ab)+", vocabulary)
    >>> state = automaton.advance(automaton.start, 2)
    >>> automaton.mask(state).tolist()
    [True, False, True, True]
    >>> automaton.mask(state, remaining=2).tolist()
    [False, False, True, True]
    >>> automaton.is_final(state), automaton.min_tokens(state)
    (True, 1)

    Attributes:
        vocabulary: the tokens.
        start: the state before the first token.
        end_state: the state after an end token.
        at_text_start: whether the tokens begin a text; False if they continue one.
        source: what the automaton was compiled from; None if it was not compiled (but loaded from a file, for example).
    """

    vocabulary: Vocabulary
    start: Any
    at_text_start: bool
    source: Source | None = None
    _original: Self | None = None
    # Explains a prefix and a token; `tokenfst.explanation.explain`, which is above this module, registers it.
    _explained: ClassVar[Callable[[TokenAutomaton, Any, Any, Work], Explanation]]
    # Builds the automaton of an acceptor; `tokenfst.finite.from_fst`, which is above this module, registers it.
    _read_fst: ClassVar[Callable[[Fst, Vocabulary, SymbolTable | None, bool, Work], TokenAutomaton]]
    # Builds an automaton from its tables; `tokenfst.load_automaton`, which is above this module, registers it.
    _restored: ClassVar[Callable[[Saved, Vocabulary], TokenAutomaton]]
    # The reason why an automaton of this kind has no acceptor, for an error.
    _no_fst: ClassVar[str] = "has no acceptor over tokens"

    def __reduce__(self) -> tuple[object, ...]:
        """Return the tables of the complete automaton, as a file contains them, and the vocabulary.

        Raises:
            TypeError: the automaton has no tables, or they exceed the limits.
        """
        try:
            complete = self.complete()
            arrays = {name: np.ascontiguousarray(array) for name, array in complete.arrays().items()}
        except (AutomatonFileError, LimitExceeded) as error:
            raise TypeError(f"{error}: pickle the constraint in its place, and compile it again") from None
        return TokenAutomaton._restored, (Saved(complete._header(), arrays), self.vocabulary)

    def with_source(self, source: Source | None) -> Self:
        """Return the same automaton as one compiled from another constraint that has the same language. Both share all
        tables, masks and states."""
        found = object.__new__(type(self))
        found.__dict__.update(self.__dict__)
        found.source, found._original = source, self.shared
        return found

    @property
    def shared(self) -> Self:
        """The automaton that `with_source` made this one from, or this one itself. Automata for which it is the same
        share their states."""
        return self if self._original is None else self._original

    @property
    @abstractmethod
    def end_state(self) -> Any:
        """The state after an end token."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """The memory of the automaton in bytes, without its vocabulary.

        A lazy automaton grows as it is used, and its cached masks are counted. Those of complete tables are not.
        """

    @abstractmethod
    def is_final(self, state: State) -> bool:
        """Return whether the text may end in a state.

        Raises:
            ValueError, TypeError: the automaton has no such state, as for all methods that take a state. A state of
                another automaton is refused only if it is of another kind, or its numbers are none of this one's.
        """

    @abstractmethod
    def advance(self, state: State, token: int) -> Any:
        """Return the state after one more token.

        Raises:
            TokenNotAllowed: the mask of `state` does not allow the token.
            TooManyConfigurations: an ambiguous grammar has more configurations after this text than its limit allows.
            NondeterministicGrammar: a lazy automaton has met a place where a rule can be called and something else can
                be read, or the text can end.
            LimitExceeded: a lazy automaton has found more states than its limits allow, as for all methods below.
        """

    @abstractmethod
    def min_tokens(self, state: State) -> int:
        """Return the least number of tokens from a state to the end of the text, including the end token.

        It is 0 after the end token. If the vocabulary has no end token, none is counted. For arrays whose items must
        differ, the result is an upper bound. If an automaton is lazy and its tables are large, it is an upper bound
        until `complete` has made the tables. From every state with a bound above 0, some token leads to a state with a
        smaller bound.
        """

    @abstractmethod
    def fill_bitmask(self, state: State, out: npt.NDArray[np.int32], remaining: int | None = None) -> None:
        """Write the mask of a state as packed words: bit `i & 31` of word `i >> 5` is token i.

        Args:
            state: the state.
            out: int32 `[W]`, `W >= ceil(V / 32)`; words past the vocabulary are cleared. For a tensor on the CPU, pass
                `tensor.numpy()`, which shares its memory.
            remaining: the budget, as for `mask`.

        Raises:
            ValueError: `out` is too short.
            TypeError: `out` is not a writable array of this kind.
        """

    def mask(self, state: State, remaining: int | None = None) -> npt.NDArray[np.bool_]:
        """Return whether each token is allowed in a state, `[V]` bool.

        End tokens are allowed exactly in the states where the text may end, and again in `end_state`.

        Args:
            state: the state.
            remaining: the budget, the number of tokens that may still be written, including the next one and the end
                token; None for no budget. With a budget, only tokens are allowed after which the text can be completed
                within it; none if `min_tokens(state)` is greater, or if the budget is 0.
        """
        words = np.empty_like(self.vocabulary.all_words)
        self.fill_bitmask(state, words, remaining)
        bits = np.unpackbits(words.view(np.uint8), count=len(self.vocabulary), bitorder="little")
        return bits.view(np.bool_)

    # Costs

    @property
    def is_weighted(self) -> bool:
        """Whether tokens have costs, because the constraint has weights."""
        return False

    @property
    def initial_cost(self) -> float:
        """The cost of every text before its first token."""
        return 0.0

    def costs(self, state: State) -> npt.NDArray[np.float32]:
        """Return the cost of each token in a state, `[V]` float32: 0 without weights, infinity if it is not allowed.

        Subtract the costs from the logits. `initial_cost` and the costs of the tokens of a text, the end token
        included, add up to its `weight`.
        """
        found = np.where(self.mask(state), np.float32(0), np.float32(inf))
        tokens, costs = self.token_costs(state)
        found[tokens] += costs
        return found

    def token_costs(self, state: State) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
        """Return the tokens whose cost in a state is not 0, and their costs, `[n]` each.

        Most tokens cost nothing in most states. Some of the tokens returned may not be allowed.
        """
        return np.zeros(0, np.int32), np.zeros(0, np.float32)

    def weight(self, tokens: Iterable[int] | str | bytes) -> float:
        """Return the cost of a whole text, infinity if it is not accepted.

        Args:
            tokens: token ids, with or without a final end token; or a text, whose cost does not depend on its tokens.
                If the weights belong to tokens (`from_fst`), the cost of a text is the least cost of its tokenizations.
        """
        return 0.0 if self.accepts(tokens) else inf

    def fits(self, state: State, remaining: int) -> bool:
        """Return whether `min_tokens(state)` is at most `remaining`, that is, whether this many tokens suffice.

        After the end token no token is needed, so a budget of 0 is enough.
        """
        return self.min_tokens(state) <= remaining

    def accepts(self, tokens: Iterable[int] | str | bytes) -> bool:
        """Return whether tokens write a whole text of the language; a final end token is optional.

        Args:
            tokens: token ids; or a text, which is accepted if the automaton accepts some tokenization of it, without
                tokens that write nothing.
        """
        if isinstance(tokens, str | bytes):
            written = bytes_or_none(tokens)
            return written is not None and accepts_text(self, written)
        ids, ends = list(tokens), self.vocabulary.eos_ids
        if ids and ids[-1] in ends:
            ids.pop()
        state = self.start
        for token in ids:
            state = None if token in ends else self.step(state, token)
            if state is None:
                return False
        return self.is_final(state)

    def _begins(self, state: State) -> bool:
        """Return whether the next token begins a text; a decoder may then treat it differently."""
        return bool(self.at_text_start and state == self.start)

    def step(self, state: State, token: int) -> Any:
        """Return the state after one more token, None if the token is not allowed."""
        try:
            return self.advance(state, token)
        except TokenNotAllowed:
            return None

    def text(self, token_ids: Iterable[int]) -> bytes:
        """Return the text that tokens write from the start of this automaton, in bytes; see `at_text_start`.

        Raises:
            VocabularyError: an id is outside the vocabulary.
        """
        return self.vocabulary.text(token_ids, at_text_start=self.at_text_start)

    def explain(
        self,
        prefix: str | bytes | Iterable[int] = b"",
        token: int | str | bytes | None = None,
        *,
        state: State | None = None,
        limits: Limits = DEFAULT_LIMITS,
        cancellation: Cancellation | None = None,
    ) -> Explanation:
        """Explain what may come next, or why a token is refused: the byte at which it fails, what was expected there,
        the place in the constraint, and the nearest allowed tokens.

        >>> import tokenfst
        >>> vocabulary = tokenfst.Vocabulary([b"a", b"b", b"ab", b""], eos_ids=3)
        >>> explanation = tokenfst.compile("(ab)+", vocabulary).explain([2], "b")
        >>> explanation.allowed, explanation.token_offset, explanation.expected, explanation.nearest[0].text
        (False, 0, frozenset({97}), b'a')

        Args:
            prefix: the text so far: token ids, or a text. If one of its tokens is refused, that token is explained.
            token: the id of a token, its text, or the name of a special token; None to ask what may come next.
            state: a state of this automaton, instead of a prefix; only for automata that know how a state was reached
                (`LazyTokenAutomaton`).
            limits: the time, memory and states that the explanation may take. The first explanation compiles the
                constraint over bytes.
            cancellation: lets another thread stop the explanation.

        Raises:
            ValueError: the automaton does not know its constraint, or how the state was reached; both a prefix and a
                state are given; no token writes the text `token`; or the automaton is canonical and the prefix is a
                text.
            LimitExceeded: the explanation exceeds a limit.
            Cancelled: another thread cancelled the explanation.
        """
        if state is not None and not (isinstance(prefix, str | bytes) and not prefix):
            raise ValueError("a place is given by a prefix or by a state, and not by both")
        with Work(limits, cancellation).current() as work:
            return type(self)._explained(self, prefix if state is None else self.tokens_to(state), token, work)

    def tokens_to(self, state: State) -> list[int]:
        """Return tokens that lead from the start to a state.

        Raises:
            ValueError: the automaton does not record these tokens.
        """
        if state == self.start:
            return []
        raise ValueError(f"a {type(self).__name__} does not record which tokens lead to a state: give the tokens")

    # Tables

    def complete(self, *, limits: Limits | None = None, cancellation: Cancellation | None = None) -> TokenAutomaton:
        """Return the same automaton with complete tables; `self` if it is complete. The result has other states.

        Args:
            limits: the time, memory and states that the tables may take; by default the limits of the compilation.
            cancellation: lets another thread stop the computation.

        Raises:
            LimitExceeded: the tables exceed a limit, which the message names.
            NondeterministicGrammar: a constraint composed of several has no tables, because two parts begin alike.
            Cancelled: another thread cancelled the computation.
        """
        return self

    def arrays(self) -> dict[str, Array]:
        """Return the tables by name, as a file stores them. Tables that the automaton itself reads cannot be changed.

        Raises:
            LimitExceeded: the tables exceed the limits.
            AutomatonFileError: this kind of automaton has no tables of its own.
        """
        complete = self.complete()
        if complete is self:
            raise AutomatonFileError(f"a {type(self).__name__} has no tables of its own")
        return complete.arrays()

    @abstractmethod
    def key(self, state: State) -> tuple[int, ...]:
        """Return a key for a state; it is the same in every automaton of the same constraint and vocabulary.

        States that differ only in a count, or only in the lower part of their stacks, have equal keys; all other states
        have different keys. Statistics by state use these keys.

        Raises:
            LimitExceeded: the tables exceed the limits.
        """

    def draw(
        self,
        *,
        title: str | None = None,
        around: int | None = None,
        radius: int = 2,
        path: Iterable[int] | None = None,
    ) -> Drawing:
        """Return a picture of the complete automaton.

        Args:
            title: a line above the picture.
            around: draw only the states near this one, given by its number in a picture; None draws all states.
            radius: the greatest distance from `around`, in tokens in either direction.
            path: token ids whose path through the states is highlighted.

        Raises:
            LimitExceeded: the picture has too many states, or the tables exceed the limits.
            TokenNotAllowed: no text of the language begins with `path`.
            ValueError: there is no state `around`, or the radius is negative.
        """
        complete = self.complete()
        if complete is self:
            raise LimitExceeded(f"a {type(self).__name__} has no tables of states, which a picture shows")
        return complete.draw(title=title, around=around, radius=radius, path=path)

    def states_along(self, tokens: Iterable[int]) -> list[Any]:
        """Return the states that a sequence of tokens passes through, beginning with the start.

        Raises:
            TokenNotAllowed: a token is not allowed after those before it.
        """
        states = [self.start]
        for token in tokens:
            states.append(self.advance(states[-1], token))
        return states

    def _repr_html_(self) -> str:
        """Return the HTML that a notebook shows: a summary, and some tokens that may begin a text."""
        first = np.flatnonzero(self.mask(self.start))
        names = ", ".join(self.vocabulary.names[token] for token in first[:_MAX_NAMED].tolist())
        more = f" and {len(first) - _MAX_NAMED:,} more" if len(first) > _MAX_NAMED else ""
        return shown(repr(self)[1:-1], f"begins with {names}{more}", self._picture())

    def _picture(self) -> Drawing | None:
        """Return a picture for a notebook; None if it would take long."""
        return None

    def fst(self) -> Fst:
        """Return the complete automaton as an OpenFst acceptor over tokens, a `pynini.Fst`.

        Token i has label i + 1, and a symbol table names the tokens (`Vocabulary.names`). A state is final if the text
        may end there; there are no arcs over end tokens. So the acceptor is the one that OpenFst makes from the
        detokenizer and the constraint, `pynini.determinize(pynini.project(detokenizer @ constraint,
        "input").rmepsilon())`. `from_fst` reads it.

        >>> import tokenfst
        >>> vocabulary = tokenfst.Vocabulary([b"a", b"b", b"ab", b""], eos_ids=3)
        >>> fst = tokenfst.compile("ab", vocabulary).fst()
        >>> sorted(fst.paths(output_token_type=fst.output_symbols()).ostrings())
        ['a b', 'ab']

        Raises:
            FstError: this kind of automaton has no finite acceptor, because it has a stack, or has no small one.
            LimitExceeded: the FST's arcs, one for each token, take more than `DEFAULT_LIMITS.memory`, or the tables
                exceed the limits.
        """
        complete = self.complete()
        if complete is self:
            raise FstError(f"a {type(self).__name__} {self._no_fst}")
        return complete.fst()

    @staticmethod
    def from_fst(
        fst: Fst,
        vocabulary: Vocabulary,
        *,
        symbols: SymbolTable | None = None,
        at_text_start: bool = False,
        limits: Limits = DEFAULT_LIMITS,
        cancellation: Cancellation | None = None,
    ) -> TokenAutomaton:
        """Make an automaton from an acceptor over tokens, such as a composition made with OpenFst.

        >>> import pynini, tokenfst
        >>> vocabulary = tokenfst.Vocabulary([b"a", b"b", b"ab", b""], eos_ids=3)
        >>> fst = tokenfst.compile("(ab)*", vocabulary).fst()
        >>> twice = pynini.accep("a b ab", token_type=fst.output_symbols())
        >>> automaton = tokenfst.TokenAutomaton.from_fst(pynini.intersect(fst, twice), vocabulary)
        >>> automaton.accepts([0, 1, 2]), automaton.accepts([2, 2])
        (True, False)

        Args:
            fst: an acceptor from pynini or `pywrapfst`; it may be nondeterministic and have epsilon arcs. In its final
                states a text may end, with an end token.
            vocabulary: the tokens.
            symbols: the names of the labels, as in `Vocabulary.names`; by default the acceptor's own symbol table. If
                there is no table, token i has label i + 1.
            at_text_start: whether the tokens begin a text; False if they continue one.
            limits: the time, memory and states that the construction may take.
            cancellation: lets another thread stop the construction.

        Raises:
            FstError: `fst` is a transducer, a label does not name a token, an arc reads an end token, or a weight is
                not a number.
            ExpressionError: a cycle of epsilon arcs lowers the cost without bound.
            EmptyLanguage: the acceptor accepts nothing.
            LimitExceeded: the construction exceeds a limit, which the message names.
            Cancelled: another thread cancelled the construction.
            TypeError: `fst` is not an FST.
        """
        with Work(limits, cancellation).current() as work:
            return TokenAutomaton._read_fst(fst, vocabulary, symbols, at_text_start, work)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the complete automaton to a safetensors file; `tokenfst.load_automaton` reads it.

        Raises:
            LimitExceeded: the tables exceed the limits.
            AutomatonFileError: this kind of automaton cannot be saved.
            OSError: the file cannot be written.
        """
        complete = self.complete()
        write_file(Path(path), complete.vocabulary, complete.arrays(), **complete._header())

    def _header(self) -> dict[str, str]:
        """Return the header of a file, without the vocabulary: the kind of automaton and its settings."""
        return {}

    def _refusal(self, state: State, token: int) -> TokenNotAllowed:
        """Return the error for a token that is not allowed; it names some tokens that are."""
        if not 0 <= token < len(self.vocabulary):
            return TokenNotAllowed(f"token {token} is outside the vocabulary of {len(self.vocabulary):,} tokens")
        tokens = self.vocabulary.tokens
        allowed = np.flatnonzero(self.mask(state)).tolist()
        names = ["the end" if one in self.vocabulary.eos_ids else repr(tokens[one]) for one in allowed[:_MAX_NAMED]]
        more = f" and {len(allowed) - _MAX_NAMED:,} more" if len(allowed) > _MAX_NAMED else ""
        refused = "the end of the text" if token in self.vocabulary.eos_ids else f"token {token} ({tokens[token]!r})"
        return TokenNotAllowed(f"{refused} is not allowed{self._where(state)}; allowed are {', '.join(names)}{more}")

    def _where(self, state: State) -> str:
        """Return " after ..." with a text that leads to a state, or "" if none is known."""
        return ""
