"""The constraint of a command line, each kind with the options that belong to it.

    PatternSource    --regex                an expression
    GrammarSource    --grammar              a grammar that comes with the package, by its name, or a file
    SchemaSource     --json-schema          a file with a JSON Schema
    source_of        the options of a command line -> one of them

A source is read (`read`), and what was read becomes an automaton over bytes, with a stack or without (`compiled`).
Names of grammars go before files, so that what a command means does not depend on the files around it; `./json` is a
file. A file is read once, and its text kept: a mistake in it, which may be found late, is shown in its line.
"""

from __future__ import annotations

import argparse
import json
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, TypeVar

import constraints
from automata.byte_automaton import ByteAutomaton
from automata.compile.compiler import compile_expr
from automata.errors import GrammarError, PatternError, SchemaError, TokenfstError
from automata.expressions import Expr
from automata.pattern import parse
from automata.pushdown.automaton import PushdownAutomaton
from automata.pushdown.compile import compile_grammar
from automata.pushdown.grammar import Ambiguity, Grammar
from constraints.grammars import Syntax
from constraints.grammars.bundled import BUNDLED, bundled
from constraints.json_schema import JsonSchema, json_schema
from constraints.json_schema.building.whitespace import Habit
from constraints.json_schema.containers.objects import PropertyOrder
from constraints.json_schema.strings import Spellings

_JSON = "json"
_ONLY_FILES = ("syntax", "start")
_ONLY_GRAMMARS = (*_ONLY_FILES, "ambiguity")
_ONLY_SCHEMAS = ("whitespace", "property_order", "spellings", "unsupported")

R = TypeVar("R")


class Source(ABC, Generic[R]):
    """A constraint as a command line names it.

    Attributes:
        stages: what reading it is called, and what making the automaton is.
    """

    stages: ClassVar[tuple[str, str]]

    @abstractmethod
    def read(self) -> R:
        """Read the constraint.

        Raises:
            PatternError, GrammarError, SchemaError: it has a mistake.
        """

    @abstractmethod
    def compiled(self, read: R) -> ByteAutomaton | PushdownAutomaton:
        """Return the automaton over bytes of what was read; raises what compiling raises."""

    def constraint(self, read: R) -> Expr | ByteAutomaton | PushdownAutomaton:
        """Return what is compiled over a vocabulary: the automaton over bytes, except for patterns."""
        return self.compiled(read)

    def shown(self, error: TokenfstError) -> str:
        """Return the message of an error: where possible the line with a caret at the mistake, and the reason."""
        return f"tokenfst: {error}"

    def remarks(self, read: R) -> list[str]:
        """Return the remarks to print about a constraint."""
        return []


@dataclass(frozen=True, slots=True)
class PatternSource(Source[Expr]):
    """A regular expression."""

    regex: str

    stages = "pattern to expression", "expression to bytes"

    def read(self) -> Expr:
        return parse(self.regex)

    def compiled(self, read: Expr) -> ByteAutomaton:
        return compile_expr(read)

    def constraint(self, read: Expr) -> Expr:
        # Large bounds are counted in an expression, and written out in an automaton over bytes.
        return read

    def shown(self, error: TokenfstError) -> str:
        if isinstance(error, PatternError):
            return _with_caret(error.pattern, error.position, error.reason)
        return Source.shown(self, error)


@dataclass(frozen=True, slots=True)
class GrammarSource(Source[Grammar]):
    """A grammar.

    Attributes:
        name: the file, or the name of one that comes with the package.
        text: what the file says; None for one that comes with the package.
        syntax, start, ambiguity: as for `constraints.grammar`.
    """

    name: str
    text: str | None
    syntax: Syntax
    start: str | None
    ambiguity: Ambiguity

    stages = "text to grammar", "grammar to bytes"

    def read(self) -> Grammar:
        if self.text is not None:
            return constraints.grammar(self.text, syntax=self.syntax, start=self.start, ambiguity=self.ambiguity)
        return replace(constraints.json() if self.name == _JSON else bundled(self.name), ambiguity=self.ambiguity)

    def compiled(self, read: Grammar) -> PushdownAutomaton:
        return compile_grammar(read)

    def shown(self, error: TokenfstError) -> str:
        if isinstance(error, PatternError):
            return _with_caret(error.pattern, error.position, error.reason)
        if not isinstance(error, GrammarError) or self.text is None or error.line is None or error.column is None:
            return Source.shown(self, error)
        line = self.text.split("\n")[error.line - 1]
        return f"{self.name}, line {error.line}:\n{_with_caret(line, error.column - 1, error.reason)}"


