"""GrammarCompiler: compiles grammars over a vocabulary, each of them once.

Automata are lazy wherever a lazy automaton is exact, so compiling takes little time and needs no further threads:
`max_threads` has no effect.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

import tokenfst
from automata.errors import NotOffered
from in_place_of.xgrammar.grammar import Grammar
from in_place_of.xgrammar.tokenizer_info import TokenizerInfo
from serving.lru_cache import LruCache
from tokenfst.token_automaton import TokenAutomaton


@dataclass(frozen=True)
class CompiledGrammar:
    """A grammar over a vocabulary; made by `GrammarCompiler`.

    Attributes:
        grammar: the grammar.
        tokenizer_info: the tokens.
        automaton: this project's automaton.
    """

    grammar: Grammar
    tokenizer_info: TokenizerInfo
    automaton: TokenAutomaton

    @property
    def memory_size_bytes(self) -> int:
        """The memory of the automaton in bytes; it grows while masks are made."""
        return self.automaton.nbytes

    def serialize_json(self) -> str:
        """Raise `NotOffered`."""
        raise NotOffered("CompiledGrammar.serialize_json", "`automaton.save(path)` writes a file")

    @staticmethod
    def deserialize_json(json_str: str, tokenizer_info: TokenizerInfo) -> CompiledGrammar:
        """Raise `NotOffered`."""
        raise NotOffered("CompiledGrammar.deserialize_json", "tokenfst.load_automaton reads what `save` has written")


class GrammarCompiler:
    """Compiles grammars over one vocabulary and caches the results; threads may share it.

    Attributes:
        tokenizer_info: the tokens.
        cache_limit_bytes: the maximum size of the cache in bytes; -1 for no limit.
    """

    def __init__(
        self,
        tokenizer_info: TokenizerInfo,
        *,
        max_threads: int = 8,
        cache_enabled: bool = True,
        cache_limit_bytes: int = -1,
    ) -> None:
        """Make a compiler with an empty cache.

        Args:
            tokenizer_info: the tokens.
            max_threads: has no effect.
            cache_enabled: whether compiled grammars are cached.
            cache_limit_bytes: the maximum size of the cache in bytes; -1 for no limit.
        """
        if not isinstance(tokenizer_info, TokenizerInfo):
            raise TypeError(f"expected a TokenizerInfo of this package, not {type(tokenizer_info).__name__}")
        self.tokenizer_info, self.cache_limit_bytes = tokenizer_info, cache_limit_bytes
        most = sys.maxsize if cache_limit_bytes < 0 else cache_limit_bytes
        self._kept: LruCache[tuple[str, ...], CompiledGrammar] = LruCache(
            most, lambda _, compiled: compiled.memory_size_bytes if cache_enabled else None
        )
        self._lock = Lock()

    def compile_grammar(self, grammar: str | Grammar, *, root_rule_name: str = "root") -> CompiledGrammar:
        """Compile a `Grammar`, or rules in XGrammar's EBNF.

        Raises:
            GrammarError: the rules have a mistake, or cannot be honoured.
            PatternError, EmptyLanguage, LimitExceeded: as for `tokenfst.compile`.
            TypeError: the argument is neither a grammar nor text.
        """
        if isinstance(grammar, str):
            grammar = Grammar.from_ebnf(grammar, root_rule_name=root_rule_name)
        if not isinstance(grammar, Grammar):
            raise TypeError(f"expected a Grammar of this package, or text, not {type(grammar).__name__}")
        with self._lock:
            kept = self._kept.get(grammar.source)
        if kept is not None:
            return kept
        automaton = tokenfst.compile(grammar.constraint, self.tokenizer_info.vocabulary)
        compiled = CompiledGrammar(grammar, self.tokenizer_info, automaton)
        with self._lock:
            self._kept[grammar.source] = compiled
        return compiled

    def compile_json_schema(self, schema: Any, **options: Any) -> CompiledGrammar:
        """Compile a JSON Schema; arguments and errors are those of `Grammar.from_json_schema`."""
        return self.compile_grammar(Grammar.from_json_schema(schema, **options))

    def compile_builtin_json_grammar(self) -> CompiledGrammar:
        """Compile the language of any JSON object or array."""
        return self.compile_grammar(Grammar.builtin_json_grammar())

    def compile_regex(self, regex: str) -> CompiledGrammar:
        """Compile a pattern, which must match whole texts.

        Raises:
            PatternError, EmptyLanguage, LimitExceeded: as for `tokenfst.compile`.
        """
        return self.compile_grammar(Grammar.from_regex(regex))

    def compile_lark(self, lark_string: str, *, named_grammars: Mapping[str, Any] | None = None) -> CompiledGrammar:
        """Compile rules in Lark's syntax.

        Raises:
            NotOffered: `named_grammars` is given.
            GrammarError: the rules have a mistake, or cannot be honoured.
        """
        if named_grammars:
            raise NotOffered("named_grammars", "write their rules into the grammar")
        return self.compile_grammar(Grammar.from_lark(lark_string))

    def compile_structural_tag(self, structural_tag: str | Mapping[str, Any], *rest: Any) -> CompiledGrammar:
        """Compile a structural tag, given as JSON or as a dict.

        Raises:
            NotOffered: tags and triggers are given as two arguments.
            ValueError: the tag cannot be honoured; the message says where and why.
        """
        if rest:
            raise NotOffered("compile_structural_tag(tags, triggers)", "give one structural tag, as a dict")
        return self.compile_grammar(Grammar.from_structural_tag(structural_tag))

    def clear_cache(self) -> None:
        """Drop all cached grammars."""
        with self._lock:
            self._kept.clear()

    def get_cache_size_bytes(self) -> int:
        """Return the size of the cache in bytes, as it was last measured."""
        return self._kept.nbytes
