"""Names: the listed names that satisfy a formula about names, and the classes of all other names.

Listed names, those that some formula of a container lists, are treated one by one. Other names are distinguished by the
rest of the formulas, mostly patterns: each combination of truth values of these is a class of names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from automata.cache import kept
from automata.errors import LimitExceeded
from constraints.json_schema.formulas.connectives import (
    FALSE,
    TRUE,
    Always,
    Formula,
    Never,
    Not,
    Substitution,
    conjunction,
    negation,
)
from constraints.json_schema.formulas.statements import StringIn
from constraints.json_schema.strings import string_matches
from constraints.json_schema.strings.content import combinations

MAX_CLASSES = 1_000
# The most states of all patterns of names side by side.
_MAX_STATES: Final = 50_000

# A class of names: a formula about them, and those of the given formulas that are true of them; the others are false.
NameClass = tuple[Formula, frozenset[Formula]]
_ONE_CLASS: Final[list[NameClass]] = [(TRUE, frozenset([TRUE]))]


class Names:
    """The names of an object's members.

    Attributes:
        listed: the names that some formula lists.
        unlisted: the formula of all other names.
    """

    def __init__(self, listed: Iterable[str]) -> None:
        self.listed = frozenset(listed)
        self.unlisted: Formula = negation(StringIn(self.listed)) if self.listed else TRUE
        self._meant: dict[Formula, frozenset[str]] = {}
        self._views: dict[Formula, Formula] = {}

    def means(self, names: Formula, name: str) -> bool:
        """Return whether a formula about names is true of a listed one."""
        found = self._meant.get(names)
        if found is None:
            found = self._meant[names] = self._meaning(names)
        return name in found

    def _meaning(self, names: Formula) -> frozenset[str]:
        """Return the listed names that a formula about names is true of."""
        if type(names) is StringIn:
            return self.listed & names.texts
        if type(names) is Not and type(names.part) is StringIn:
            return self.listed - names.part.texts
        return frozenset([name for name in self.listed if string_matches(names, name)])

    def view(self, names: Formula) -> Formula:
        """Return what a formula about names says about the unlisted ones."""
        found = self._views.get(names)
        if found is None:
            found = self._views[names] = _without_lists(names)
        return found

    def classes(self, formulas: Iterable[Formula]) -> Iterator[NameClass]:
        """Yield all ways in which formulas about names, as `view` gives them, can be true or false of an unlisted name.

        Raises:
            LimitExceeded: there are more than `MAX_CLASSES`, or finding them takes too many states.
        """
        views = dict.fromkeys(map(self.view, formulas))
        told_by = tuple([view for view in views if not isinstance(view, Always | Never)])
        return iter(_classes(self.unlisted, told_by) if told_by else _ONE_CLASS)


@kept(256)
def _classes(unlisted: Formula, views: tuple[Formula, ...]) -> list[NameClass]:
    """Return all ways in which some formulas can be true or false of a name that is not listed."""
    ways = combinations(unlisted, views, _MAX_STATES)
    if len(ways) > MAX_CLASSES:
        raise LimitExceeded(f"patterns tell apart more than {MAX_CLASSES:,} classes of names of members")
    found = []
    for way in ways:
        told = list(zip(views, way, strict=True))
        chosen = conjunction([view if holds else negation(view) for view, holds in told])
        found.append((chosen, frozenset([TRUE, *(view for view, holds in told if holds)])))
    return found


def _without_lists(names: Formula) -> Formula:
    """Return what a formula says about names that no formula lists."""
    if type(names) is Not and type(names.part) is StringIn:
        return TRUE
    return Substitution(lambda statement: FALSE if type(statement) is StringIn else statement)(names)
