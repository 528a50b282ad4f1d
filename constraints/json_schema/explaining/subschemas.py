"""Which schemas apply to a value, given its path in the text.

    SchemaSource   a schema, and how it is read
    Subschemas     follows a path through a schema: references, alternatives, properties, items

Of the alternatives of `anyOf` and `oneOf`, and of `then` and `else`, only those are followed that the text so far may
still satisfy: each is compiled on its own, and reads the part of the value that has been written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from automata import expressions as ex
from automata.compile.compiler import compile_expr
from automata.errors import LimitExceeded, PatternError, SchemaError, UnsatisfiableSchema
from automata.pattern import parse
from constraints.json_schema.building.layout import Layout
from constraints.json_schema.building.schema_grammar import schema_grammar
from constraints.json_schema.building.whitespace import Whitespace
from constraints.json_schema.explaining.position import JsonPosition, Step
from constraints.json_schema.formulas.connectives import Formula
from constraints.json_schema.reading.dialects import ANNOTATIONS, DIALECTS
from constraints.json_schema.reading.document import Draft, Resolver, SchemaDocument
from constraints.json_schema.reading.reader import DynamicReference, Reader
from constraints.json_schema.reading.resources.library import Library
from constraints.json_schema.reading.resources.pointers import step as pointer_step
from constraints.json_schema.reading.site import Resource, Scope, Target
from constraints.recursion import run
from tokenfst.compile import compile as compile_tokens
from tokenfst.token_automaton import TokenAutomaton
from tokenfst.unique_items.language import RulesAlone
from tokenfst.vocabulary.all_bytes import ALL_BYTES

_BLANKS: Final = ex.repeat(ex.char_set(" \t\n\r"), 0)
# Blanks wherever JSON allows them within a value, any number of them.
ANY_BLANKS: Final = Whitespace(_BLANKS, _BLANKS, _BLANKS, _BLANKS, _BLANKS, _BLANKS, _BLANKS)
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_ALTERNATIVES: Final = ("anyOf", "oneOf")
# Keywords that constrain no value by themselves.
_SILENT: Final = ANNOTATIONS.union(_REFERENCES, _ALTERNATIVES, ["allOf", "if", "$dynamicAnchor", "$recursiveAnchor"])


# The place of a schema, and those of the dynamic anchors in force.
_Key: TypeAlias = tuple[str, tuple[tuple[str, str], ...]]


class SchemaSource(NamedTuple):
    """A schema, and how it is read.

    Attributes:
        schema: the schema.
        draft, resolver: as they were given to `json_schema`.
        read: reads it without the keywords at some pointers.
    """

    schema: Any
    draft: Draft | Literal["auto"]
    resolver: Resolver | None
    read: Callable[[frozenset[str]], SchemaDocument]


class Applied(NamedTuple):
    """A schema that applies to a value.

    Attributes:
        schema: the schema.
        place: where it stands.
        resource: the resource that it is in.
        scope: the dynamic anchors in force in it.
    """

    schema: Any
    place: str
    resource: Resource
    scope: Scope


class Subschemas:
    """The schemas inside of one schema."""

    def __init__(self, source: SchemaSource, order: Any, spellings: Any) -> None:
        """Prepare to follow paths.

        Args:
            source: the schema.
            order, spellings: how its values are written.
        """
        self.source, self._spellings = source, spellings
        # A schema is compiled by itself, and the one around it may list properties in another order.
        self._order: Any = "any-if-cheap" if order == "schema" else order
        # The automaton of each schema, by place and scope; None for a schema that cannot be compiled by itself.
        self._automata: dict[_Key, TokenAutomaton | None] = {}
        self._without_values: set[_Key] = set()

    @cached_property
    def _library(self) -> Library:
        draft = self.source.draft
        return Library(self.source.schema, None if draft == "auto" else DIALECTS[draft], self.source.resolver)

    def along(self, text: bytes, position: JsonPosition) -> list[list[Applied]]:
        """Return, for each value from the whole to the innermost one on the path, the schemas that apply to it."""
        root = self._library.root
        whole = Applied(root.schema, root.place, root, self._library.within(root, ()))
        found = [self._in_place([whole], text, position.begins[:1])]
        for depth, step in enumerate(position.path):
            inner = [target for outer in found[-1] for target in self._below(outer, step)]
            found.append(self._in_place(inner, text, position.begins[depth + 1 : depth + 2]))
        return found

    def saying(self, targets: list[Applied]) -> list[Applied]:
        """Return the schemas that constrain a value by themselves; all of them if none does."""
        speaking = [each for each in targets if not isinstance(each.schema, dict) or set(each.schema) - _SILENT]
        return speaking or targets

    def expected(self, target: Applied, value: bytes) -> frozenset[int] | None:
        """Return the bytes that a schema allows after the beginning of a value; None if it does not allow this
        beginning, or cannot be compiled by itself."""
        automaton = self._automaton(target)
        state = None if automaton is None else read(automaton, value)
        if automaton is None or state is None:
            return None
        return frozenset(automaton.mask(state)[:256].nonzero()[0].tolist())

    def _in_place(self, targets: list[Applied], text: bytes, begins: tuple[int, ...]) -> list[Applied]:
        """Return the given schemas of a value, and the schemas that these apply to the same value, directly or not."""
        value = text[begins[0] :] if begins else b""
        found: dict[str, Applied] = {}
        waiting = targets[::-1]
        while waiting:
            target = waiting.pop()
            if target.place not in found:
                found[target.place] = target
                waiting += reversed(list(self._applied(target, value)))
        return list(found.values())

    def _applied(self, target: Applied, value: bytes) -> Iterator[Applied]:
        schema = target.schema
        if not isinstance(schema, dict):
            return
        for keyword in _REFERENCES:
            if isinstance(schema.get(keyword), str):
                place = f"{target.place}/{keyword}"
                found = self._library.referred(target.resource, schema[keyword], place, keyword, target.scope)
                scope = self._library.within(found.resource, target.scope)
                yield Applied(found.schema, found.place, found.resource, scope)
        yield from self._each(target, "allOf")
        others = [inner for keyword in _ALTERNATIVES for inner in self._each(target, keyword)]
        others += [self._inner(target, schema[keyword], keyword) for keyword in ("then", "else") if keyword in schema]
        for inner in others:
            if self._may_hold(inner, value):
                yield inner

    def _may_hold(self, target: Applied, value: bytes) -> bool:
        """Return whether a value with this beginning may satisfy a schema; True if that cannot be told."""
        automaton = self._automaton(target)
        return _key(target) not in self._without_values and (automaton is None or read(automaton, value) is not None)

    def _each(self, target: Applied, keyword: str) -> Iterator[Applied]:
        for number, inner in enumerate(target.schema.get(keyword, ())):
            yield self._inner(target, inner, keyword, str(number))

    def _inner(self, target: Applied, schema: Any, *path: str) -> Applied:
        place, resource, scope = target.place + "".join(map(pointer_step, path)), target.resource, target.scope
        if isinstance(schema, dict):
            resource = self._library.entered(schema, place, resource)
            scope = scope if resource is target.resource else self._library.within(resource, scope)
        return Applied(schema, place, resource, scope)

    def _below(self, target: Applied, step: Step) -> Iterator[Applied]:
        """Yield the schemas that a schema applies to one of its members or items."""
        schema = target.schema
        if not isinstance(schema, dict):
            return
        yield from self._of_member(target, step) if isinstance(step, str) else self._of_item(target, step)

    def _of_member(self, target: Applied, name: str) -> Iterator[Applied]:
        schema, is_listed = target.schema, False
        if name in schema.get("properties", {}):
            is_listed = True
            yield self._inner(target, schema["properties"][name], "properties", name)
        for pattern, inner in schema.get("patternProperties", {}).items():
            if _matches(pattern, name):
                is_listed = True
                yield self._inner(target, inner, "patternProperties", pattern)
        for keyword in ("additionalProperties", "unevaluatedProperties"):
            if not is_listed and keyword in schema:
                yield self._inner(target, schema[keyword], keyword)

    def _of_item(self, target: Applied, index: int) -> Iterator[Applied]:
        schema = target.schema
        items = schema.get("items")
        listed = "prefixItems" if "prefixItems" in schema else "items" if isinstance(items, list) else None
        if listed and index < len(schema[listed]):
            yield self._inner(target, schema[listed][index], listed, str(index))
            return
        for keyword in ("items", "additionalItems", "unevaluatedItems"):
            if keyword in schema and keyword != listed:
                yield self._inner(target, schema[keyword], keyword)

    def _automaton(self, target: Applied) -> TokenAutomaton | None:
        """Return the automaton of a schema by itself, byte by byte; None if it cannot be made."""
        key = _key(target)
        if key not in self._automata:
            try:
                layout = Layout(self._document(target), ANY_BLANKS, self._order, self._spellings)
                rules = schema_grammar(layout).rules
                self._automata[key] = compile_tokens(RulesAlone(rules), ALL_BYTES)
            except UnsatisfiableSchema:
                self._automata[key] = None
                self._without_values.add(key)
            except (SchemaError, LimitExceeded) as error:
                if isinstance(error, LimitExceeded) and error.limit == "seconds":
                    raise
                self._automata[key] = None
        return self._automata[key]

    def _document(self, target: Applied) -> SchemaDocument:
        for is_dynamic in (False, True):
            reader = Reader(self._library, dynamic=is_dynamic)
            try:
                whole = Target(target.schema, target.place, target.resource)
                root: Formula = run(reader.definition(whole, target.scope if is_dynamic else ()))
            except DynamicReference:
                continue
            return SchemaDocument(root, reader.definitions, self._library.root.dialect.draft, reader.places, ())
        raise AssertionError("scopes are kept in the second reading")


def _key(target: Applied) -> _Key:
    return target.place, tuple((name, anchor.place) for name, anchor in target.scope)


def read(automaton: TokenAutomaton, text: bytes) -> Any:
    """Return the state of an automaton over bytes after a text; None if no accepted text begins with this one."""
    state = automaton.start
    for byte in text:
        state = automaton.step(state, byte)
        if state is None:
            return None
    return state


def _matches(pattern: Any, name: str) -> bool:
    """Return whether a name matches a key of `patternProperties`."""
    if not isinstance(pattern, str):
        return False
    try:
        return compile_expr(parse(pattern, dialect="ecma", search=True)).accepts(name)
    except (PatternError, UnicodeEncodeError):
        return False
