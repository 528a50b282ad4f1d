"""Pushdown automata as pictures, as the paper draws them.

An arc has a line for each kind of step: the bytes, then the symbols popped, each followed by `)`, and the symbols
pushed, each after `(`. States from which the text can end are doubled where the stack may be empty then; where the end
of the text pops symbols, the arc is drawn, and `⊣` is the end of the text. (Koo, Liu & He 2024, Figure 6.)
"""

from __future__ import annotations

from automata.drawing import Drawing, draw_graph, range_label
from automata.expressions.ranges import normalize
from automata.pushdown.step_table import StepTable


def draw_step_table(automaton: StepTable, *, title: str | None = None) -> Drawing:
    """A pushdown automaton; steps between two states that pop and push the same are one line over ranges of bytes."""
    runs, end, last = automaton.byte_runs(), automaton.num_classes, automaton.num_states - 1
    final = [False] * automaton.num_states
    columns: dict[tuple[int, int], dict[tuple[tuple[int, ...], tuple[int, ...]], list[int]]] = {}
    for state, steps in enumerate(automaton.steps_by_state()):
        for column, pops, pushes, target in steps:
            if column == end and not pops:
                final[state] = True
            else:
                columns.setdefault((state, target), {}).setdefault((pops, pushes), []).append(column)

    def line(pops: tuple[int, ...], pushes: tuple[int, ...], read_by: list[int]) -> str:
        parts = [
            range_label(low, high) for low, high in normalize([run for c in read_by if c < end for run in runs[c]])
        ]
        parts += ["⊣" if c == end else f"<{automaton.labels[c - end - 1]}>" for c in read_by if c >= end]
        stack = [f"{symbol})" for symbol in reversed(pops)] + [f"({symbol}" for symbol in pushes]
        return " ".join(parts + stack)

    labels = {
        pair: "\n".join(line(pops, pushes, read_by) for (pops, pushes), read_by in kinds.items())
        for pair, kinds in columns.items()
    }
    shown = [*range(last), *([last] if any(target == last for _, target in labels) else [])]
    final[last] = True
    return draw_graph(shown, automaton.start, final, labels, title=title)
