"""build_anything: the rules of arrays and objects without constraints.

They are the same in all schemas, except for the numbers of the rules that they call. Most schemas need them, because
unlisted members of an object may be anything. So they are built once for each way of writing JSON.
"""

from __future__ import annotations

from typing import Final

from automata.cache import BoundedCache
from automata.visibly_pushdown import VisiblyPushdownCall, VisiblyPushdownRule
from constraints.json_schema.building.container_rule import PlainBuilder, ValueBuilder
from constraints.json_schema.building.whitespace import Habit, Whitespace
from constraints.json_schema.containers.arrays import PlainArray
from constraints.json_schema.containers.automaton import Plain, Vector
from constraints.json_schema.containers.plain import PlainInOrder, PlainMembers
from constraints.json_schema.formulas.connectives import TRUE, Formula
from constraints.json_schema.formulas.statements import Kind

# The vector for the inside of such an array or object.
ANYTHING: Final[Vector] = (TRUE,)

_AUTOMATA: Final[dict[Kind, tuple[Plain, str]]] = {
    Kind.ARRAY: (PlainArray([TRUE], 0, None), "]"),
    Kind.OBJECT: (PlainInOrder(PlainMembers((), [], 0, (), [(TRUE, TRUE)])), "}"),
}
# The rules. In place of a rule's number, a call has its place in the list of the rules that a value of any kind calls.
_rules: Final = BoundedCache[tuple[Kind, Habit | Whitespace, bool, int | None, Formula], VisiblyPushdownRule](64)


def build_anything(builder: ValueBuilder, rule: VisiblyPushdownRule, kind: Kind, max_digits: int | None) -> None:
    """Build the rule of an array or object of anything.

    Args:
        builder: says how values are read, and within how many brackets: at least `MAX_DEPTH`, since the rule calls
            itself.
        rule: the empty rule.
        kind: that of an array or object.
        max_digits: see `json_schema`.
    """
    called = [number for _, number in builder.only_way(TRUE)[1]]
    key = kind, builder.whitespace, builder.plain, max_digits, builder.every_string
    known = _rules.get(key)
    if known is None:
        known = VisiblyPushdownRule()
        PlainBuilder(builder, known, *_AUTOMATA[kind]).build()
        known.calls = [call._replace(rule=called.index(call.rule)) for call in known.calls]
        _rules.put(key, known)
    rule.num_states, rule.arcs = known.num_states, [*known.arcs]
    rule.epsilon, rule.ends = [*known.epsilon], [*known.ends]
    rule.calls = [VisiblyPushdownCall(source, called[place], targets) for source, place, targets in known.calls]
