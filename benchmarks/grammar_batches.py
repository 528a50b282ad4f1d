"""Step many texts together with each engine's own functions: a mask for each text, then a token for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import torch
from grammar_engines import LLGuidanceGrammar, TokenFstGrammar, XGrammarGrammar

from decoding.arena import Arena


class Batch(Protocol):
    """Texts that are stepped together."""

    def masks(self) -> None:
        """Compute the masks of all texts, as packed words `[B, W]`."""

    def advance(self, tokens: list[int]) -> None:
        """Advance each text by its token."""


class InArena:
    """This project's arena, on the CPU."""

    def __init__(self, engine: TokenFstGrammar, compiled: Any, rows: Sequence[Sequence[int]]) -> None:
        self.arena = Arena.of([compiled])
        self.at = self.arena.starts([1] * len(rows))

    def masks(self) -> None:
        self.arena.bitmask(self.at)

    def advance(self, tokens: list[int]) -> None:
        self.at = self.arena.advance(self.at, torch.tensor(tokens))


class Loop:
    """This project's automaton, in a loop over the texts."""

    def __init__(self, engine: TokenFstGrammar, compiled: Any, rows: Sequence[Sequence[int]]) -> None:
        self.automaton = compiled
        self.states = [compiled.start for _ in rows]
        self.words = np.zeros((len(rows), engine.words.size), np.int32)

    def masks(self) -> None:
        fill = self.automaton.fill_bitmask
        for state, words in zip(self.states, self.words, strict=True):
            fill(state, words)

    def advance(self, tokens: list[int]) -> None:
        advance = self.automaton.advance
        self.states = [advance(state, token) for state, token in zip(self.states, tokens, strict=True)]


class XGrammarBatch:
    """XGrammar, with its functions for batches."""

    def __init__(self, engine: XGrammarGrammar, compiled: Any, rows: Sequence[Sequence[int]]) -> None:
        module = engine.xgrammar
        self.batch = module.BatchGrammarMatcher(max_threads=1)
        self.matchers = [module.GrammarMatcher(compiled) for _ in rows]
        self.words = module.allocate_token_bitmask(len(rows), engine.size)

    def masks(self) -> None:
        self.batch.batch_fill_next_token_bitmask(self.matchers, self.words)

    def advance(self, tokens: list[int]) -> None:
        if not all(self.batch.batch_accept_token(self.matchers, tokens)):
            raise ValueError("XGrammar refused a token")


class LLGuidanceBatch:
    """llguidance, with its functions for batches."""

    def __init__(self, engine: LLGuidanceGrammar, compiled: Any, rows: Sequence[Sequence[int]]) -> None:
        self.module = engine.module
        self.executor = engine.module.LLExecutor(1)
        self.matchers = [engine.fresh(compiled) for _ in rows]
        self.words = engine.module.numpy.allocate_token_bitmask(len(rows), engine.tokenizer.vocab_size)

    def masks(self) -> None:
        places = list(zip(self.matchers, range(len(self.matchers)), strict=True))
        self.module.numpy.fill_next_token_bitmask_par(self.executor, places, self.words)

    def advance(self, tokens: list[int]) -> None:
        pairs = list(zip(self.matchers, tokens, strict=True))
        if not all(self.module.numpy.consume_token_par(self.executor, pairs)):
            raise ValueError("llguidance refused a token")


# The classes that step a batch, by engine. Their keys are suffixes of the columns "batch B" of `grammars.py`.
BATCHES: dict[type[Any], dict[str, Callable[..., Batch]]] = {
    TokenFstGrammar: {"": InArena, " loop": Loop},
    XGrammarGrammar: {"": XGrammarBatch},
    LLGuidanceGrammar: {"": LLGuidanceBatch},
}
