"""Names: which listed names a formula about names means, and what kinds of other names there are.

All names that any formula of a level lists are looked at one by one. The others are told apart by what is left of the
formulas, patterns mostly: each way in which these may be true or false of a name is a class of names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from automata.errors import LimitExceeded
from constraints.json_schema.formula import (
    FALSE,
    TRUE,
    Always,
    And,
    Formula,
    Never,
    Not,
    Or,
    StringIn,
    conjunction,
    disjunction,
    negation,
)
from constraints.json_schema.strings import string_is_empty, string_matches

MAX_CLASSES = 1_000

# A formula about names, and those of the statements' formulas that are true of these names; the others are false.
NameClass = tuple[Formula, frozenset[Formula]]


class Names:
    """The names of members at one level.

    Attributes:
        listed: those that some formula lists.
    """

    def __init__(self, listed: Iterable[str]) -> None:
        self.listed = frozenset(listed)
        self.unlisted: Formula = negation(StringIn(self.listed)) if self.listed else TRUE
        self.known: dict[Formula, frozenset[str]] = {}
        self.views: dict[Formula, Formula] = {}

    def means(self, names: Formula, name: str) -> bool:
        """Whether a formula about names is true of a listed one."""
        found = self.known.get(names)
        if found is None:
            found = self.known[names] = frozenset(listed for listed in self.listed if _true_of(names, listed))
        return name in found

    def view(self, names: Formula) -> Formula:
        """What a formula about names says of those that are not listed."""
        found = self.views.get(names)
        if found is None:
            found = self.views[names] = _without_lists(names)
        return found

    def classes(self, formulas: Iterable[Formula]) -> Iterator[NameClass]:
        """All ways in which formulas about names, as `view` gives them, can be true or false of a name not listed.

        Raises:
            LimitExceeded: there are too many.
        """
        views = [view for view in dict.fromkeys(map(self.view, formulas)) if not isinstance(view, Always | Never)]
        rows: list[tuple[list[Formula], list[Formula]]] = [([], [])]
        for view in views:
            split = []
            for chosen, true in rows:
                for literal, more in ((view, [view]), (negation(view), [])):
                    if not string_is_empty(conjunction([self.unlisted, *chosen, literal])):
                        split.append(([*chosen, literal], [*true, *more]))
            rows = split
            if len(rows) > MAX_CLASSES:
                raise LimitExceeded(f"patterns tell apart more than {MAX_CLASSES:,} classes of names of members")
        return ((conjunction(chosen), frozenset([*true, TRUE])) for chosen, true in rows)


def _true_of(names: Formula, name: str) -> bool:
    kind = type(names)
    if kind is StringIn:
        return name in names._fields[0]
    if kind is Not:
        return not _true_of(names._fields[0], name)
    if kind is And:
        return all(_true_of(part, name) for part in names._fields)
    if kind is Or:
        return any(_true_of(part, name) for part in names._fields)
    if isinstance(names, Always | Never):
        return isinstance(names, Always)
    return string_matches(names, name)


def _without_lists(names: Formula) -> Formula:
    match names:
        case StringIn():
            return FALSE
        case Not():
            return negation(_without_lists(names.part))
        case And():
            return conjunction(map(_without_lists, names.parts))
        case Or():
            return disjunction(map(_without_lists, names.parts))
    return names