@dataclass(frozen=True, slots=True)
class SchemaSource(Source[JsonSchema]):
    """A JSON Schema.

    Attributes:
        name: the file.
        schema: what it says; numbers with a point are decimals, so that none is rounded.
        whitespace, property_order, spellings, unsupported: as for `constraints.json_schema`.
    """

    name: str
    schema: Any
    whitespace: Habit
    property_order: PropertyOrder
    spellings: Spellings
    unsupported: Literal["error", "relax"]

    stages = "schema to rules", "rules to bytes"

    def read(self) -> JsonSchema:
        return json_schema(
            self.schema,
            whitespace=self.whitespace,
            property_order=self.property_order,
            spellings=self.spellings,
            unsupported=self.unsupported,
        )

    def compiled(self, read: JsonSchema) -> ByteAutomaton | PushdownAutomaton:
        return read.to_automaton()

    def shown(self, error: TokenfstError) -> str:
        return f"tokenfst: {self.name}: {error}" if isinstance(error, SchemaError) else Source.shown(self, error)

    def remarks(self, read: JsonSchema) -> list[str]:
        dropped = [f"{note.pointer} is left out: {note.reason}" for note in read.dropped]
        return dropped + [f"{note.pointer} constrains nothing: {note.reason}" for note in read.notes]


def add_constraint(parser: argparse.ArgumentParser) -> None:
    """Add the options of a constraint."""
    either = parser.add_mutually_exclusive_group(required=True)
    either.add_argument("--regex", help="what a whole text must match")
    names = ", ".join([_JSON, *BUNDLED])
    either.add_argument("--grammar", metavar="FILE-or-NAME", help=f"a file with a grammar, or one of {names}")
    either.add_argument("--json-schema", metavar="FILE", help="a file with a JSON Schema that the value satisfies")
    grammars = parser.add_argument_group("with --grammar")
    grammars.add_argument("--syntax", choices=("auto", "lark", "gbnf", "ebnf"), help="what the file is written in")
    grammars.add_argument("--start", metavar="RULE", help="the rule of the file that whole texts match")
    grammars.add_argument(
        "--ambiguity", choices=("error", "parallel"), help="refuse an ambiguous grammar, or carry its derivations"
    )
    schemas = parser.add_argument_group("with --json-schema")
    schemas.add_argument(
        "--whitespace",
        choices=("default", "compact", "python", "javascript", "flexible"),
        help="the blanks of the text; by default what json.dumps and JSON.stringify write, indented or not",
    )
    schemas.add_argument(
        "--property-order",
        choices=("schema", "any", "any-if-cheap"),
        help="properties as the schema lists them, or in any order, or in any where that takes few states",
    )
    schemas.add_argument(
        "--spellings",
        choices=("plain", "all"),
        help="strings and names as json.dumps spells them, or in every spelling that JSON has",
    )
    schemas.add_argument(
        "--unsupported",
        choices=("error", "relax"),
        help="refuse a schema with a keyword that no automaton holds exactly, or leave this keyword out and say so",
    )


def source_of(options: argparse.Namespace) -> Source[Any]:
    """Return the constraint that a command line names.

    Raises:
        TokenfstError: there is no such grammar, a file is not what it should be, or options are there that belong to
            another kind of constraint.
        OSError: the file cannot be read.
    """
    if options.grammar is None:
        _without(options, _ONLY_GRAMMARS, "goes with --grammar")
    if options.json_schema is None:
        _without(options, _ONLY_SCHEMAS, "goes with --json-schema")
    if options.grammar is not None:
        return _grammar(options)
    return PatternSource(options.regex) if options.json_schema is None else _schema(options)


def _grammar(options: argparse.Namespace) -> GrammarSource:
    name: str = options.grammar
    syntax: Syntax = options.syntax or "auto"
    ambiguity: Ambiguity = options.ambiguity or "error"
    if name == _JSON or name in BUNDLED:
        _without(options, _ONLY_FILES, f"goes with a file, and {name!r} comes with the package")
        return GrammarSource(name, None, syntax, None, ambiguity)
    grammars = f"; grammars by name are {', '.join([_JSON, *BUNDLED])}"
    return GrammarSource(name, _text_of(Path(name), grammars), syntax, options.start, ambiguity)


def _schema(options: argparse.Namespace) -> SchemaSource:
    name: str = options.json_schema
    text = _text_of(Path(name), "")
    try:
        schema = json.loads(text, parse_float=Decimal)
    except json.JSONDecodeError as error:
        raise TokenfstError(f"{name} is no JSON: {error.msg} (line {error.lineno}, column {error.colno})") from None
    except RecursionError:
        raise TokenfstError(f"{name} is nested too deeply") from None
    return SchemaSource(
        name,
        schema,
        options.whitespace or "default",
        options.property_order or "schema",
        options.spellings or "plain",
        options.unsupported or "error",
    )


def _without(options: argparse.Namespace, names: tuple[str, ...], why: str) -> None:
    for name in names:
        if getattr(options, name) is not None:
            raise TokenfstError(f"--{name.replace('_', '-')} {why}")


def _text_of(path: Path, hint: str) -> str:
    if not path.exists():
        raise TokenfstError(f"there is no file {str(path)!r}{hint}")
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise TokenfstError(f"{path} is not text in UTF-8: {error}") from None


def _with_caret(line: str, position: int, reason: str) -> str:
    # Characters that would break the line are shown as a space, so that the caret stays in place.
    seen = "".join(char if char.isprintable() else " " for char in line)
    return f"{seen}\n{' ' * position}^ {reason}"
