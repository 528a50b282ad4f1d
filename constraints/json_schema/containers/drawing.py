"""A picture of the automaton of an array: its letters are items, its states are formulas about the rest."""

from __future__ import annotations

from typing import cast

from automata.drawing import Drawing, draw_graph
from automata.errors import LimitExceeded
from constraints.json_schema.containers.arrays import ArrayAutomaton
from constraints.json_schema.containers.shannon import ShannonExpansion
from constraints.json_schema.formulas.connectives import Formula
from constraints.json_schema.formulas.notation import in_notation
from constraints.json_schema.formulas.outlines import Outlines
from constraints.json_schema.formulas.restriction import Restriction
from constraints.json_schema.reading import read_schema

# The most states of a picture.
MAX_STATES = 40


def draw_array(schema: object, *, title: str | None = None) -> Drawing:
    """Return a picture of what a schema says about arrays.

    A state is a formula, which the legend writes out. An arc is for the items of a set, which is disjoint from those of
    the other arcs of its state; where the line is double the array may end.

    >>> two = {"contains": {"minimum": 10}, "minContains": 2}
    >>> "1: at least 1 items (≥ 10)" in draw_array(two).dot
    True

    Args:
        schema: a JSON Schema, as Python's values of JSON.
        title: a line above the picture.

    Raises:
        UnsupportedSchema: the schema says what this project does not support.
        LimitExceeded: there are more than `MAX_STATES` states.
    """
    document = read_schema(schema)
    restriction = Restriction(document.definitions)
    automaton = ArrayAutomaton((restriction.array(document.root),), ShannonExpansion(Outlines(restriction)))
    number, labels, waiting = {automaton.start: 0}, dict[tuple[int, int], list[str]](), [automaton.start]
    while waiting:
        source = waiting.pop()
        for value, target in (outcome for move in automaton.moves(source) for outcome in move.outcomes):
            if target not in number:
                number[target] = len(number)
                waiting.append(target)
            labels.setdefault((number[source], number[target]), []).append(in_notation(value))
        if len(number) > MAX_STATES:
            raise LimitExceeded(f"a picture of more than {MAX_STATES} states is refused")
    formulas = {place: cast("tuple[Formula, ...]", state) for state, place in number.items()}
    legend = "\n".join(f"{place}: {' | '.join(map(in_notation, vector))}" for place, vector in formulas.items())
    final = [automaton.end(state) >= 0 for state in number]
    lines = {pair: "\n".join(values) for pair, values in labels.items()}
    return draw_graph(range(len(number)), 0, final, lines, title=title, legend=legend)
