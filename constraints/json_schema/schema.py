"""json_schema: a JSON Schema as a constraint.

json_schema(schema)     -> JsonSchema, which `tokenfst.compile` takes
JsonSchema              the schema, the parts of it that have no effect, and the visibly pushdown grammar
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, Protocol, TypeAlias

from automata._native import CollectionsPaused
from automata.byte_automaton import ByteAutomaton
from automata.drawing import shown
from automata.errors import (
    IrregularPattern,
    LimitExceeded,
    PatternError,
    SchemaError,
    TextNotAllowed,
    UnsatisfiableSchema,
    UnsupportedSchema,
)
from automata.limits import DEFAULT_LIMITS, Cancellation, Limits, Work
from automata.pushdown.automaton import PushdownAutomaton
from automata.visibly_pushdown.compile import compile_visibly_pushdown
from constraints.json_schema.alternatives import JsonTexts, shown_schema
from constraints.json_schema.building.layout import Layout, check_option
from constraints.json_schema.building.schema_grammar import SchemaGrammar, schema_grammar
from constraints.json_schema.building.whitespace import Habit, Whitespace, whitespace_at
from constraints.json_schema.containers.objects import PropertyOrder
from constraints.json_schema.explaining.keywords import explain_conflict
from constraints.json_schema.explaining.limits import largest_count
from constraints.json_schema.explaining.subschemas import SchemaSource
from constraints.json_schema.formulas.statements import Kind, Pattern
from constraints.json_schema.numbers import Integers
from constraints.json_schema.reading import read_schema
from constraints.json_schema.reading.document import Draft, Note, ReadPlaces, Resolver, SchemaDocument
from constraints.json_schema.reading.resources.remembering import RememberingResolver
from constraints.json_schema.relaxing import also_left_out, read_as_any_of
from constraints.json_schema.strings import Spellings

# What happens to a keyword that cannot be expressed exactly.
Unsupported: TypeAlias = Literal["error", "relax"]

# The most keywords of one schema that are left out.
_MAX_DROPPED = 10_000


class _Read(Protocol):
    """Reads the schema, without the keywords at some pointers, and with each `oneOf` at others as `anyOf`."""

    def __call__(self, skip: frozenset[str], any_of: frozenset[str] = ...) -> SchemaDocument: ...


# Adds to a document how its values are written.
_LayOut: TypeAlias = Callable[[SchemaDocument], Layout]


@dataclass(frozen=True, eq=False)
class JsonSchema(JsonTexts[Any]):
    """The texts of the values that satisfy a JSON Schema.

    Attributes:
        schema: the schema, as it was given.
        draft: the draft by which the schema was read.
        notes: the parts of the schema that constrain nothing, such as formats that no draft defines.
        dropped: with `unsupported="relax"`, the keywords that were left out, and each `oneOf` that was read as `anyOf`.
        kinds: the kind of value that each rule of the grammar reads between brackets or quotes; None for the rule of
            the whole text.
        layout: the schema as it was read, and how its values are written.
        given_draft: the argument `draft` of `json_schema`.
        resolver: the argument `resolver`, with the schemas that it returned; a pickled copy has only these schemas.
    """

    schema: Any
    draft: Draft
    notes: tuple[Note, ...] = field()  # without a default; `Parsed` has one
    dropped: tuple[Note, ...]
    kinds: tuple[Kind | None, ...] = field(repr=False)
    _grammar: SchemaGrammar = field(repr=False)
    layout: Layout = field(repr=False)
    given_draft: Draft | Literal["auto"] = field(default="auto", repr=False)
    resolver: Resolver | None = field(default=None, repr=False)

    @property
    def source(self) -> SchemaSource:
        """The schema, and how it is read, always without the keywords in `dropped`."""
        any_of = read_as_any_of(self.dropped)
        dropped = frozenset(note.pointer for note in self.dropped) - any_of

        def read(skip: frozenset[str]) -> SchemaDocument:
            skip |= dropped
            return read_schema(self.schema, draft=self.given_draft, resolver=self.resolver, skip=skip, any_of=any_of)

        return SchemaSource(self.schema, self.given_draft, self.resolver, read)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the schema, and its parts that constrain nothing or were left out."""
        notes = [("constrains nothing", note) for note in self.notes] + [("left out", note) for note in self.dropped]
        lines = "".join(shown(kind, f"{note.pointer}: {note.reason}") for kind, note in notes)
        return shown("JSON Schema", f"draft {self.draft}") + shown_schema(self.schema) + lines

    def to_automaton(self, work: Work | None = None) -> ByteAutomaton | PushdownAutomaton:
        """Return the automaton of the texts: a byte automaton if the schema is not recursive and is small enough.

        Raises:
            UnsupportedSchema: items have to be remembered.
            LimitExceeded: a limit was exceeded; the message names the largest count in the schema. Or variants of an
                object are read side by side, which requires an automaton that makes its states on demand.
            Cancelled: the compilation was cancelled.
        """
        rules = self._grammar.alone()
        if rules.has_nondeterministic_calls:
            hint = "" if self.layout.order == "schema" else " (property_order='schema' may have one)"
            raise LimitExceeded(
                "the variants of an object are read side by side, since telling them apart takes too much; no "
                f"automaton has all of their states beforehand{hint}"
            )
        try:
            return compile_visibly_pushdown(rules, work=work)
        except LimitExceeded as error:
            count = largest_count(self.layout.document)
            if count is None or error.limit == "seconds":
                raise
            message = f"{error}; the largest count is at {count[0]}, keyword {count[1]!r}"
            raise LimitExceeded(message, limit=error.limit) from None

    def value(self, text: str) -> Any:
        """Return the value of a JSON text, as `json.loads` does.

        Raises:
            TextNotAllowed: Python cannot read the text: it is not JSON, has an integer of more than 4,300 digits, or is
                nested too deeply.
        """
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise TextNotAllowed(str(error), text) from None

    def parse(self, text: str) -> Any:
        """Return the value of a text, as `json.loads` does.

        Raises:
            TextNotAllowed: the schema does not allow the text, or Python cannot read it.
        """
        if not self.allows(text):
            raise TextNotAllowed("the schema does not allow the text", text)
        return self.value(text)


