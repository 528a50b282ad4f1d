"""The constraint of a command line: each kind, with the options that belong to it.

    PatternSource    --regex                an expression
    GrammarSource    --grammar              a bundled grammar, by its name, or a file
    SchemaSource     --json-schema          a file with a JSON Schema
    TypeSource       --type                 a Python type
    opened           the options of a command line -> one of them

A source is read (`read`), and the result is compiled to an automaton over bytes, with or without a stack (`compiled`).
Names of grammars take precedence over files, so that the meaning of a command does not depend on the files around it;
`./json` is a file, and `-` is standard input. A file is read once, and its text is kept, so that a mistake that is
found later can be shown in its line.
"""

from __future__ import annotations

import json
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, TypeVar

import constraints
from automata.byte_automaton import ByteAutomaton
from automata.compile.compiler import compile_expr
from automata.errors import GrammarError, PatternError, SchemaError, TokenfstError
from automata.expressions import Expr
from automata.limits import Work
from automata.pattern import parse
from automata.pushdown.automaton import PushdownAutomaton
from automata.pushdown.compile import compile_grammar
from automata.pushdown.grammar import Ambiguity, Grammar
from constraints.grammars import Syntax
from constraints.grammars.bundled import BUNDLED, WHOLE_LANGUAGES, bundled
from constraints.json_schema import JsonSchema, json_schema
from constraints.json_schema.building.whitespace import Habit
from constraints.json_schema.containers.objects import PropertyOrder
from constraints.json_schema.strings import Spellings
from constraints.types.typed import Typed, typed
from decoding.command.options import STANDARD_INPUT, ConstraintOptions, Mistake, first_line
from decoding.command.reading import decoded, standard_input

_JSON = "json"
_KINDS = ("regex", "regex_file", "grammar", "json_schema", "type")
_ONLY_FILES = ("syntax", "start")
# Options, and the kinds of constraints that they belong to.
_BELONG = {
    (*_ONLY_FILES, "ambiguity"): ("grammar",),
    ("property_order", "unsupported"): ("json_schema",),
    ("whitespace", "spellings"): ("json_schema", "type"),
}

R = TypeVar("R")


class Source(ABC, Generic[R]):
    """A constraint that a command line names.

    Attributes:
        stages: the names of two stages, reading the constraint and making the automaton over bytes.
    """

    stages: ClassVar[tuple[str, str]]

    @abstractmethod
    def read(self) -> R:
        """Read the constraint.

        Raises:
            PatternError, GrammarError, SchemaError: it has a mistake.
        """

    def read_with_remarks(self) -> R:
        """Read the constraint, and print remarks about it on standard error."""
        read = self.read()
        for remark in self.remarks(read):
            print(f"tokenfst: {remark}", file=sys.stderr)
        return read

    @abstractmethod
    def compiled(self, read: R) -> ByteAutomaton | PushdownAutomaton:
        """Return the automaton over bytes of what `read` returned; errors are those of compiling."""

    def constraint(self, read: R) -> Expr | ByteAutomaton | PushdownAutomaton:
        """Return what is compiled over a vocabulary: the automaton over bytes, except for patterns."""
        return self.compiled(read)

    def explained(self, read: R) -> str | R:
        """Return what is explained: what `read` returned or, for patterns, the text, in which parts have a place."""
        return read

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
        # Compiling an expression counts large bounds; an automaton over bytes has them written out.
        return read

    def explained(self, read: Expr) -> str:
        return self.regex

    def shown(self, error: TokenfstError) -> str:
        if isinstance(error, PatternError):
            return _with_caret(error.pattern, error.position, error.reason)
        return Source.shown(self, error)


