"""Reader: goes through a schema, keyword by keyword, and joins what they say.

A schema that a reference leads to is read once, for each scope of dynamic anchors that it is read in, and becomes a
definition if it leads to itself or is large; a small one stands in place of its references. What no reference leads to
is not read. Most schemas have no dynamic references, and scopes cost something, so they are kept only from the moment
that one is met: reading begins again then.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Final

from automata.errors import SchemaError
from constraints.json_schema.document import Note
from constraints.json_schema.formula import FALSE, TRUE, And, Formula, Or, Reference, conjunction
from constraints.json_schema.reading.dialects import LATE
from constraints.json_schema.reading.disjoint import Outlines
from constraints.json_schema.reading.library import Library
from constraints.json_schema.reading.pointers import step
from constraints.json_schema.reading.site import Resource, Scope, Site, Target, shown

# How many statements a definition may have side by side to stand in place of its references.
SMALL: Final = 4


class DynamicReference(Exception):
    """A dynamic reference was met, and scopes were not kept."""


class Reader:
    """One pass over a schema.

    Attributes:
        definitions, places, notes: what becomes part of the document.
    """

    def __init__(self, library: Library, skip: frozenset[str], dynamic: bool) -> None:
        self._library, self._skip, self._dynamic = library, skip, dynamic
        self.definitions: dict[Hashable, Formula] = {}
        self.places: dict[Formula, str] = {}
        self.notes: dict[Note, None] = {}
        self._done: dict[Hashable, Formula] = {}
        self._open: set[Hashable] = set()
        self._recursive: set[Hashable] = set()
        self._conditions: dict[Hashable, Formula] = {}
        # Equal formulas become one, so that what contains them is compared without looking into them.
        self._same: dict[Formula, Formula] = {}
        self._outlines = Outlines(self.definitions)

    def root(self) -> Formula:
        """What the whole schema says."""
        resource = self._library.root
        formula = self.definition(Target(resource.schema, resource.place, resource), ())
        if isinstance(formula, Reference) and formula.key not in self._recursive:
            return self.definitions.pop(formula.key)  # it is large, and nothing else leads to it
        return formula

    def definition(self, target: Target, scope: Scope) -> Formula:
        scope = self._within(target.resource, scope) if self._dynamic else scope
        key: Hashable = (target.place, *((name, inner.place) for name, inner in scope)) if scope else target.place
        known = self._done.get(key)
        if known is not None:
            return known
        if key in self._open:
            self._recursive.add(key)
            return Reference(key)
        self._open.add(key)
        formula = self._read(target.schema, target.place, target.resource, scope)
        self._open.discard(key)
        if key in self._recursive or not _is_small(formula):
            self.definitions[key] = formula
            formula = Reference(key)
        self._done[key] = formula
        return formula

    def below(self, site: Site, schema: Any, keyword: str, name: str | None = None) -> Formula:
        return self._read(schema, _place(site, keyword, name), site.resource, site.scope)

    def condition(self, site: Site, schema: Any, keyword: str, name: str | None = None) -> Formula:
        key = (_place(site, keyword, name), site.scope)
        known = self._conditions.get(key)
        if known is None:
            known = self._conditions[key] = self.below(site, schema, keyword, name)
        return known

    def child(self, site: Site, schema: Any, keyword: str, name: str | None = None) -> Site | None:
        return self._site(schema, _place(site, keyword, name), site.resource, site.scope)

    def target_site(self, target: Target, scope: Scope) -> Site | None:
        scope = self._within(target.resource, scope) if self._dynamic else scope
        return self._site(target.schema, target.place, target.resource, scope)

    def target(self, site: Site, keyword: str) -> Target:
        reference = site.schema[keyword]
        if not isinstance(reference, str):
            raise site.wrong(keyword, "a string", reference)
        if keyword == "$ref":
            return self._library.resolve(site.resource, reference, site.place + "/$ref", keyword)
        if not self._dynamic:
            raise DynamicReference
        target = self._library.resolve(site.resource, reference, f"{site.place}/{keyword}", keyword)
        if keyword == "$recursiveRef":
            target = target.resource.anchors.get("", target) if target.schema is target.resource.schema else target
        if target.dynamic is not None:
            target = dict(site.scope).get(target.dynamic, target)
        return target

    def compatible(self, parts: Sequence[Formula]) -> list[list[int]]:
        return self._outlines.compatible(parts)

    def put(self, formula: Formula, place: str) -> Formula:
        self.places.setdefault(formula, place)
        return formula

    def note(self, site: Site, keyword: str, reason: str) -> None:
        self.notes[Note(f"{site.place}/{keyword}", keyword, reason)] = None

    def _read(self, schema: Any, place: str, resource: Resource, scope: Scope) -> Formula:
        site = self._site(schema, place, resource, scope)
        if site is None:
            return TRUE if schema else FALSE
        handlers = site.resource.dialect.handlers
        parts = []
        for keyword in sorted(site.schema, key=LATE.__contains__):
            handler = handlers.get(keyword)
            if handler is not None:
                parts.append(self.put(handler(self, site, site.schema[keyword]), f"{place}/{keyword}"))
        formula = conjunction(parts)
        return self._same.setdefault(formula, formula)

    def _site(self, schema: Any, place: str, resource: Resource, scope: Scope) -> Site | None:
        """The site of an object schema, in the resource that it belongs to, without keywords to be skipped."""
        if not isinstance(schema, dict):
            if isinstance(schema, bool):
                return None
            raise SchemaError(f"a schema must be an object or a boolean, not {shown(schema)}", pointer=place)
        if "$id" in schema or "id" in schema:
            entered = self._library.entered(schema, place, resource)
            if entered is not resource and self._dynamic:
                scope = self._within(entered, scope)
            resource = entered
        if resource.dialect.reference_alone and "$ref" in schema:
            schema = {"$ref": schema["$ref"]}
        if self._skip:
            schema = self._kept(schema, place)
        return Site(schema, place, resource, scope)

    def _kept(self, schema: dict[str, Any], place: str) -> dict[str, Any]:
        kept = {}
        for keyword, value in schema.items():
            pointer = place + step(keyword)
            if pointer in self._skip:
                self.notes[Note(pointer, keyword, "it is left out on request")] = None
            else:
                kept[keyword] = value
        return kept

    def _within(self, resource: Resource, scope: Scope) -> Scope:
        """The scope inside of a resource; a name that is known already keeps what it leads to."""
        self._library.scan(resource)
        known = {name for name, _ in scope}
        new = tuple((n, t) for n, t in resource.anchors.items() if t.dynamic is not None and n not in known)
        return scope + new if new else scope


def _place(site: Site, keyword: str, name: str | None) -> str:
    return f"{site.place}/{keyword}" if name is None else f"{site.place}/{keyword}{step(name)}"


def _is_small(formula: Formula) -> bool:
    return not isinstance(formula, (And, Or)) or len(formula.parts) <= SMALL
