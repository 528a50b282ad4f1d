"""Library: the documents of a schema, and the targets of the references in them.

    Library.entered   the resource that a schema is in: its own, if it has a URI
    Library.resolve   the target of a reference: a URI, relative to a resource, and a pointer or a name in that document
    Library.referred  the same for references whose target depends on the dynamic anchors in force
    Library.within    the dynamic anchors in force in a resource

A pointer is followed step by step, without searching the schema. For a name, or a URI that is not that of a document,
the document is scanned once. Documents come from the caller's resolver and from the metaschemas included in the
package; nothing is fetched over a network.

A schema that was made in Python may contain itself, or contain one object in many places. One object with one URI is
one resource, wherever it is, and each object is scanned once in each resource.

A pointer without a target in its resource is followed from the document's root, because many schemas have inner parts
with an `id` that was never meant as a base.
"""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import unquote, urljoin

from automata.errors import SchemaError, UnsupportedSchema
from automata.limits import charge, spend
from constraints.json_schema.reading.dialects import UNDECLARED
from constraints.json_schema.reading.document import Note, Resolver
from constraints.json_schema.reading.resources.metaschemas import metaschema
from constraints.json_schema.reading.resources.pointers import step, steps
from constraints.json_schema.reading.resources.scanning import (
    SCHEMA_LISTS,
    SCHEMA_MAPS,
    SCHEMAS,
    add_anchors,
    own_uri,
    subschemas,
)
from constraints.json_schema.reading.resources.vocabularies import UnknownVocabulary, dialect_of
from constraints.json_schema.reading.site import Resource, SchemaDialect, Scope, Target, shown

_INDEX: Final = re.compile("0|[1-9][0-9]{0,17}")

# The bytes of memory and the steps that a resource takes, in addition to its texts.
_BYTES, _STEPS = 500, 100


class _Nowhere(Exception):
    """A reference leads to nothing; the message says why."""


