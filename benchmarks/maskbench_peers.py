"""The engines that `maskbench.py` measures: one schema at a time, one mask of packed words for each token."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import engines
import numpy as np
from maskbench_engine import Engine as TokenFst

from tokenfst import Vocabulary


class Engine(Protocol):
    """The interface of an engine; see `maskbench_engine`."""

    eos: int

    def compile(self, schema: Any) -> None: ...

    def reset(self) -> None: ...

    def mask(self) -> Any: ...

    def advance(self, token: int) -> bool: ...


class LLGuidance:
    """llguidance, with the slices that it prepares by default."""

    def __init__(self, vocab: list[bytes]) -> None:
        import llguidance
        import llguidance.numpy

        self.eos = len(vocab)
        self._prepared = engines.LLGuidance(Vocabulary((*vocab, b""), eos_ids=(self.eos,)))
        self._module, self._fill = llguidance, llguidance.numpy.fill_next_token_bitmask
        self._matcher: Any = None

    def compile(self, schema: Any) -> None:
        grammar = self._module.LLMatcher.grammar_from_json_schema(json.dumps(schema))
        matcher = self._module.LLMatcher(self._prepared.tokenizer, grammar)
        if matcher.get_error():
            raise ValueError(matcher.get_error())
        self._matcher = matcher

    def reset(self) -> None:
        self._matcher.reset()

    def mask(self) -> Any:
        self._fill(self._matcher, self._prepared.words)
        return self._prepared.words[0]

    def advance(self, token: int) -> bool:
        if token == self.eos:
            return bool(self._matcher.is_accepting())
        return bool(self._matcher.consume_token(token))


class XGrammar:
    """XGrammar as MaskBench runs it: not strict, with any whitespace, without its cache of compiled grammars."""

    def __init__(self, vocab: list[bytes]) -> None:
        self.eos = len(vocab)
        self._prepared = engines.XGrammar(Vocabulary((*vocab, b""), eos_ids=(self.eos,)))
        self._words = self._prepared.words
        self._matcher: Any = None

    def compile(self, schema: Any) -> None:
        compiled = self._prepared.compiler.compile_json_schema(json.dumps(schema), strict_mode=False)
        self._matcher = self._prepared.xgrammar.GrammarMatcher(compiled)

    def reset(self) -> None:
        self._matcher.reset()

    def mask(self) -> Any:
        # False means that everything is allowed; the words are then unchanged.
        if not self._matcher.fill_next_token_bitmask(self._words):
            self._words.fill_(-1)
        return self._words.numpy()[0]

    def advance(self, token: int) -> bool:
        return bool(self._matcher.accept_token(token))


class GlrMask:
    """glrmask as its documentation shows it: a mask of words, and `is_accepting` for the end."""

    def __init__(self, vocab: list[bytes]) -> None:
        import glrmask

        self.eos = len(vocab)
        self._module: Any = glrmask
        self._vocab = glrmask.Vocab.from_id_to_bytes({number: token for number, token in enumerate(vocab) if token})
        self._words = np.zeros(-(-(len(vocab) + 1) // 32), np.int32)
        self._bits = self._words.view(np.uint32)
        self._constraint: Any = None
        self._state: Any = None

    def compile(self, schema: Any) -> None:
        self._constraint = self._module.Grammar.from_json_schema(json.dumps(schema)).compile(self._vocab)
        self.reset()

    def reset(self) -> None:
        self._state = self._constraint.start()

    def mask(self) -> Any:
        self._state.fill_mask(self._words)
        if self._state.is_accepting():
            self._bits[self.eos >> 5] |= np.uint32(1 << (self.eos & 31))
        return self._words

    def advance(self, token: int) -> bool:
        return bool(self._state.is_accepting() if token == self.eos else self._state.commit_token(token))


class Outlines:
    """outlines-core: its index of the pattern that it makes of a schema."""

    def __init__(self, vocab: list[bytes]) -> None:

        self.eos = len(vocab)
        self._prepared = engines.Outlines(Vocabulary((*vocab, b""), eos_ids=(self.eos,)))
        self._words = np.zeros(-(-(len(vocab) + 1) // 32), np.int32)
        self._index: Any = None
        self._guide: Any = None

    def compile(self, schema: Any) -> None:
        from outlines_core.json_schema import build_regex_from_schema

        self._index = self._prepared.compile(build_regex_from_schema(json.dumps(schema)))
        self.reset()

    def reset(self) -> None:
        self._guide = self._prepared.module.Guide(self._index)

    def mask(self) -> Any:
        self._guide.write_mask_into(self._words.ctypes.data, self._words.size, self._words.itemsize)
        return self._words

    def advance(self, token: int) -> bool:
        if token == self.eos:
            return bool(self._guide.is_finished())
        try:
            self._guide.advance(token)
        except ValueError:
            return False
        return True


ENGINES: dict[str, Callable[[list[bytes]], Engine]] = {
    "tokenfst": TokenFst,
    # The same within a budget, as `generate` makes masks.
    "budget": partial(TokenFst, remaining=4096),
    "llguidance": LLGuidance,
    "xgrammar": XGrammar,
    "glrmask": GlrMask,
    "outlines-core": Outlines,
}


def engine(name: str, vocab: list[bytes]) -> Engine:
    """Return the engine with this name, prepared for a vocabulary."""
    return ENGINES[name](vocab)
