"""unfolded: the same grammar without flags; its rules have a state for each state and set of flags that texts reach."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, TypeVar

from automata.errors import limit_exceeded
from automata.limits import Work
from automata.visibly_pushdown.conditions import Conditions
from automata.visibly_pushdown.grammar import VisiblyPushdownCall, VisiblyPushdownGrammar, VisiblyPushdownRule

# The maximum number of states of a rule.
MAX_STATES: Final = 300_000
# The number of states that are made between two checks of the limits.
_CHECKED_EVERY: Final = 1000

_Arc = TypeVar("_Arc", bound=tuple[Any, ...])


def unfolded(grammar: VisiblyPushdownGrammar, work: Work) -> VisiblyPushdownGrammar:
    """Return the same grammar without flags.

    Raises:
        LimitExceeded: a rule has more states than the limits allow, or than `MAX_STATES`.
        Cancelled: the compilation was cancelled.
    """
    if not any(rule.guarded for rule in grammar.rules):
        return grammar
    rules = [_Unfolding(rule, work).run() if rule.guarded else rule for rule in grammar.rules]
    return VisiblyPushdownGrammar(tuple(rules), grammar.start)


class _Unfolding:
    """Finds the pairs of a state and a set of flags that texts reach, beginning with the start."""

    def __init__(self, rule: VisiblyPushdownRule, work: Work) -> None:
        self.work = work
        self.most = min(work.limits.states, MAX_STATES)
        self.found = VisiblyPushdownRule(0, num_exits=rule.num_exits)
        # By source.
        self.arcs, self.epsilon, self.guarded = _grouped(rule.arcs), _grouped(rule.epsilon), _grouped(rule.guarded)
        self.calls = {call.source: call for call in rule.calls}
        self.ends = dict(rule.ends)
        self.conditions = rule.conditions or Conditions()
        self.numbers: dict[tuple[int, int], int] = {}
        self.waiting: list[tuple[int, int]] = []

    def run(self) -> VisiblyPushdownRule:
        found = self.found
        self.number(0, 0)
        for at, (state, flags) in enumerate(self.waiting):
            if not at % _CHECKED_EVERY:
                self.work.check()
            found.arcs += [(at, read, self.number(target, flags)) for _, read, target in self.arcs.get(state, ())]
            found.epsilon += [(at, self.number(target, flags)) for _, target in self.epsilon.get(state, ())]
            for _, target, sets, condition in self.guarded.get(state, ()):
                own = 1 << sets if sets >= 0 else 0
                if not flags & own and self.conditions.holds(condition, flags):
                    found.epsilon.append((at, self.number(target, flags | own)))
            if state in self.calls:
                _, rule, targets = self.calls[state]
                moved = [self.number(target, flags) if target >= 0 else target for target in targets]
                found.calls.append(VisiblyPushdownCall(at, rule, tuple(moved)))
            if state in self.ends:
                found.ends.append((at, self.ends[state]))
        return found

    def number(self, state: int, flags: int) -> int:
        """Return the number of a state with flags; a new one is queued."""
        number = self.numbers.setdefault((state, flags), len(self.waiting))
        if number == len(self.waiting):
            if number >= self.most:
                raise limit_exceeded("states", self.most).of("the rules with all sets of flags")
            self.waiting.append((state, flags))
            self.found.num_states += 1
        return number


def _grouped(arcs: Iterable[_Arc]) -> dict[int, list[_Arc]]:
    """Return arcs by their source."""
    by_source: dict[int, list[_Arc]] = {}
    for arc in arcs:
        by_source.setdefault(arc[0], []).append(arc)
    return by_source
