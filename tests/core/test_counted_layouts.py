"""No argument makes a binding of automata with a register read or write out of bounds."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
from arrays import attempt, budget, ints
from hypothesis import given
from hypothesis import strategies as st
from random_automata import MANY, SEEDS, draw_from, some_tables

from automata import _native


def some_counted_layout(rng: Random) -> dict[str, Any]:
    """A start, an end, some states outside of loops, and loops of three states."""
    num_loops, outside = rng.randint(0, 2), 2 + rng.randint(0, 2)
    loops, epsilon, ranges = [], [], []
    loop_of = [-1] * outside + [loop for loop in range(num_loops) for _ in range(3)]
    for loop in range(num_loops):
        low = rng.randint(1, 3)
        high = rng.choice([-1, low + 2])
        loops.append((low, high, rng.choice([0, 1, 2])))
        first = outside + 3 * loop
        epsilon += [(0, first, 1), (first + 2, first, 2), (first + 2, rng.randrange(1, outside), 3)]
        ranges += [(first, 97, 98, first + 1), (first + rng.randint(0, 1), 97, 99, first + 2)]
    for _ in range(rng.randint(0, 4)):
        ranges.append((rng.randrange(outside), 97, rng.randint(97, 100), rng.randrange(outside)))
    epsilon += [(rng.randrange(outside), rng.randrange(outside), 0) for _ in range(rng.randint(0, 2))]
    return {
        "ranges": ints(ranges, -1, 4),
        "epsilon": ints(epsilon, -1, 3),
        "loop_of": ints(loop_of),
        "loops": ints(loops, -1, 3),
    }


@given(SEEDS, st.binary(max_size=12), st.data())
@MANY
def test_counted_layouts(seed: int, text: bytes, data: st.DataObject) -> None:
    rng = Random(seed)
    layout = some_counted_layout(rng)
    rest = {"max_register": 5, "is_product": rng.random() < 0.5, "max_states": 1000, "max_bytes": 1 << 20}
    found = attempt(_native.compile_counted, **draw_from(data, layout | rest), budget=budget())
    if isinstance(found, _native.CountedTables):
        check_counted(found, text)
        again = _native.CountedTables(
            found.start, found.max_register, found.num_classes, found.byte_class, found.offsets, found.arcs,
            found.final_from,
        )  # fmt: skip
        assert again.accepts(text) == found.accepts(text)
    paired = {key: layout[key] for key in ("ranges", "epsilon")} | {"num_states": len(layout["loop_of"])}
    attempt(_native.counted_product, automaton=some_tables(rng), **draw_from(data, paired), budget=budget())


def check_counted(tables: _native.CountedTables, text: bytes) -> None:
    """Whatever text is read stays within the tables."""
    place = (tables.start, 0) if tables.start >= 0 else None
    for byte in text:
        if place is not None:
            place = tables.step(*place, byte)
            assert place is None or (place[0] < tables.num_states and 0 <= place[1] <= tables.max_register)
    accepts = place is not None and 0 <= tables.final_from[place[0]] <= place[1]
    assert tables.accepts(text) == accepts


@given(SEEDS, st.binary(max_size=12), st.data())
@MANY
def test_counted_tables(seed: int, text: bytes, data: st.DataObject) -> None:
    rng = Random(seed)
    size, register = rng.randint(1, 3), rng.randint(0, 4)
    rows = []
    for _ in range(2 * size):
        low = rng.randint(0, register)
        action = rng.choice([0, ~rng.randint(0, register), rng.randint(0, register - low)])
        high = rng.randint(low, register - max(action, 0))
        rows.append([(low, high, rng.randrange(size), action)] if rng.random() < 0.7 else [])
    byte_class = np.zeros(256, np.uint8)
    byte_class[97] = 1
    arguments = {
        "start": rng.randrange(size),
        "max_register": register,
        "num_classes": 2,
        "byte_class": byte_class,
        "offsets": ints(np.cumsum([0, *map(len, rows)])),
        "arcs": ints([arc for row in rows for arc in row], -1, 4),
        "final_from": ints([rng.randint(-1, register) for _ in range(size)]),
    }
    tables = attempt(_native.CountedTables, **draw_from(data, arguments))
    if tables is not None:
        check_counted(tables, text)
        check_counted(tables, b"a" * 5)
        attempt(tables.step, **draw_from(data, {"state": 0, "value": 0, "byte": 97}))
