"""Pushdown automata as pictures, as the paper draws them.

An arc has a line for each kind of step: the bytes in quotes, then the symbols popped, each followed by `)`, and the
symbols pushed, each after `(`. A symbol of a grammar is the rule to which the text returns, and a number. States in
which the text can end with an empty stack have a double circle. If the end of the text pops symbols, it is drawn as an
arc labelled `⊣`. (Koo, Liu & He 2024, Figure 6.)
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from automata.drawing import Drawing, draw_graph, name_label, quoted_range_label
from automata.expressions.ranges import normalize
from automata.pushdown.sequences import Stack
from automata.pushdown.step_table import StepTable
from automata.view import WHOLE, View


def draw_step_table(table: StepTable, *, title: str | None = None, view: View = WHOLE) -> Drawing:
    """Draw a pushdown automaton; steps between two states that pop and push the same are one line.

    Args:
        table: the automaton; where it has names of rules, states and symbols show them.
        title: a line above the picture.
        view: the part to draw, and the path to highlight.
    """
    end, last = table.num_classes, table.num_states - 1
    final = [False] * last + [True]
    columns: dict[tuple[int, int], dict[tuple[Stack, Stack], list[int]]] = {}
    for state, steps in enumerate(table.steps_by_state()):
        for column, pops, pushes, target in steps:
            if column == end and not pops:
                final[state] = True
            else:
                columns.setdefault((state, target), {}).setdefault((pops, pushes), []).append(column)
    pairs = np.array(list(columns), np.int64).reshape(-1, 2)
    part = view.part(table.num_states, pairs[:, 0], pairs[:, 1])
    drawn = frozenset(part.states)
    labels = {
        (source, target): "\n".join(_lines(table, kinds.items()))
        for (source, target), kinds in columns.items()
        if source in drawn and target in drawn
    }
    drawn_alone = last == view.around  # then no arc leads to it
    shown = [s for s in part.states if s != last or drawn_alone or any(target == last for _, target in labels)]
    names = {state: f"{state}\n{name}" for state in shown if (name := table.state_name(state))}
    legend = _legend(table, ends_with_pops=last in shown)
    return draw_graph(shown, table.start, final, labels, title=title, names=names, legend=legend, part=part)


def _lines(table: StepTable, kinds: Iterable[tuple[tuple[Stack, Stack], list[int]]]) -> Iterable[str]:
    """Return one line for each way to change the stack: what is read, popped and pushed."""
    runs, end = table.byte_runs(), table.num_classes
    for (pops, pushes), columns in kinds:
        ranges = normalize([run for column in columns if column < end for run in runs[column]])
        parts = [quoted_range_label(low, high) for low, high in ranges]
        parts += [
            "⊣" if column == end else name_label(table.labels[column - end - 1]) for column in columns if column >= end
        ]
        parts += [f"{table.symbol_name(symbol)})" for symbol in reversed(pops)]
        parts += [f"({table.symbol_name(symbol)}" for symbol in pushes]
        yield " ".join(parts)


def _legend(table: StepTable, *, ends_with_pops: bool) -> str:
    lines = [
        "bold: start; doubled: the text may end, on an empty stack",
        '"a": a byte that is read; (x: pushes x; x): pops x',
    ]
    if table.rule_names:
        lines.append("x = rule.n: the text returns to place n of the rule")
    if table.labels:
        lines.append("<name>: a token of this set")
    if ends_with_pops:
        lines.append("⊣: the end of the text")
    return "\n".join(lines)