def json_schema(
    schema: Any,
    *,
    draft: Draft | Literal["auto"] = "auto",
    whitespace: Habit | Whitespace = "default",
    property_order: PropertyOrder = "schema",
    spellings: Spellings = "plain",
    max_digits: int | None = None,
    integers: Integers = "any",
    unsupported: Unsupported = "error",
    resolver: Resolver | None = None,
    limits: Limits = DEFAULT_LIMITS,
    cancellation: Cancellation | None = None,
) -> JsonSchema:
    r"""Return the constraint of the JSON texts whose value satisfies a schema.

    By default, listed properties appear in the order of the schema, each at most once, and other properties after them.
    Every value that satisfies the schema has a text in the language. Python's cyclic garbage collector pauses while the
    schema is read.

    Args:
        schema: a JSON Schema as `json.loads` returns it: a dict or a bool, nested to any depth. The value of `pattern`
            may also be an expression (`automata.Expr`), which describes the whole string.
        draft: the draft by which to read the schema; "auto" uses the one that `$schema` names, or else 2020-12.
        whitespace: "default" allows what `json.dumps` and `JSON.stringify` write, indented or not (by up to four spaces
            or one tab for each of up to eight open brackets); "compact", "python" and "javascript" allow one style;
            "flexible" allows a few blanks wherever JSON does; or a `Whitespace`.
        property_order: "schema" is the order in which the schema lists properties; "any" allows any order, each
            property at most once. "any-if-cheap" also allows any order, but keeps the schema's order in objects with
            very many variants that take too much work to tell apart. With "any-if-cheap", listed names that need
            not be remembered may be repeated, each time with a value that the schema allows.
        spellings: "plain" spells strings and names as `json.dumps` does, with or without `ensure_ascii`: with escapes
            where JSON requires them, and otherwise only for characters that are not printable ASCII. "all" allows every
            spelling that JSON has, such as `\u0073` for s and `\/` for a slash.
        max_digits: the maximum number of digits before the decimal point, and of those after it. If a number in the
            same part of the schema (a bound, a listed value or a `multipleOf`) has more digits on one of these sides,
            the maximum is their number, on both sides. An exponent then has at most two digits, or as many as it takes
            to write this maximum (three if it is 100). Where every valid number is longer, digits are not bounded. None
            leaves digits unbounded, as in JSON, so a model may write digits without end, or a number that is too large
            for a float.
        integers: "any" allows every spelling of a number that JSON Schema takes for an integer, such as `1.0`, which
            `json.loads` reads as a float; "digits" allows only those without fraction and exponent.
        unsupported: what to do with a keyword that cannot be expressed exactly: "error" raises an error; "relax" leaves
            the keyword out, so that at least all values of the schema are allowed, and lists it in
            `JsonSchema.dropped`. Under `not`, `if` or `contains`, the whole of these is left out; around it, `oneOf` is
            read as `anyOf`.
        resolver: returns the schema at a URI, for references to other documents; nothing is ever fetched without it.
        limits: the time and memory that reading the schema may take; compiling it has limits of its own.
        cancellation: lets another thread stop the reading.

    Raises:
        UnsupportedSchema: a keyword cannot be expressed exactly; the error names the keyword, its place and the reason.
        UnsatisfiableSchema: no value satisfies the schema; the message names the conflict.
        SchemaError: the schema is not a schema, or a reference has no target.
        LimitExceeded: the schema needs too many states, or reading it exceeds `limits`.
        Cancelled: the reading was cancelled.
        ValueError, TypeError: an option has an unknown value.
    """
    check_option("draft", draft, Literal[Draft, "auto"])
    check_option("property_order", property_order, PropertyOrder)
    check_option("spellings", spellings, Spellings)
    check_option("unsupported", unsupported, Unsupported)
    check_option("integers", integers, Integers)
    if max_digits is not None and not (isinstance(max_digits, int) and max_digits >= 1):
        raise ValueError(f"max_digits is at least 1, or None, not {max_digits!r}")
    whitespace_at(whitespace, 1)
    if not (resolver is None or callable(resolver)):
        raise TypeError(f"a resolver is a function from a URI to its schema, not {type(resolver).__name__}")
    resolver = None if resolver is None else RememberingResolver(resolver)

    seen = ReadPlaces() if unsupported == "relax" else None

    def read(skip: frozenset[str], any_of: frozenset[str] = frozenset()) -> SchemaDocument:
        return read_schema(schema, draft=draft, resolver=resolver, skip=skip, any_of=any_of, seen=seen)

    def lay_out(document: SchemaDocument) -> Layout:
        return Layout(document, whitespace, property_order, spellings, max_digits, integers=integers)

    with Work(limits, cancellation).current(), CollectionsPaused():
        layout, grammar, dropped = _built(schema, read, lay_out, seen)
    document = layout.document
    notes = tuple(note for note in document.notes if note.pointer not in dropped)
    left_out = tuple(dropped.values())
    return JsonSchema(schema, document.draft, notes, left_out, grammar.kinds, grammar, layout, draft, resolver)


