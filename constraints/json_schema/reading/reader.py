"""Reader: reads a schema keyword by keyword and joins the formulas.

The target of a reference is read once for each scope of dynamic anchors. It becomes a definition if it is recursive or
large; a small target replaces its references. Schemas without references to them are not read. Scopes cost time, and
few schemas have dynamic references. So scopes are tracked only after the first dynamic reference is found; reading then
starts again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Final

from automata.errors import SchemaError
from automata.limits import charge
from constraints.json_schema.formulas.connectives import FALSE, TRUE, And, Formula, Or, conjunction
from constraints.json_schema.formulas.outlines import Outlines
from constraints.json_schema.formulas.restriction import Restriction
from constraints.json_schema.formulas.statements import Reference
from constraints.json_schema.reading.dialects import ANNOTATIONS, LATE, unknown_meaning
from constraints.json_schema.reading.document import Note, ReadPlaces
from constraints.json_schema.reading.keywords.tables import check_nested
from constraints.json_schema.reading.resources.library import Library
from constraints.json_schema.reading.resources.pointers import step
from constraints.json_schema.reading.site import Resource, Scope, Site, Target, shown, wrong_name
from constraints.recursion import Task, run

# The most parts of a conjunction or disjunction that replaces its references instead of becoming a definition.
SMALL: Final = 4


class DynamicReference(Exception):
    """A dynamic reference was met while scopes were not kept."""


class Reader:
    """One pass over a schema.

    Attributes:
        any_of: the places of each `oneOf` that is read as `anyOf`.
        definitions, places, notes: those of the document.
    """

    def __init__(
        self,
        library: Library,
        skip: frozenset[str] = frozenset(),
        any_of: frozenset[str] = frozenset(),
        seen: ReadPlaces | None = None,
        *,
        dynamic: bool,
    ) -> None:
        self._library, self._skip, self._dynamic = library, skip, dynamic
        self.any_of, self._seen = any_of, seen
        if seen is not None:
            seen.keywords, seen.references = [], []
        self.definitions: dict[Hashable, Formula] = {}
        self.places: dict[Formula, str] = {}
        self.notes: dict[Note, None] = {}
        self._done: dict[Hashable, Formula] = {}
        self._open: set[Hashable] = set()
        self._recursive: set[Hashable] = set()
        # Equal formulas become one object, so that formulas around them are compared without looking into them.
        self._same: dict[Formula, Formula] = {}
        self._outlines: Outlines | None = None

    def root(self) -> Formula:
        """Read the whole schema."""
        resource = self._library.root
        formula = run(self.definition(Target(resource.schema, resource.place, resource), ()))
        if isinstance(formula, Reference) and formula.key not in self._recursive:
            return self.definitions.pop(formula.key)  # it is large, and no reference leads to it
        return formula

    def definition(self, target: Target, scope: Scope) -> Task[Formula]:
        scope = self._library.within(target.resource, scope) if self._dynamic else scope
        key: Hashable = (target.place, *((name, inner.place) for name, inner in scope)) if scope else target.place
        return self._once(
            key, lambda: self.read(target.schema, target.place, target.resource, scope), is_definition=_is_large
        )

    def condition(self, site: Site, schema: Any, keyword: str, name: str | None = None) -> Task[Formula]:
        return self._once((site.at(keyword, name), site.scope), lambda: site.below(schema, keyword, name))

    def _once(
        self,
        key: Hashable,
        read: Callable[[], Formula | Task[Formula]],
        is_definition: Callable[[Formula], bool] = lambda _: False,
    ) -> Task[Formula]:
        """Return the formula of a key, which is read only once. If the formula refers to itself, or if `is_definition`
        holds for it, it becomes a definition, and a reference to it is returned."""
        known = self._done.get(key)
        if known is not None:
            return known
        if key in self._open:
            self._recursive.add(key)
            return Reference(key)
        self._open.add(key)
        formula: Formula = yield read()
        self._open.discard(key)
        if key in self._recursive or is_definition(formula):
            self.definitions[key] = formula
            formula = Reference(key)
        self._done[key] = formula
        return formula

    def child(self, site: Site, schema: Any, keyword: str, name: str | None = None) -> Site | None:
        return self._checked(self._site(schema, site.at(keyword, name), site.resource, site.scope))

    def target_site(self, target: Target, scope: Scope) -> Site | None:
        scope = self._library.within(target.resource, scope) if self._dynamic else scope
        return self._checked(self._site(target.schema, target.place, target.resource, scope))

    def target(self, site: Site, keyword: str) -> Target:
        reference = site.schema[keyword]
        if not isinstance(reference, str):
            raise site.wrong(keyword, "a string", reference)
        if keyword != "$ref" and not self._dynamic:
            raise DynamicReference
        found = self._library.referred(site.resource, reference, site.at(keyword), keyword, site.scope)
        if self._seen is not None:
            self._seen.references.append((site.at(keyword), found.place))
        return found

    def compatible(self, parts: Sequence[Formula]) -> list[list[int]]:
        if self._outlines is None:
            self._outlines = Outlines(Restriction(self.definitions))
        return self._outlines.compatible(parts)

    def put(self, formula: Formula, place: str) -> Formula:
        self.places.setdefault(formula, place)
        return formula

    def note(self, site: Site, keyword: str, reason: str) -> None:
        self.notes[Note(site.at(keyword), keyword, reason)] = None

    def read(self, schema: Any, place: str, resource: Resource, scope: Scope) -> Formula | Task[Formula]:
        site = self._site(schema, place, resource, scope)
        if site is None:
            return TRUE if schema else FALSE
        # The places of nested schemas take memory that grows with the square of the depth.
        charge((1 + len(site.schema)) * len(place))
        schema, handlers = site.schema, site.resource.dialect.handlers
        keywords = schema if LATE.isdisjoint(schema) else sorted(schema, key=LATE.__contains__)
        parts: list[Formula] = []
        known = [keyword for keyword in keywords if keyword in handlers]
        if len(known) < len(schema):
            self._note_unknown(site)
        if self._seen is not None:
            self._seen.keywords += [(keyword, site.at(keyword)) for keyword in known]
        waiting = iter(known)
        for keyword in waiting:
            part = handlers[keyword](site, schema[keyword])
            if not isinstance(part, Formula):
                return self._read_on(site, keyword, part, waiting, parts)
            parts.append(self.put(part, f"{place}/{keyword}"))
        return self._all(parts)

    def _note_unknown(self, site: Site) -> None:
        """Note the unknown keywords that were probably meant to constrain something.

        Raises:
            SchemaError: a keyword is not a string.
        """
        if reason := wrong_name(site.schema):
            raise SchemaError(reason, pointer=site.place)
        dialect = site.resource.dialect
        for keyword, value in site.schema.items():
            if keyword in ANNOTATIONS or keyword in dialect.handlers:
                continue
            if meaning := unknown_meaning(keyword, value, dialect.draft):
                self.note(site, keyword, meaning)

    def _read_on(
        self, site: Site, keyword: str, part: Formula | Task[Formula], waiting: Iterator[str], parts: list[Formula]
    ) -> Task[Formula]:
        """Finish reading a schema: `parts` are the formulas so far, `part` reads the next keyword, whose value contains
        schemas, and the keywords after that are `waiting`."""
        parts.append(self.put((yield part), f"{site.place}/{keyword}"))
        handlers = site.resource.dialect.handlers
        for keyword in waiting:
            read: Formula = yield handlers[keyword](site, site.schema[keyword])
            parts.append(self.put(read, f"{site.place}/{keyword}"))
        return self._all(parts)

    def _all(self, parts: list[Formula]) -> Formula:
        formula = parts[0] if len(parts) == 1 else conjunction(parts)
        return self._same.setdefault(formula, formula)

    def _site(self, schema: Any, place: str, resource: Resource, scope: Scope) -> Site | None:
        """Return the site of an object schema, in the resource that it belongs to, without the keywords to skip; None
        for a boolean schema."""
        if not isinstance(schema, dict):
            if isinstance(schema, bool):
                return None
            raise SchemaError(
                f"a schema must be an object or a boolean, not {shown(schema)}{_meant_by(schema)}", pointer=place
            )
        if "$id" in schema or "id" in schema:
            entered = self._library.entered(schema, place, resource)
            if entered is not resource and self._dynamic:
                scope = self._library.within(entered, scope)
            resource = entered
        if resource.dialect.reference_alone and "$ref" in schema:
            reason = f"{resource.dialect.draft} ignores what stands beside '$ref'"
            hidden = [keyword for keyword in schema if keyword in resource.dialect.handlers and keyword != "$ref"]
            self.notes |= dict.fromkeys(Note(place + step(keyword), keyword, reason) for keyword in hidden)
            self._note_unknown(Site(self, schema, place, resource, scope))
            schema = {"$ref": schema["$ref"]}
        if self._skip:
            schema = self._kept(schema, place)
        return Site(self, schema, place, resource, scope)

    def _checked(self, site: Site | None) -> Site | None:
        """Return a site after checking it, so that its keywords may be looked at before they are read."""
        if site is not None:
            check_nested(site)
        return site

    def _kept(self, schema: dict[str, Any], place: str) -> dict[str, Any]:
        if reason := wrong_name(schema):
            raise SchemaError(reason, pointer=place)
        kept = {}
        for keyword, value in schema.items():
            pointer = place + step(keyword)
            if keyword == "patternProperties" and isinstance(value, dict):
                # Of these, single patterns may be left out.
                value = {name: below for name, below in value.items() if pointer + step(name) not in self._skip}
            if pointer not in self._skip:
                kept[keyword] = value
        return kept


def _meant_by(schema: Any) -> str:
    """Return what was probably meant by a value that is no schema, for an error message."""
    if isinstance(schema, type):
        return f": constraints.typed({schema.__name__}) makes a constraint of a type"
    if isinstance(schema, str | bytes) and schema.lstrip()[:1] in ("{", b"{"):
        return ": json.loads(text) makes a schema of its text"
    return ""


def _is_large(formula: Formula) -> bool:
    return isinstance(formula, (And, Or)) and len(formula.parts) > SMALL
