"""Conflicts: why no value satisfies a schema, in a few words, with the places of the statements that cause it.

A formula without values is reduced as long as it has no values: by leaving out parts of conjunctions, and by replacing
it by the formula of a required member or item that has no values. A few contradictory statements remain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from automata.errors import LimitExceeded, SchemaError
from constraints.json_schema.explaining.keywords import NO_VALUE
from constraints.json_schema.explaining.wording import only_required, worded
from constraints.json_schema.formulas.connectives import And, Formula, Never, Or, conjunction, parts_of
from constraints.json_schema.formulas.statements import Contains, ItemAt, ItemCount, Members, Reference, StringIn
from constraints.json_schema.reading.document import SchemaDocument
from tokenfst.explanation.wording import listed

# The most parts of a conjunction that is reduced, and the greatest depth of nested values that is searched.
_MAX_PARTS, _MAX_DEPTH = 200, 20


def conflict(document: SchemaDocument, is_empty: Callable[[Formula], bool]) -> tuple[str, str]:
    """Return why no value satisfies a schema, in words, and the place of the contradiction.

    Args:
        document: a schema that no value satisfies.
        is_empty: returns whether no value satisfies a formula.
    """
    return _Search(document, is_empty).explained(document.root, "", _MAX_DEPTH)


class _Search:
    """The search for a few statements that contradict each other."""

    def __init__(self, document: SchemaDocument, is_empty: Callable[[Formula], bool]) -> None:
        self.document = document
        self.is_empty = is_empty
        self.entered: set[Formula] = set()
        # Whether no value satisfies a formula, for the formulas that have been checked.
        self.known: dict[Formula, bool] = {}

    def explained(self, formula: Formula, place: str, depth: int) -> tuple[str, str]:
        """Return why a formula has no values, and the place of the reason; `place` is that of the formula."""
        if formula in self.entered:
            return "it needs a value of its own kind inside, without end", place
        self.entered.add(formula)
        core = self.core(self.meant(formula))
        where = next((self.document.places[part] for part in core if part in self.document.places), None)
        where = self.place(core, place) if where is None else where
        found = self.inside(core, where, depth) if depth else None
        if found is not None:
            return found
        words = [worded(self.written(part)) for part in core]
        if len(core) == 1 and isinstance(core[0], Never):
            return NO_VALUE, where
        if len(core) == 1 and isinstance(core[0], Or):
            reason, _ = self.explained(core[0].parts[0], where, depth - 1) if depth else ("", "")
            return f"none of {len(core[0].parts)} alternatives has a value; the first one: {reason}", where
        named = dict.fromkeys(f"{word} ({pointer})" for word, pointer in self.placed(core, words))
        return f"no value satisfies {listed(list(named) if len(named) > 1 else words[:1], last='and')}", where

    def placed(self, core: Sequence[Formula], words: Sequence[str]) -> list[tuple[str, str]]:
        """Return the words and the place of each statement."""
        return [(word, f"at {self.place([part], '') or 'the root'}") for part, word in zip(core, words, strict=True)]

    def written(self, part: Formula) -> Formula:
        """Return the whole formula of a keyword from one of its parts, since `integer`, for example, is two statements;
        the part itself if it belongs to none."""
        if part in self.document.places:
            return part
        return next((whole for whole in self.document.places if type(whole) is And and part in whole.parts), part)

    def meant(self, formula: Formula) -> Formula:
        """Return the definition that a formula refers to, or the formula itself."""
        seen = set()
        while isinstance(formula, Reference) and formula.key not in seen:
            seen.add(formula.key)
            formula = self.document.definitions[formula.key]
        return formula

    def core(self, formula: Formula) -> list[Formula]:
        """Return parts of a conjunction that contradict each other, none of which can be left out; all parts if there
        are too many, or if no contradiction can be shown."""
        seen = set[Formula]()
        while True:
            # Definitions may lead back to a formula that has been looked at.
            seen.add(formula)
            parts = list(parts_of(formula))
            if len(parts) > _MAX_PARTS or not self.empty(parts):
                return parts
            for part in list(parts):
                fewer = [kept for kept in parts if kept is not part]
                if fewer and self.empty(fewer):
                    parts = fewer
            formula = conjunction(map(self.meant, parts))
            if formula in seen or (len(parts) > 1 and len(parts_of(formula)) <= len(parts)):
                return parts

    def empty(self, parts: Sequence[Formula]) -> bool:
        """Return whether no value satisfies all parts; False if that cannot be told."""
        formula = conjunction(parts)
        if formula not in self.known:
            try:
                self.known[formula] = self.is_empty(formula)
            except (SchemaError, LimitExceeded):
                self.known[formula] = False
        return self.known[formula]

    def inside(self, core: Sequence[Formula], place: str, depth: int) -> tuple[str, str] | None:
        """Return the reason and its place if a required member or item can have no value; otherwise None."""
        for part in core:
            name = only_required(part)
            if name is not None:
                values = [other for other in core if isinstance(other, Members) and _is_about(other, name)]
                value = conjunction(other.value for other in values)
                if values and self.empty([value]):
                    reason, where = self.explained(value, self.place(values, place), depth - 1)
                    return f"required property {name!r} allows no value: {reason}", where
        if any(isinstance(part, ItemCount | Contains) for part in core):
            for part in core:
                if isinstance(part, ItemAt) and self.empty([part.item]):
                    reason, where = self.explained(part.item, self.place([part], place), depth - 1)
                    return f"the array needs an item that allows no value: {reason}", where
        return None

    def place(self, parts: Sequence[Formula], otherwise: str) -> str:
        """Return the place of the first of some statements that has one."""
        places = self.document.places
        return next((places[whole] for whole in map(self.written, parts) if whole in places), otherwise)


def _is_about(part: Members, name: str) -> bool:
    return isinstance(part.names, StringIn) and name in part.names.texts