@dataclass(frozen=True, slots=True)
class GrammarSource(Source[Grammar]):
    """A grammar.

    Attributes:
        name: the file, or the name of a grammar that comes with the package.
        text: the content of the file; None for a grammar that comes with the package.
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
        schema: its content; numbers with a point are decimals, so that none is rounded.
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


@dataclass(frozen=True, slots=True)
class TypeSource(Source[Typed[Any]]):
    """A Python type, whose values are written as JSON.

    Attributes:
        name: the module and the class, with a colon between them.
        annotation: the type.
        whitespace, spellings: as for `constraints.typed`.
    """

    name: str
    annotation: Any
    whitespace: Habit
    spellings: Spellings

    stages = "type to rules", "rules to bytes"

    def read(self) -> Typed[Any]:
        try:
            return typed(self.annotation, whitespace=self.whitespace, spellings=self.spellings)
        except TokenfstError:
            raise
        except Exception as error:  # not a type, a type whose own code fails, or a name in it that is not defined
            raise TokenfstError(f"{self.name} cannot be read as a type: {first_line(error)}") from error

    def compiled(self, read: Typed[Any]) -> ByteAutomaton | PushdownAutomaton:
        return read.to_automaton(Work())


@contextmanager
def opened(options: ConstraintOptions) -> Iterator[Source[Any]]:
    """Yield the constraint that options name. Errors of the package in the body become a `Mistake`, with the message
    that the constraint shows for them.

    Raises:
        Mistake: not exactly one constraint is named; or `source_of` or the body raises an error of the package.
        OSError: the file cannot be read.
    """
    try:
        source = source_of(options)
    except TokenfstError as error:
        raise Mistake(f"tokenfst: {error}") from error
    try:
        yield source
    except TokenfstError as error:
        raise Mistake(source.shown(error)) from error


def source_of(options: ConstraintOptions) -> Source[Any]:
    """Return the constraint that options name.

    Raises:
        TokenfstError: there is no such file or type, a file is not UTF-8 or a schema not JSON, or an option belongs to
            another kind of constraint.
        Mistake: not exactly one constraint is named.
        OSError: the file cannot be read.
        UnicodeEncodeError: a pattern or a name is not UTF-8.
    """
    named = [name for name in _KINDS if getattr(options, name) is not None]
    if len(named) != 1:
        have = " and ".join(f"--{name.replace('_', '-')}" for name in named) or "none"
        raise Mistake(f"tokenfst: give one of --regex, --regex-file, --json-schema, --grammar and --type, not {have}")
    kind = named[0]
    for text in (options.regex, options.type, options.start):
        (text or "").encode()  # report an argument that is not UTF-8 here, and not in the constraint
    for names, kinds in _BELONG.items():
        if kind not in kinds:
            _without(options, names, f"goes with {' or '.join('--' + own.replace('_', '-') for own in kinds)}")
    if options.grammar is not None:
        return _grammar(options)
    if options.json_schema is not None:
        return _schema(options, options.json_schema)
    if options.type is not None:
        return _type(options, options.type)
    if options.regex is not None:
        return PatternSource(options.regex)
    return PatternSource(_text_of("--regex-file", options.regex_file or "").removesuffix("\n"))


def _grammar(options: ConstraintOptions) -> GrammarSource:
    name = options.grammar or ""
    syntax: Syntax = options.syntax or "auto"
    ambiguity: Ambiguity = options.ambiguity or "error"
    if name in (_JSON, *BUNDLED, *WHOLE_LANGUAGES):
        _without(options, _ONLY_FILES, f"goes with a file, and {name!r} comes with the package")
        return GrammarSource(name, None, syntax, None, ambiguity)
    grammars = f"; grammars by name are {', '.join([_JSON, *BUNDLED, *WHOLE_LANGUAGES])}"
    return GrammarSource(name, _text_of("--grammar", name, grammars), syntax, options.start, ambiguity)


def _schema(options: ConstraintOptions, name: str) -> SchemaSource:
    text = _text_of("--json-schema", name)
    try:
        schema = json.loads(text, parse_float=Decimal)
    except json.JSONDecodeError as error:
        raise TokenfstError(
            f"{name} is not valid JSON: {error.msg} (line {error.lineno}, column {error.colno})"
        ) from None
    except RecursionError:
        raise TokenfstError(f"{name} is nested too deeply") from None
    except ValueError:
        raise TokenfstError(f"{name} has an integer of more than {sys.get_int_max_str_digits():,} digits") from None
    return SchemaSource(
        name,
        schema,
        options.whitespace or "default",
        options.property_order or "schema",
        options.spellings or "plain",
        options.unsupported or "error",
    )


def _type(options: ConstraintOptions, name: str) -> TypeSource:
    module, _, path = name.partition(":")
    if not path:
        raise TokenfstError(f"--type takes a module and a class, as in package.module:Class, not {name!r}")
    if "" not in sys.path:  # as with `python -m`: modules of the current folder
        sys.path.insert(0, "")
    try:
        found = import_module(module)
    except (Exception, SystemExit) as error:  # a module runs code of its own
        reason = error if isinstance(error, ImportError) else f"{type(error).__name__}: {first_line(error)}"
        raise TokenfstError(f"the module {module!r} cannot be imported: {reason}") from error
    for part in path.split("."):
        if not hasattr(found, part):
            raise TokenfstError(f"{module!r} has no {path!r}")
        found = getattr(found, part)
    return TypeSource(name, found, options.whitespace or "default", options.spellings or "plain")


def _without(options: ConstraintOptions, names: tuple[str, ...], why: str) -> None:
    for name in names:
        if getattr(options, name) is not None:
            raise TokenfstError(f"--{name.replace('_', '-')} {why}")


def _text_of(option: str, name: str, hint: str = "") -> str:
    """Return the text of a file, or of standard input, that an option names."""
    if name == STANDARD_INPUT:
        return decoded(standard_input(option), option)
    path = Path(name)
    if not name or not path.exists():
        raise TokenfstError(f"{option}: there is no file {name!r}{hint}")
    if path.is_dir():
        raise TokenfstError(f"{option}: {name!r} is a folder, and not a file{hint}")
    return decoded(path.read_bytes(), name)


def _with_caret(line: str, position: int, reason: str) -> str:
    # Characters that would break the line are shown as spaces, so that the caret stays in place.
    seen = "".join(char if char.isprintable() else " " for char in line)
    return f"{seen}\n{' ' * position}^ {reason}"