def _built(
    schema: Any, read: _Read, layout_of: _LayOut, seen: ReadPlaces | None
) -> tuple[Layout, SchemaGrammar, dict[str, Note]]:
    """Read a schema and build its grammar; start again without each keyword that has to be left out.

    Args:
        schema: the schema.
        read, layout_of: read it, and lay it out.
        seen: what `read` sees; None if nothing may be left out.

    Returns:
        The layout, the grammar, and the keywords left out, by place.
    """
    dropped: dict[str, Note] = {}
    while True:
        try:
            any_of = read_as_any_of(dropped.values())
            layout = layout_of(read(frozenset(dropped) - any_of, any_of))
            if seen is not None and (more := also_left_out(dropped, seen)):
                dropped |= more
                continue
            return layout, schema_grammar(layout), dropped
        except PatternError as error:
            _leave_out(_of_pattern(error, layout.document), seen, dropped)
        except UnsatisfiableSchema as error:
            raise explain_conflict(error, schema, partial(_is_empty, read)) from None
        except UnsupportedSchema as error:
            _leave_out(error, seen, dropped)


def _of_pattern(error: PatternError, document: SchemaDocument) -> SchemaError:
    """Return the error of a schema with a pattern that cannot be read."""
    kind = UnsupportedSchema if isinstance(error, IrregularPattern) else SchemaError
    pointer = document.places.get(Pattern(error.pattern), "")
    keyword = "pattern" if pointer.endswith("/pattern") else "patternProperties"
    return kind(str(error), pointer=pointer, keyword=keyword)


def _leave_out(error: SchemaError, seen: ReadPlaces | None, dropped: dict[str, Note]) -> None:
    """Note a keyword that is to be left out, or raise the error."""
    is_known = error.pointer in dropped or len(dropped) >= _MAX_DROPPED
    if not isinstance(error, UnsupportedSchema) or seen is None or error.keyword is None or is_known:
        raise error from None
    dropped[error.pointer] = Note(error.pointer, error.keyword, error.reason)


def _is_empty(read: _Read, skip: frozenset[str]) -> bool:
    """Return whether no value satisfies a schema without some keywords; False if that cannot be told."""
    try:
        schema_grammar(Layout(read(skip), "compact", "schema", "plain"))
    except UnsatisfiableSchema:
        return True
    except (SchemaError, LimitExceeded):
        return False
    return False
