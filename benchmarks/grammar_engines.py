"""The engines of `engines` for grammars, and the bundled grammars in the notation of each engine.

    GBNF      unchanged for this project and XGrammar; for llguidance, converted by its own converter
    Lark      unchanged for this project; for llguidance without priorities, and with exceptions of words written as an
              intersection with a complement instead of a negative look-ahead; for XGrammar, converted by
              `grammar_as_ebnf`

The name "json" stands for any JSON value, in the form that is built into each engine. DOMINO's JSON is not what the
authors of the other engines would write: llguidance is faster if more of a grammar is in its words, and XGrammar if
whitespace is less ambiguous.

XGrammar has no lexer. `grammar_as_ebnf` writes the same rules with optional ignored text after every word. Its notation
has nothing for priorities, for exceptions, or for the rule that a word continues as long as it can, so these are left
out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Protocol

import engines
from engines import LLGuidance, TokenFst, XGrammar

import constraints.grammars
import tokenfst
from automata.expressions import (
    Alternation,
    Call,
    CharSet,
    Concatenation,
    Difference,
    Expr,
    Literal,
    Lookahead,
    Repetition,
)
from automata.pushdown.grammar import Grammar
from constraints.grammars.bundled import bundled, source

# As in the other engines, every tokenization of a text is allowed, and ignored text may come first.
_OPTIONS = '%llguidance {"no_forcing": true, "allow_initial_skip": true}'
_PRIORITY = re.compile(r"^([A-Z_]+)\.[0-9]+:", re.MULTILINE)
_EXCEPT = re.compile(r"/\(\?!(\(\?(?:i?):[^()]*\))\(\?!\[[^]]*\]\)\)(.*)/$", re.MULTILINE)


def is_lark(name: str) -> bool:
    """Return whether a bundled grammar is in Lark's syntax."""
    return bool(bundled(name).lexical)


class Engine(engines.Engine, Protocol):
    """The interface that the benchmark of grammars uses; `compile` takes what `given` returns for a grammar."""

    def given(self, name: str) -> str:
        """Return a bundled grammar, or "json" for any JSON value, as the engine reads it."""

    def fresh(self, compiled: Any) -> Any:
        """Return the object that `run` takes for a new text."""

    def held(self, compiled: Any) -> int | None:
        """Return the memory of the compiled grammar in bytes, or None if the engine does not report it."""

    def check(self, compiled: Any, token_ids: Sequence[int]) -> None:
        """Raise ValueError if a text is refused."""


class TokenFstGrammar(TokenFst):
    """This project, for bundled grammars by name."""

    def given(self, name: str) -> str:
        """Return the name: `compile` reads the text of the grammar."""
        return name

    def compile(self, pattern: str) -> tokenfst.TokenAutomaton:
        grammar = constraints.grammars.json() if pattern == "json" else bundled(pattern)
        return tokenfst.compile(grammar, self.vocabulary)

    def fresh(self, compiled: tokenfst.TokenAutomaton) -> tokenfst.TokenAutomaton:
        """Return the automaton, which does not store the state of a text."""
        return compiled

    def held(self, compiled: tokenfst.TokenAutomaton) -> int | None:
        """Return the memory in bytes."""
        return compiled.nbytes

    def check(self, compiled: tokenfst.TokenAutomaton, token_ids: Sequence[int]) -> None:
        """Raise ValueError if the text is refused."""
        if not compiled.accepts(token_ids):
            raise ValueError("the text is refused")