class Library:
    """Everything that references may lead to.

    Attributes:
        root: the resource of the caller's schema.
        notes: each unknown `$schema`.
    """

    def __init__(self, schema: Any, dialect: SchemaDialect | None, resolver: Resolver | None) -> None:
        """Make a library. `dialect` is that of the caller's schema; None means the one that its `$schema` names, or
        `UNDECLARED` if it names none."""
        self._resolver = resolver
        self.notes: dict[Note, None] = {}
        self._entered: dict[str, Resource] = {}
        self._resources: dict[str, Resource] = {}
        # Resources inside of documents, by URI and by the identity of the schema, which they keep alive.
        self._inner: dict[tuple[str, int], Resource] = {}
        self._targets: dict[tuple[Resource, str], Target] = {}
        self.root = self._document("", schema, "", dialect or self._declared(schema, "", UNDECLARED))

    def entered(self, schema: dict[str, Any], place: str, resource: Resource) -> Resource:
        """Return the resource of a schema that lies in `resource` or is its root."""
        known = self._entered.get(place)
        if known is not None:
            return known
        uri = own_uri(schema, resource)
        base = uri.partition("#")[0] if uri else ""
        if not base:
            return resource
        uri = _joined(resource.uri, base)
        if resource.place == place:  # a document, which has another URI than the one it was found by
            entered = Resource(uri, schema, place, resource.dialect, anchors=resource.anchors)
        else:
            entered = self._inner.get((uri, id(schema))) or self._made(uri, schema, place, resource)
        self._entered[place] = entered
        self._resources.setdefault(uri, entered)
        return entered

    def _made(self, uri: str, schema: dict[str, Any], place: str, outer: Resource) -> Resource:
        """Make the resource of a schema inside another resource."""
        charge(_BYTES + len(uri) + len(place))
        spend(_STEPS)
        made = Resource(uri, schema, place, self._declared(schema, place, outer.dialect), outer.document)
        self._inner[uri, id(schema)] = made
        return made

    def resolve(self, resource: Resource, reference: str, pointer: str, keyword: str) -> Target:
        """Return the target of a reference.

        Args:
            resource: the one that it stands in.
            pointer, keyword: where it stands, for errors.

        Raises:
            SchemaError: it leads nowhere, or to an unknown document.
        """
        known = self._targets.get((resource, reference))
        if known is None:
            try:
                known = self._resolve(resource, reference)
            except _Nowhere as error:
                raise SchemaError(str(error), pointer=pointer, keyword=keyword) from None
            self._targets[resource, reference] = known
        return known

    def referred(self, resource: Resource, reference: str, pointer: str, keyword: str, scope: Scope) -> Target:
        """Return the target of a reference of any kind, among them `$dynamicRef` and `$recursiveRef`.

        Args:
            resource, reference, pointer, keyword: as for `resolve`.
            scope: the dynamic anchors in force.

        Raises:
            SchemaError, UnsupportedSchema: as for `resolve`.
        """
        target = self.resolve(resource, reference, pointer, keyword)
        if keyword == "$ref":
            return target
        if keyword == "$recursiveRef":
            target = target.resource.anchors.get("", target) if target.schema is target.resource.schema else target
        return target if target.dynamic is None else dict(scope).get(target.dynamic, target)

    def within(self, resource: Resource, scope: Scope) -> Scope:
        """Return the scope inside a resource; names that are already in scope keep their targets."""
        self.scan(resource)
        known = {name for name, _ in scope}
        new = tuple((n, t) for n, t in resource.anchors.items() if t.dynamic is not None and n not in known)
        return scope + new if new else scope

    def scan(self, resource: Resource) -> None:
        """Enter all resources and names of a resource's document."""
        document = resource.document
        if document.scanned:
            return
        document.scanned = True
        seen: set[tuple[int, Resource]] = set()
        waiting: list[tuple[Any, str, Resource]] = [(document.schema, document.place, document)]
        while waiting:
            schema, place, inside = waiting.pop()
            if not isinstance(schema, dict):
                continue
            inside = self.entered(schema, place, inside)
            key = id(schema), inside
            if key in seen:
                continue
            seen.add(key)
            add_anchors(schema, place, inside)
            waiting.extend((inner, at, inside) for inner, at in reversed(list(subschemas(schema, place))))

    def _declared(self, schema: Any, place: str, default: SchemaDialect) -> SchemaDialect:
        """Return the dialect that a resource's `$schema` names; the default if it has none, or an unknown one."""
        uri = schema.get("$schema") if isinstance(schema, dict) else None
        if uri is None:
            return default
        pointer = place + "/$schema"
        if not isinstance(uri, str):
            raise SchemaError(f"the value must be a string, not {shown(uri)}", pointer=pointer, keyword="$schema")
        try:
            dialect = dialect_of(uri, default, self._resolver)
        except UnknownVocabulary as error:
            raise UnsupportedSchema(str(error), pointer=pointer, keyword="$schema") from None
        if dialect is None:
            self.notes[Note(pointer, "$schema", f"the dialect {uri!r} is unknown")] = None
        return dialect or default

    def _document(self, uri: str, schema: Any, place: str, dialect: SchemaDialect) -> Resource:
        document = Resource(uri, schema, place, dialect)
        self._resources[uri] = document
        if isinstance(schema, dict):
            document = self.entered(schema, place, document)
        self._resources[uri] = document
        return document

    def _resolve(self, resource: Resource, reference: str) -> Target:
        uri, _, fragment = reference.partition("#")
        named = self._resource(resource, _joined(resource.uri, uri)) if uri else resource
        fragment = unquote(fragment)
        if not fragment or fragment.startswith("/"):
            found = self._followed(named, fragment)
            if found is None and named is not named.document:
                found = self._followed(named.document, fragment)
        else:
            self.scan(named)
            found = named.anchors.get(fragment) or named.document.anchors.get(fragment)
        if found is None:
            raise _Nowhere(f"the reference {reference!r} leads to nothing")
        return found

    def _resource(self, resource: Resource, uri: str) -> Resource:
        known = self._resources.get(uri)
        if known is None:
            self.scan(resource)
            known = self._resources.get(uri)
        return known or self._document(uri, *self._fetched(uri, resource.dialect))

    def _fetched(self, uri: str, default: SchemaDialect) -> tuple[Any, str, SchemaDialect]:
        try:
            schema = metaschema(uri)
        except LookupError:
            if self._resolver is None:
                raise _Nowhere(f"the reference leads to {uri!r}, and there is no resolver") from None
            try:
                schema = self._resolver(uri)
            except LookupError:
                raise _Nowhere(f"the reference leads to {uri!r}, which the resolver does not know") from None
        place = uri + "#"
        return schema, place, self._declared(schema, place, default)

    def _followed(self, resource: Resource, fragment: str) -> Target | None:
        """Return the target of a pointer, or None; schemas with a URI of their own on the way change the resource."""
        schema, place = resource.schema, resource.place
        container = ""  # the keyword whose schemas the value holds; "" if it is a schema, "?" if it is unknown
        for name in steps(fragment):
            if isinstance(schema, list):
                if not _INDEX.fullmatch(name) or int(name) >= len(schema):
                    return None
                schema = schema[int(name)]
                container = "" if container else "?"
            elif isinstance(schema, dict) and name in schema:
                if not container:
                    resource = self.entered(schema, place, resource)
                schema = schema[name]
                container = _inside(container, name, schema)
            else:
                return None
            place += step(name)
        if isinstance(schema, dict) and container != "?":
            resource = self.entered(schema, place, resource)
        return Target(schema, place, resource)


def _inside(container: str, name: str, value: Any) -> str:
    """Return what the value under a name contains, given the same of the value around it (`container` of
    `Library._followed`)."""
    if container:
        return "" if container != "?" else "?"
    if name in SCHEMA_LISTS and isinstance(value, list):
        return name
    if name in SCHEMA_MAPS:
        return name
    return "" if name in SCHEMAS else "?"


def _joined(base: str, uri: str) -> str:
    """Resolve a URI reference (RFC 3986, section 5)."""
    try:
        return urljoin(base, uri) if base else uri
    except ValueError:  # "//[" begins an IPv6 address that never ends
        return uri
