"""FlaggedObject: an object whose members come in any order, with a flag for each name that must be remembered.

    End, Choice, Hub     where the object may end, a member that may come next, and both for one vector
    flagged_plain        the object of a conjunction of statements about members: one hub
    flagged              the object of any vector of formulas

In any order, a state is a vector, which says what is still required, and the set of the names read so far. The
vectors are few and the sets are many. So the automaton has a *hub* for each vector, and the sets are flags, which the
automaton of the rule keeps (`automata.visibly_pushdown.grammar`). A conjunction of statements about several members
stays in the vector, unchanged, until the object ends; it is then true if the names that it requires have occurred. Only
a member whose value it does not allow makes it false.

A lazy automaton demands that an end can be reached wherever a text leads. Where variants exclude each other, that
depends on the set: if two such variants require one name each, only one of the names may occur. So each hub has a
condition for the sets with which an end can be reached from it: those with which the object may end there, and those
with which some member leads to a hub with such a set (the least solution). A member is possible if an end can be
reached after some of its values, and then only with these values.

Rejected: all sets as states (2^n of them, so that only orders close to that of the schema would be few enough); a
search for an end when a text reaches a set (which values are possible has to be known before they are read).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeAlias

from automata.visibly_pushdown.conditions import FALSE, TRUE, Conditions
from constraints.json_schema.containers.automaton import Vector
from constraints.json_schema.containers.members import AnyOrderMembers
from constraints.json_schema.containers.named import Named
from constraints.json_schema.containers.plain import PlainMembers
from constraints.json_schema.formulas.connectives import And, Formula, Never, Not, Or
from constraints.json_schema.formulas.statements import MemberCount
from constraints.recursion import Task, run

# The most hubs, members that may come next (in all hubs together), decisions of all conditions, and listed names.
MAX_HUBS: Final = 1_000
MAX_CHOICES: Final = 20_000
MAX_DECISIONS: Final = 100_000
MAX_NAMES: Final = 400
# The search for hubs stops early where the hubs known so far, at the average cost of those found, would take more than
# `_STOP_FACTOR` times the work that is left. The first hubs cost most, so after n of them the factor is
# `_FIRST_STOP_FACTOR / n` if that is larger. Of 525 objects in MaskBench all of whose hubs can be found, the largest
# factors are 1.2, and 6.6 / n.
_STOP_FACTOR: Final = 2
_FIRST_STOP_FACTOR: Final = 8


IsEmpty: TypeAlias = Callable[[Formula], bool]


class End(NamedTuple):
    """A way in which the object may end.

    Attributes:
        exit: the index of the formula that then holds.
        condition: the condition under which it may end so; the flag of a name is its place.
    """

    exit: int
    condition: int


class Choice(NamedTuple):
    """A member that may come next.

    Attributes:
        name: as for `Move`.
        sets, condition: as for `GuardedArc`.
        outcomes: formulas of values, each with the number of the hub to which such values lead.
    """

    name: str | Formula | None
    sets: int
    condition: int
    outcomes: tuple[tuple[Formula, int], ...]


class Hub(NamedTuple):
    """What may come next where a vector is required.

    Attributes:
        ends: the ways in which the object may end.
        more: the condition under which another member is possible.
        choices: the members. Those with a flag are listed first: each of them occurs only once, so they lead to an end.
        needed: a smallest set of names with which the object may end, as bits.
    """

    ends: list[End]
    more: int
    choices: list[Choice]
    needed: int


class FlaggedObject(NamedTuple):
    """An object in any order.

    Attributes:
        hubs: the hubs; the first is the start.
        conditions: what the numbers of conditions in the hubs mean.
    """

    hubs: list[Hub]
    conditions: Conditions

    def values(self) -> list[Formula]:
        """Return the formulas of the values of all members."""
        return list(dict.fromkeys(value for hub in self.hubs for choice in hub.choices for value, _ in choice.outcomes))


def some_may_come(choices: Sequence[Choice], conditions: Conditions) -> int:
    """Return the condition under which at least one of the choices is possible."""
    always, found = 0, []
    for choice in choices:
        if choice.sets < 0:
            found.append(choice.condition)
        elif choice.condition == TRUE:
            always |= 1 << choice.sets
        else:
            found.append(conditions.both(conditions.not_all_of(1 << choice.sets), choice.condition))
    return TRUE if TRUE in found else conditions.any_of([conditions.not_all_of(always), *found])


def flagged_plain(members: PlainMembers, remembered: int, is_empty: IsEmpty) -> FlaggedObject:
    """Return the object for a conjunction of statements about members, with one hub.

    Args:
        members: what the conjunction says about each name.
        remembered: the names that occur once at most, as bits; they include all that are required.
        is_empty: tells whether no value satisfies a formula, as far as is known.
    """
    conditions = Conditions()
    possible = [type(value) is not Never and not is_empty(value) for value in members.values]
    if not all(possible[place] for place in members.order):
        return FlaggedObject([Hub([], FALSE, [], 0)], conditions)
    places = [*members.order, *(place for place in range(len(members.names)) if not members.required >> place & 1)]
    choices = [
        Choice(members.names[place], place if remembered >> place & 1 else -1, TRUE, ((members.values[place], 0),))
        for place in places
        if possible[place]
    ]
    choices += [
        Choice(names, -1, TRUE, ((value, 0),))
        for names, value in members.others
        if type(value) is not Never and not is_empty(value)
    ]
    end = End(0, conditions.all_of(members.required))
    hub = Hub([end], some_may_come(choices, conditions), choices, members.required)
    return FlaggedObject([hub], conditions)


def flagged(given: AnyOrderMembers, is_empty: IsEmpty) -> FlaggedObject | None:
    """Return the object of a vector; None if it would be too large.

    Args:
        given: the vector.
        is_empty: as for `flagged_plain`.

    Raises:
        LimitExceeded: telling variants apart takes too much work.
    """
    if len(given.members.bit) > MAX_NAMES:
        return None
    hubs = _Hubs(given, is_empty)
    try:
        return hubs.made()
    except _TooLargeError:
        return None


class _TooLargeError(Exception):
    """There are too many hubs or conditions."""


class _Member(NamedTuple):
    """A member that may come next, regardless of which names have occurred."""

    name: str | Formula | None
    sets: int
    outcomes: tuple[tuple[Formula, int], ...]


class _Hubs:
    """Finds the hubs, starting with the first.

    Attributes:
        ends: by hub, the condition of each exit.
        members: by hub, what may come next.
        live: by hub, the condition under which an end can be reached.
    """

    def __init__(self, given: AnyOrderMembers, is_empty: IsEmpty) -> None:
        self.given, self.is_empty = given, is_empty
        self.derivatives, self.expansion = given.members, given.members.expansion
        self.conditions = Conditions()
        self.numbers: dict[Vector, int] = {}
        self.vectors: list[Vector] = []
        self.ends: list[list[int]] = []
        self.members: list[list[_Member]] = []
        self.live: list[int] = []

    def made(self) -> FlaggedObject:
        """Return the object."""
        self.number(self.given.vector)
        num_members, before = 0, self.expansion.work
        left = self.expansion.most - before
        for vector in self.vectors:
            self.ends.append([run(self.end(formula)) for formula in vector])
            self.members.append(self.following(vector))
            num_members += len(self.members[-1])
            if len(self.vectors) > MAX_HUBS or num_members > MAX_CHOICES:
                raise _TooLargeError
            found, work = len(self.members), self.expansion.work - before
            if work * len(self.vectors) > max(_FIRST_STOP_FACTOR, _STOP_FACTOR * found) * left:
                raise _TooLargeError
        self.find_live()
        if not self.conditions.holds(self.live[0], 0):
            return FlaggedObject([Hub([], FALSE, [], 0)], self.conditions)
        return FlaggedObject([self.hub(number) for number in range(len(self.vectors))], self.conditions)

    def number(self, vector: Vector) -> int:
        number = self.numbers.setdefault(vector, len(self.vectors))
        if number == len(self.vectors):
            self.vectors.append(vector)
        return number

    def following(self, vector: Vector) -> list[_Member]:
        """Return the members that may come next; those with a flag are listed first."""
        read, remembered = self.derivatives.read, self.given.remembered
        found = []
        for place, (name, bit) in enumerate(self.derivatives.bit.items()):
            outcomes = self.outcomes(self.expansion(read(vector, name, self.derivatives.all)))
            found.append(_Member(name, place if remembered & bit else -1, outcomes))
        found += [_Member(names, -1, self.outcomes(ways)) for names, ways in self.derivatives.unlisted(vector)]
        return sorted([member for member in found if member.outcomes], key=lambda member: member.sets < 0)

    def outcomes(self, found: Sequence[tuple[Formula, Vector]]) -> tuple[tuple[Formula, int], ...]:
        possible = [way for way in found if type(way[0]) is not Never and not self.is_empty(way[0])]
        return tuple([(value, self.number(residual)) for value, residual in possible])

    def end(self, formula: Formula) -> Task[int]:
        """Return the condition under which a formula is true of an object that ends here."""
        kind, conditions = type(formula), self.conditions
        if kind is Named:
            return conditions.all_of(self.derivatives.required[formula.fields[0]])
        if kind not in (And, Or, Not):
            is_false = kind is Never or (type(formula) is MemberCount and formula.low > 0)
            return FALSE if is_false else TRUE
        if kind is Not:
            denied: int = yield self.end(formula.fields[0])
            return conditions.negation(denied)
        found = TRUE if kind is And else FALSE
        for part in formula.fields:
            own: int = yield self.end(part)
            found = conditions.both(found, own) if kind is And else conditions.any_of((found, own))
        return found

    def find_live(self) -> None:
        """Find, for each hub, the condition under which an end can be reached."""
        conditions = self.conditions
        self.live = [conditions.any_of(ends) for ends in self.ends]
        more = True
        while more:
            more = False
            for hub in reversed(range(len(self.live))):
                before = self.live[hub]
                for member in self.members[hub] if before != TRUE else ():
                    ways = conditions.any_of(self.after(member, target) for _, target in member.outcomes)
                    if member.sets >= 0:
                        ways = conditions.both(conditions.not_all_of(1 << member.sets), ways)
                    self.live[hub] = conditions.any_of((self.live[hub], ways))
                more = more or self.live[hub] != before
            if len(conditions) > MAX_DECISIONS:
                raise _TooLargeError

    def after(self, member: _Member, hub: int) -> int:
        """Return the condition, before a member, under which an end can be reached from a hub to which it leads."""
        return self.live[hub] if member.sets < 0 else self.conditions.known(self.live[hub], member.sets, True)

    def hub(self, number: int) -> Hub:
        """Return a hub. Its conditions matter only for sets with which an end can be reached from it."""
        live = self.live[number]
        ends = [End(place, self.where(live, end)) for place, end in enumerate(self.ends[number])]
        choices = [choice for member in self.members[number] for choice in self.choices(live, member)]
        return Hub(
            [end for end in ends if end.condition != FALSE],
            self.where(live, some_may_come(choices, self.conditions)),
            choices,
            max(self.conditions.fewest(self.conditions.any_of(self.ends[number])), 0),
        )

    def choices(self, live: int, member: _Member) -> list[Choice]:
        """Return the choices of a member: one for each set of outcomes from which an end can be reached."""
        conditions = self.conditions
        may_come = live if member.sets < 0 else conditions.known(live, member.sets, False)
        cases: list[tuple[int, tuple[tuple[Formula, int], ...]]] = [(may_come, ())]
        for outcome in member.outcomes:
            leads_on = self.after(member, outcome[1])
            split = []
            for where, taken in cases:
                then = conditions.both(where, leads_on)
                split.append((then, (*taken, outcome)))
                if then != where:
                    split.append((conditions.both(where, conditions.negation(leads_on)), taken))
            cases = [case for case in split if case[0] != FALSE]
            if len(cases) > MAX_CHOICES:
                raise _TooLargeError
        return [
            Choice(member.name, member.sets, self.where(may_come, where), outcomes)
            for where, outcomes in cases
            if outcomes
        ]

    def where(self, asked: int, condition: int) -> int:
        """Return TRUE or FALSE if a condition is always that where `asked` holds; otherwise the condition."""
        conditions = self.conditions
        if conditions.both(asked, condition) == asked:
            return TRUE
        return condition if conditions.both(asked, condition) != FALSE else FALSE