class XGrammarGrammar(XGrammar):
    """XGrammar, for bundled grammars in its EBNF."""

    def given(self, name: str) -> str:
        """Return the text of a grammar in EBNF."""
        if name == "json":
            return name
        return grammar_as_ebnf(bundled(name)) if is_lark(name) else source(name)

    def compile(self, pattern: str) -> Any:
        if pattern == "json":
            return self.compiler.compile_builtin_json_grammar()
        return self.compiler.compile_grammar(self.xgrammar.Grammar.from_ebnf(pattern))

    def fresh(self, compiled: Any) -> Any:
        """Return the compiled grammar, which does not store the state of a text."""
        return compiled

    def held(self, compiled: Any) -> int | None:
        """Return the memory in bytes."""
        return int(compiled.memory_size_bytes)

    def check(self, compiled: Any, token_ids: Sequence[int]) -> None:
        """Raise ValueError if the text is refused."""
        matcher = self.xgrammar.GrammarMatcher(compiled)
        if not all(matcher.accept_token(token) for token in token_ids) or not matcher.is_completed():
            raise ValueError("the text is refused")


class LLGuidanceGrammar(LLGuidance):
    """llguidance, for bundled grammars in its variant of Lark's syntax."""

    def given(self, name: str) -> str:
        """Return the text of a grammar in llguidance's syntax."""
        return name if name == "json" else llguidance_text(name)

    def compile(self, pattern: str) -> Any:
        matcher = self.module.LLMatcher
        if pattern == "json":
            return matcher(self.tokenizer, matcher.grammar_from_json_schema("{}"))
        return matcher(self.tokenizer, matcher.grammar_from_lark(pattern))

    def fresh(self, compiled: Any) -> Any:
        """Return a copy of the matcher, which is at the start of a text."""
        return compiled.deep_copy()

    def held(self, compiled: Any) -> int | None:
        """Return None, because llguidance does not report it."""
        return None

    def check(self, compiled: Any, token_ids: Sequence[int]) -> None:
        """Raise ValueError if the text is refused."""
        matcher = compiled.deep_copy()
        if not all(matcher.consume_token(token) for token in token_ids) or not matcher.is_accepting():
            raise ValueError("the text is refused")


def llguidance_text(name: str) -> str:
    """Return the text of a bundled grammar for llguidance."""
    from llguidance.gbnf_to_lark import any_to_lark

    text = source(name)
    if not is_lark(name):
        return str(any_to_lark(text)).replace("%llguidance {}", _OPTIONS, 1)
    return f"{_OPTIONS}\n" + _PRIORITY.sub(r"\1:", _EXCEPT.sub(r"/\2/ & ~/\1/", text))


def grammar_as_ebnf(grammar: Grammar) -> str:
    """Return a grammar with words in the EBNF of XGrammar."""
    names = {name: f"r{number}" for number, name in enumerate([*grammar.rules, *grammar.lexical])}
    lines = [f"root ::= gap {names[grammar.start]}"]
    lines += [f"{names[name]} ::= {_ebnf(expr, names)}" for name, expr in grammar.rules.items()]
    lines += [f"{names[name]} ::= ({_ebnf(word.expr, names)}) gap" for name, word in grammar.lexical.items()]
    ignored = [_ebnf(grammar.lexical[name].expr, names) for name in grammar.ignored]
    return "\n".join([*lines, f"gap ::= ({' | '.join(ignored)})*"]) + "\n"


def _ebnf(expr: Expr, names: dict[str, str]) -> str:
    match expr:
        case Literal(value):
            return '"' + "".join(map(_escaped, value.decode())) + '"'
        case CharSet(ranges):
            return "[" + "".join(f"{_escaped(chr(low))}-{_escaped(chr(high))}" for low, high in ranges) + "]"
        case Call(name):
            return names[name]
        case Concatenation(parts):
            return " ".join(f"({_ebnf(part, names)})" for part in parts)
        case Alternation(parts):
            return " | ".join(f"({_ebnf(part, names)})" for part in parts)
        case Repetition(inner, low, high):
            return f"({_ebnf(inner, names)}){{{low},{'' if high is None else high}}}"
        case Lookahead():
            return '""'
        case Difference(left, _):
            return _ebnf(left, names)
    raise TypeError(f"XGrammar's EBNF cannot express {expr!r}")


def _escaped(character: str) -> str:
    return character if character.isalnum() and character.isascii() else f"\\U{ord(character):08x}"
