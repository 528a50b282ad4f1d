"""The engines that grammars are compared on, as in `engines`, and each bundled grammar as each engine reads it.

    GBNF                  as it is for this project and XGrammar; through llguidance's own converter for llguidance
    Lark's dialect        as it is for this project and llguidance, but for words with exceptions, which llguidance
                          writes as an intersection with a complement, where Lark has a negative look-ahead

The name "json" stands for any JSON value, as each engine has it built in: DOMINO's JSON is not what the makers of the
others would write, since llguidance is faster the more is in its words, and XGrammar the less ambiguous white space is.

XGrammar has no lexer. What `grammar_as_ebnf` writes for it are the same rules with white space put behind every word,
which is the most that its notation can say: words do not end where they could continue, and exceptions are left out.
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

# As the other engines: any cut of a text into tokens is as good, and white space may come first.
_OPTIONS = '%llguidance {"no_forcing": true, "allow_initial_skip": true}'
_PRIORITY = re.compile(r"^([A-Z_]+)\.[0-9]+:", re.MULTILINE)
_EXCEPT = re.compile(r"/\(\?!(\(\?(?:i?):[^()]*\))\(\?!\[[^]]*\]\)\)(.*)/$", re.MULTILINE)


def is_lark(name: str) -> bool:
    """Whether a bundled grammar is in Lark's dialect."""
    return bool(bundled(name).lexical)


class Engine(engines.Engine, Protocol):
    """What the benchmark of grammars needs of an engine, besides; a grammar is known by its name."""

    def fresh(self, compiled: Any) -> Any:
        """What to give to `run` for a text of its own."""

    def held(self, compiled: Any) -> int | None:
        """The bytes of what was compiled, if the engine tells."""

    def check(self, compiled: Any, token_ids: Sequence[int]) -> None:
        """Raises ValueError where a text is refused."""


class TokenFstGrammar(TokenFst):
    """This project, on bundled grammars by name."""

    def compile(self, pattern: str) -> tokenfst.TokenAutomaton:
        grammar = constraints.grammars.json() if pattern == "json" else bundled(pattern)
        return tokenfst.compile(grammar, self.vocabulary)

    def fresh(self, compiled: tokenfst.TokenAutomaton) -> tokenfst.TokenAutomaton:
        """What a text begins with: an automaton has no state."""
        return compiled

    def held(self, compiled: tokenfst.TokenAutomaton) -> int | None:
        """Bytes."""
        return compiled.nbytes

    def check(self, compiled: tokenfst.TokenAutomaton, token_ids: Sequence[int]) -> None:
        """Raises ValueError where the text is refused."""
        if not compiled.accepts(token_ids):
            raise ValueError("the text is refused")


class XGrammarGrammar(XGrammar):
    """XGrammar, on bundled grammars by name."""

    def compile(self, pattern: str) -> Any:
        if pattern == "json":
            return self.compiler.compile_builtin_json_grammar()
        text = grammar_as_ebnf(bundled(pattern)) if is_lark(pattern) else source(pattern)
        return self.compiler.compile_grammar(self.xgrammar.Grammar.from_ebnf(text))

    def fresh(self, compiled: Any) -> Any:
        """What a text begins with: the compiled grammar has no state."""
        return compiled

    def held(self, compiled: Any) -> int | None:
        """Bytes."""
        return int(compiled.memory_size_bytes)

    def check(self, compiled: Any, token_ids: Sequence[int]) -> None:
        """Raises ValueError where the text is refused."""
        matcher = self.xgrammar.GrammarMatcher(compiled)
        if not all(matcher.accept_token(token) for token in token_ids) or not matcher.is_completed():
            raise ValueError("the text is refused")


class LLGuidanceGrammar(LLGuidance):
    """llguidance, on bundled grammars by name."""

    def compile(self, pattern: str) -> Any:
        matcher = self.module.LLMatcher
        if pattern == "json":
            return matcher(self.tokenizer, matcher.grammar_from_json_schema("{}"))
        return matcher(self.tokenizer, matcher.grammar_from_lark(llguidance_text(pattern)))

    def fresh(self, compiled: Any) -> Any:
        """What a text begins with: a copy of a matcher that has read nothing."""
        return compiled.deep_copy()

    def held(self, compiled: Any) -> int | None:
        """It does not tell."""
        return None

    def check(self, compiled: Any, token_ids: Sequence[int]) -> None:
        """Raises ValueError where the text is refused."""
        matcher = compiled.deep_copy()
        if not all(matcher.consume_token(token) for token in token_ids) or not matcher.is_accepting():
            raise ValueError("the text is refused")


def llguidance_text(name: str) -> str:
    """A bundled grammar as llguidance reads it."""
    from llguidance.gbnf_to_lark import any_to_lark

    text = source(name)
    if not is_lark(name):
        return str(any_to_lark(text)).replace("%llguidance {}", _OPTIONS, 1)
    return f"{_OPTIONS}\n" + _PRIORITY.sub(r"\1:", _EXCEPT.sub(r"/\2/ & ~/\1/", text))


def grammar_as_ebnf(grammar: Grammar) -> str:
    """A grammar with words as rules for XGrammar."""
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
    raise TypeError(f"XGrammar has nothing for {expr!r}")


def _escaped(character: str) -> str:
    return character if character.isalnum() and character.isascii() else f"\\U{ord(character):08x}"
