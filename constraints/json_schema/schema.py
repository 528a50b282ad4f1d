"""json_schema: a JSON Schema as a constraint.

json_schema(schema)     -> JsonSchema, which `tokenfst.compile` takes
JsonSchema              what it was made from, what constrains nothing, and the network of rules
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from automata.byte_automaton import ByteAutomaton
from automata.errors import LimitExceeded, SchemaError, UnsatisfiableSchema, UnsupportedSchema
from automata.limits import DEFAULT_LIMITS, Cancellation, Limits, Work
from automata.nested import NestedNetwork, compile_nested
from automata.pushdown.automaton import PushdownAutomaton
from constraints.json_schema.building.network import network_of
from constraints.json_schema.building.whitespace import Habit, Whitespace, whitespace_at
from constraints.json_schema.containers.objects import PropertyOrder
from constraints.json_schema.explaining.keywords import explain_conflict
from constraints.json_schema.explaining.limits import largest_count
from constraints.json_schema.formulas.statements import Kind
from constraints.json_schema.reading import read_schema
from constraints.json_schema.reading.document import Document, Draft, Note, Resolver

# How many keywords one schema may have dropped.
_MAX_DROPPED = 10_000


@dataclass(frozen=True, eq=False)
class JsonSchema:
    """The texts of the values that satisfy a JSON Schema.

    Attributes:
        schema: the schema, as it was given.
        draft: the draft it was read by.
        notes: what constrains nothing, such as formats that nobody defines.
        dropped: with `unsupported="relax"`, the keywords that were left out.
        kinds: of each rule of the network, what it reads between two brackets or quotes; None for the whole text.
    """

    schema: Any
    draft: Draft
    notes: tuple[Note, ...]
    dropped: tuple[Note, ...]
    kinds: tuple[Kind | None, ...] = field(repr=False)
    _network: NestedNetwork = field(repr=False)
    _document: Document = field(repr=False)

    def to_network(self) -> NestedNetwork:
        """The rules that read a text of the schema."""
        return self._network

    def to_automaton(self, work: Work | None = None) -> ByteAutomaton | PushdownAutomaton:
        """The automaton of the texts: over bytes where the schema is not recursive and small enough.

        Raises:
            LimitExceeded: a limit was passed.
            Cancelled: the compilation was cancelled.
        """
        try:
            return compile_nested(self._network, work=work)
        except LimitExceeded as error:
            count = largest_count(self._document)
            if count is None or error.limit == "seconds":
                raise
            message = f"{error}; the largest count is at {count[0]}, keyword {count[1]!r}"
            raise LimitExceeded(message, limit=error.limit) from None


def json_schema(
    schema: Any,
    *,
    draft: Draft | Literal["auto"] = "auto",
    whitespace: Habit | Whitespace = "default",
    property_order: PropertyOrder = "schema",
    unsupported: Literal["error", "relax"] = "error",
    resolver: Resolver | None = None,
    limits: Limits = DEFAULT_LIMITS,
    cancellation: Cancellation | None = None,
) -> JsonSchema:
    """The JSON texts whose value satisfies a schema.

    Listed properties come in the order in which the schema lists them, each at most once, and other properties behind
    them. Names of listed properties are written as JSON writers do, with or without escapes for characters beyond
    ASCII; all legal spellings of strings and numbers are in the language.

    Args:
        schema: a JSON Schema as `json.loads` gives it: a dict or a bool.
        draft: the draft to read it by; "auto" goes by `$schema`, and is the newest draft where there is none.
        whitespace: "default" takes what `json.dumps` and `JSON.stringify` write, indented or not; "compact",
            "python" and "javascript" one way; "flexible" a few blanks wherever JSON allows them; or a `Whitespace`.
        property_order: "schema" is the order in which the schema lists properties; "any" takes any order, each at most
            once, of objects that list ten names at most; "any-if-cheap" takes any order in objects where that takes few
            states, and in most others the schema's or that of `required`, with all else behind it in any order. There,
            listed names that are not required may be repeated, each time with a value that the schema allows.
        unsupported: whether a keyword that cannot be expressed exactly is an error, or is left out and listed in
            `JsonSchema.dropped`.
        resolver: gives the schema at a URI for references to other documents; nothing is ever fetched without it.
        limits: how much reading the schema may take; compiling it has limits of its own.
        cancellation: stops the reading from another thread.

    Raises:
        UnsupportedSchema: a keyword cannot be expressed exactly; the error names it, its place and the reason.
        UnsatisfiableSchema: no value satisfies the schema; the message names the conflict.
        SchemaError: the schema is no schema, or a reference leads nowhere.
        LimitExceeded: what the schema asks for takes too many states, or more than `limits`.
        Cancelled: the reading was cancelled.
    """
    if property_order not in ("schema", "any", "any-if-cheap"):
        raise ValueError(f"property_order is 'schema', 'any' or 'any-if-cheap', not {property_order!r}")
    if unsupported not in ("error", "relax"):
        raise ValueError(f"unsupported is 'error' or 'relax', not {unsupported!r}")
    whitespace_at(whitespace, 1)
    with Work(limits, cancellation).current():
        return _read(
            schema,
            partial(read_schema, schema, draft=draft, resolver=resolver),
            whitespace,
            property_order,
            unsupported,
        )


def _read(
    schema: Any,
    read: Callable[..., Document],
    whitespace: Habit | Whitespace,
    property_order: PropertyOrder,
    unsupported: Literal["error", "relax"],
) -> JsonSchema:
    lay = partial(network_of, whitespace=whitespace)
    dropped: list[Note] = []
    while True:
        try:
            document = read(skip=frozenset(note.pointer for note in dropped))
            try:
                network, kinds = lay(document, order=property_order)
            except LimitExceeded:
                if property_order != "any-if-cheap":
                    raise
                network, kinds = lay(document, order="schema")
            break
        except UnsatisfiableSchema as error:
            raise explain_conflict(error, schema, partial(_is_empty, read)) from None
        except UnsupportedSchema as error:
            if unsupported == "error" or error.keyword is None or len(dropped) == _MAX_DROPPED:
                raise
            note = Note(error.pointer, error.keyword, error.reason)
            if note.pointer in {earlier.pointer for earlier in dropped}:
                raise
            dropped.append(note)
    left_out = {note.pointer for note in dropped}
    notes = tuple(note for note in document.notes if note.pointer not in left_out)
    return JsonSchema(schema, document.draft, notes, tuple(dropped), kinds, network, document)


def _is_empty(read: Callable[..., Document], skip: frozenset[str]) -> bool:
    """Whether no value satisfies a schema without some keywords, as far as that can be told."""
    try:
        network_of(read(skip=skip), "compact", "schema")
    except UnsatisfiableSchema:
        return True
    except (SchemaError, LimitExceeded):
        return False
    return False
