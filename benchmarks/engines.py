"""The engines that the benchmarks compare, with a common interface.

Each engine prepares a vocabulary once. `compile` turns a pattern into the object that the engine steps through. `run`
follows the tokens of a text through this object from the start and fills the mask at every position, including the one
after the last token; `masks` returns these masks. No engine keeps a compiled pattern for a later call of `compile`.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

import tokenfst
from tokenfst import Vocabulary


class Engine(Protocol):
    """The interface that the benchmarks use."""

    name: str

    def compile(self, pattern: str) -> Any:
        """Return the object that the engine makes of a pattern."""

    def run(self, compiled: Any, token_ids: Sequence[int]) -> None:
        """Fill every mask along a text, and advance by each of its tokens."""

    def masks(self, compiled: Any, token_ids: Sequence[int]) -> list[npt.NDArray[np.bool_]]:
        """Return the masks along a text, `[V]` each, to compare engines."""


def _unpacked(words: Any, size: int) -> npt.NDArray[np.bool_]:
    array = np.ascontiguousarray(np.asarray(words).reshape(-1))
    return np.unpackbits(array.view(np.uint8), count=size, bitorder="little").astype(np.bool_)


class TokenFst:
    """This project."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.name = f"tokenfst {tokenfst.__version__}"
        self.vocabulary = vocabulary
        self.words = np.zeros(-(-len(vocabulary) // 32), np.int32)

    def compile(self, pattern: str) -> tokenfst.TokenAutomaton:
        automaton = tokenfst.compile(pattern, self.vocabulary)
        # Asking for the size computes nothing: a lazy automaton makes masks and tables when they are first needed.
        assert automaton.nbytes
        return automaton

    def run(self, compiled: tokenfst.TokenAutomaton, token_ids: Sequence[int]) -> None:
        words, state = self.words, compiled.start
        for token in token_ids:
            compiled.fill_bitmask(state, words)
            state = compiled.advance(state, token)
        compiled.fill_bitmask(state, words)

    def masks(self, compiled: tokenfst.TokenAutomaton, token_ids: Sequence[int]) -> list[npt.NDArray[np.bool_]]:
        state, found = compiled.start, [compiled.mask(compiled.start)]
        for token in token_ids:
            state = compiled.advance(state, token)
            found.append(compiled.mask(state))
        return found


class XGrammar:
    """XGrammar, with one thread and without its cache of compiled grammars."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        import xgrammar

        self.name = f"xgrammar {version('xgrammar')}"
        self.xgrammar = xgrammar
        self.size = len(vocabulary)
        info = xgrammar.TokenizerInfo(
            list(vocabulary.tokens), vocab_type=xgrammar.VocabType.RAW, stop_token_ids=list(vocabulary.eos_ids)
        )
        self.compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)
        self.words = xgrammar.allocate_token_bitmask(1, self.size)

    def compile(self, pattern: str) -> Any:
        return self.compiler.compile_regex(pattern)

    def run(self, compiled: Any, token_ids: Sequence[int]) -> None:
        matcher, words = self.xgrammar.GrammarMatcher(compiled), self.words
        for token in token_ids:
            matcher.fill_next_token_bitmask(words)
            matcher.accept_token(token)
        matcher.fill_next_token_bitmask(words)

    def masks(self, compiled: Any, token_ids: Sequence[int]) -> list[npt.NDArray[np.bool_]]:
        matcher, found = self.xgrammar.GrammarMatcher(compiled), []
        for token in [*token_ids, None]:
            # False means that every token is allowed and the mask need not be applied.
            if not matcher.fill_next_token_bitmask(self.words):
                self.words.fill_(-1)
            found.append(_unpacked(self.words, self.size))
            if token is not None and not matcher.accept_token(token):
                raise ValueError(f"{self.name} refused token {token}")
        return found


class Greedy:
    """A tokenizer that takes the longest token at each position, for llguidance and for the texts of the benchmarks."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.ids = {token: token_id for token_id, token in reversed(list(enumerate(vocabulary.tokens))) if token}
        # The length of the longest token that begins with the same two bytes, because long texts are tokenized often.
        self.longest: dict[bytes, int] = {}
        for token in self.ids:
            self.longest[token[:2]] = max(self.longest.get(token[:2], 1), len(token))
        self.eos_token_id = vocabulary.eos_ids[0]
        self.bos_token_id = None
        self.special_token_ids = [token_id for token_id, token in enumerate(vocabulary.tokens) if not token]
        # Every token needs bytes, so a token that writes nothing gets a name.
        self.tokens = [token or f"<|{token_id}|>".encode() for token_id, token in enumerate(vocabulary.tokens)]

    def __call__(self, text: str | bytes) -> list[int]:
        data, place, found = text.encode() if isinstance(text, str) else text, 0, []
        while place < len(data):
            longest = self.longest.get(data[place : place + 2], 1)
            size = next(n for n in range(longest, 0, -1) if data[place : place + n] in self.ids)
            found.append(self.ids[data[place : place + size]])
            place += size
        return found


def tokenize(vocabulary: Vocabulary, text: str) -> list[int]:
    """Return the tokens of a text, the longest at each position."""
    return Greedy(vocabulary)(text)


class LLGuidance:
    """llguidance, with the slices of the vocabulary that it prepares by default.

    `run` and `masks` advance the compiled matcher, so each text needs a new one or a copy.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        import llguidance
        import llguidance.numpy

        self.name = f"llguidance {version('llguidance')}"
        self.module = llguidance
        self.size = len(vocabulary)
        self.tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(Greedy(vocabulary)))
        self.words = llguidance.numpy.allocate_token_bitmask(1, self.tokenizer.vocab_size)

    def compile(self, pattern: str) -> Any:
        return self.module.LLMatcher(self.tokenizer, self.module.LLMatcher.grammar_from_regex(pattern))

    def run(self, compiled: Any, token_ids: Sequence[int]) -> None:
        fill, words = self.module.numpy.fill_next_token_bitmask, self.words
        for token in token_ids:
            fill(compiled, words)
            compiled.consume_token(token)
        fill(compiled, words)

    def masks(self, compiled: Any, token_ids: Sequence[int]) -> list[npt.NDArray[np.bool_]]:
        found = []
        for token in [*token_ids, None]:
            self.module.numpy.fill_next_token_bitmask(compiled, self.words)
            found.append(_unpacked(self.words, self.size))
            if token is not None and not compiled.consume_token(token):
                raise ValueError(f"{self.name} refused token {token}: {compiled.get_error()}")
        return found


class Outlines:
    """outlines-core, which builds an index over the whole vocabulary when it compiles a pattern."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        import outlines_core

        self.name = f"outlines-core {version('outlines-core')}"
        self.module = outlines_core
        self.size = len(vocabulary)
        ids: dict[bytes, list[int]] = {}
        for token_id, token in enumerate(vocabulary.tokens):
            if token:
                ids.setdefault(token, []).append(token_id)
        self.vocabulary = outlines_core.Vocabulary(vocabulary.eos_ids[0], ids)

    def compile(self, pattern: str) -> Any:
        return self.module.Index(pattern, self.vocabulary)

    def run(self, compiled: Any, token_ids: Sequence[int]) -> None:
        guide = self.module.Guide(compiled)
        for token in token_ids:
            guide.get_tokens()
            guide.advance(token)
        guide.get_tokens()

    def masks(self, compiled: Any, token_ids: Sequence[int]) -> list[npt.NDArray[np.bool_]]:
        guide, found = self.module.Guide(compiled), []
        for token in [*token_ids, None]:
            mask = np.zeros(self.size, np.bool_)
            mask[guide.get_tokens()] = True
            found.append(mask)
            if token is not None:
                guide.advance(token)
        return found
