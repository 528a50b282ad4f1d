"""The states of objects with variants in any order, beside what their definition says, set by set; what is refused; and
what is easily seen to have a value."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from objects_with_variants import Variants

import tokenfst
from automata.errors import UnsatisfiableSchema
from automata.visibly_pushdown import VisiblyPushdownCall
from constraints import json_schema
from constraints._native import MAX_LISTED, ContainerStates, container_rule, states_in_any_order
from constraints.json_schema.building.builder import SchemaGrammarBuilder
from constraints.json_schema.building.layout import Layout
from constraints.json_schema.formulas.restriction import Restriction
from constraints.json_schema.reading import read_schema
from constraints.rewriting.liveness import has_text
from tokenfst.vocabulary.all_bytes import ALL_BYTES

MOST = 100_000

# The number of a vector, and the names that may still occur.
State = tuple[int, frozenset[int]]


class Part(NamedTuple):
    """Part of a vector: the names that it says something of, and those of them that it requires."""

    said: frozenset[int]
    required: frozenset[int]


class Objects:
    """Vectors of random parts, and members that lead from one to another by random values.

    What a member does depends on the names that may still occur only through the parts about them. A name that no
    longer matters does not matter later: vectors lead to themselves and to later ones.
    """

    def __init__(self, seed: int) -> None:
        random = Random(seed)
        self.seed = seed
        self.num_names = random.randrange(1, 5)
        self.names = range(self.num_names)
        self.parts = [[self.part(random) for _ in range(random.randrange(3))] for _ in range(random.randrange(1, 4))]
        self.returning = frozenset(name for name in self.names if random.random() < 0.4)
        last = frozenset(self.names)
        self.matter = [last := frozenset(name for name in last if random.random() < 0.8) for _ in self.parts]

    def part(self, random: Random) -> Part:
        said = frozenset(name for name in self.names if random.random() < 0.5)
        return Part(said, frozenset(name for name in said if random.random() < 0.5))

    def chosen(self, *key: object) -> Random:
        return Random(repr((self.seed, *key)))

    def case(self, vector: int, names: frozenset[int]) -> tuple[bool, ...]:
        return tuple(bool(part.said & names) for part in self.parts[vector])

    def some_ways(self, vector: int, random: Random) -> list[tuple[int, int]]:
        return [(value, random.randrange(vector, len(self.parts))) for value in range(random.randrange(3))]

    def ways_of(self, vector: int, name: int, remaining: frozenset[int]) -> list[tuple[int, int]]:
        return self.some_ways(vector, self.chosen(vector, name, self.case(vector, remaining)))

    def exit_of(self, vector: int, remaining: frozenset[int]) -> int:
        return -1 if any(part.required & remaining for part in self.parts[vector]) else vector

    def others_of(self, vector: int) -> list[tuple[int, list[tuple[int, int]]]]:
        random = self.chosen(vector)
        return [(self.num_names + number, self.some_ways(vector, random)) for number in range(random.randrange(3))]


class Source:
    """The same as the core asks for it: sets of names are numbers. Nothing is asked for twice."""

    def __init__(self, objects: Objects) -> None:
        self.objects = objects
        self.asked: list[object] = []

    def ask(self, *question: object) -> None:
        assert question not in self.asked
        self.asked.append(question)

    def described(self, vector: int) -> object:
        self.ask("described", vector)
        parts = self.objects.parts[vector]
        said, required = [number(part.said) for part in parts], [number(part.required) for part in parts]
        return said, required, number(self.objects.matter[vector]), self.objects.others_of(vector)

    def ways(self, vector: int, name: int, remaining: int) -> list[tuple[int, int]]:
        self.ask("ways", vector, name, self.objects.case(vector, names_in(remaining)))
        return self.objects.ways_of(vector, name, names_in(remaining))

    def exit(self, vector: int, remaining: int) -> int:
        return self.objects.exit_of(vector, names_in(remaining))


def number(names: frozenset[int]) -> int:
    return sum(1 << name for name in names)


def names_in(bits: int) -> frozenset[int]:
    return frozenset(name for name in range(bits.bit_length()) if bits >> name & 1)


def kept(objects: Objects, vector: int, left: frozenset[int]) -> State:
    """The state, with the names for which it no longer matters whether they have occurred."""
    return vector, left | (objects.returning - objects.matter[vector])


def moves(objects: Objects, state: State) -> Iterator[tuple[int, list[tuple[int, State]]]]:
    vector, left = state
    for name in sorted(left):
        rest = left - ({name} & objects.matter[vector])
        found = objects.ways_of(vector, name, rest | objects.returning)
        yield name, [(value, kept(objects, target, rest)) for value, target in found]
    for name, found in objects.others_of(vector):
        yield name, [(value, kept(objects, target, left)) for value, target in found]


def made(objects: Objects, source: Any, most: int = MOST) -> tuple[ContainerStates, bool]:
    return states_in_any_order(source, 0, objects.num_names, number(objects.returning), most)


@given(st.integers(0, 1 << 32))
def test_a_state_is_a_vector_and_the_names_to_come(seed: int) -> None:
    objects = Objects(seed)
    states, is_all = made(objects, Source(objects))
    assert is_all
    start: State = (0, frozenset(objects.names))
    numbers, waiting, outcomes = {start: 0}, [start], 0
    while waiting:
        state = waiting.pop()
        own = numbers[state]
        expected = [(name, ways) for name, ways in moves(objects, state) if ways]
        found = states.moves(own)
        assert [(name, [value for value, _ in ways]) for name, ways in found] == [
            (name, [value for value, _ in ways]) for name, ways in expected
        ]
        for (_, targets), (_, ways) in zip(found, expected, strict=True):
            outcomes += len(ways)
            for (_, target), (_, to) in zip(targets, ways, strict=True):
                if to not in numbers:
                    waiting.append(to)
                assert numbers.setdefault(to, target) == target
        assert states.exit(own) == objects.exit_of(*state)
    assert sorted(numbers.values()) == list(range(states.num_states))
    assert outcomes == states.num_outcomes


@given(st.integers(0, 1 << 32), st.integers(0, 40))
def test_no_more_is_made_than_is_asked_for(seed: int, most: int) -> None:
    objects = Objects(seed)
    states, is_all = made(objects, Source(objects), most)
    complete, _ = made(objects, Source(objects))
    assert is_all == (complete.num_outcomes <= most)
    assert states.num_outcomes <= max(most + 3 * 7, complete.num_outcomes if is_all else 0)


def test_an_error_of_a_derivative_is_raised() -> None:
    class Broken(Source):
        def ways(self, vector: int, name: int, remaining: int) -> list[tuple[int, int]]:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        made(Objects(0), Broken(Objects(0)))


@pytest.mark.parametrize(
    "call",
    [
        lambda: states_in_any_order(Negative(), -1, 1, 0, 1),
        lambda: states_in_any_order(Negative(), 0, MAX_LISTED + 1, 0, 1),
        lambda: states_in_any_order(Negative(), 0, 1, 0, 1),
        lambda: ContainerStates().moves(0),
        lambda: ContainerStates().exit(-1),
        lambda: rule_of(ContainerStates()),
        lambda: rule_of(leading_nowhere([(0, [(0, 7)])], [])),
        lambda: rule_of(leading_nowhere([], [7])),
        lambda: rule_of(leading_nowhere([], [-1])),
    ],
)
def test_what_is_out_of_bounds_is_refused(call: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"state|order|name|vector"):
        call()


class Negative:
    """Derivatives that lead to no vector."""

    def described(self, _vector: int) -> object:
        return [], [], 0, [(1, [(0, -1)])]


def rule_of(states: ContainerStates) -> object:
    unused: Any = len
    return container_rule(states, unused, unused, set(), VisiblyPushdownCall, None, 0, 0, 0)


def leading_nowhere(moves: list[tuple[int, list[tuple[int, int]]]], skips: list[int]) -> ContainerStates:
    states = ContainerStates()
    states.add(moves, skips, -1)
    return states


@pytest.mark.parametrize("order", ["schema", "any", "any-if-cheap"])
def test_what_is_easily_seen_to_have_a_value_has_one(order: Any) -> None:
    schemas, seen, empty = Variants(7), 0, 0
    for _ in range(150):
        schema = schemas.schema() | {"required": schemas.random.sample(["a", "b", "c"], 2)}
        if schemas.random.random() < 0.3:
            schema = {"type": "array", "items": schema, "minItems": 1, "contains": schemas.schema()}
        document = read_schema(schema)
        builder = SchemaGrammarBuilder(Restriction(document.definitions), Layout(document, "default", order, "plain"))
        try:
            has_one = has_text(builder.grammar(document.root))
        except UnsatisfiableSchema:
            continue
        is_seen = builder.values.has_value(document.root)
        assert has_one or not is_seen, schema
        seen, empty = seen + is_seen, empty + (not has_one)
    assert seen > 60
    assert empty > 0


@pytest.mark.parametrize("num_names", [1, 2, 5, 9, 16])
@pytest.mark.parametrize("applied", [
    lambda value: ({"type": "array", "contains": value}, 2),
    lambda value: ({"type": "array", "items": value, "minItems": 1}, 2),
    lambda value: ({"type": "array", "prefixItems": [{"not": value}, value], "minItems": 2, "items": False}, 4),
    lambda value: ({"oneOf": [value, {"type": "array", "minItems": 99}]}, 0),
], ids=["contains", "items", "not", "oneOf"])  # fmt: skip
def test_the_end_is_known_without_tables(applied: Any, num_names: int) -> None:
    """Whichever end of a rule a text needs, a way there is known; all sets of names would be too many."""
    value = {f"k{number}": number for number in range(num_names)}
    schema, around = applied({"const": value})
    automaton: Any = tokenfst.compile(json_schema(schema, property_order="any", whitespace="compact"), ALL_BYTES)
    shortest = len(json.dumps(value, separators=(",", ":"))) + around + 1
    assert automaton.core.min_tokens(automaton.start) == shortest
    assert automaton.mask(automaton.start, shortest).any()
    assert not automaton.mask(automaton.start, 1).any()


class AnyNames:
    """An object whose members may have any values, each name once."""

    def __init__(self, num_names: int) -> None:
        self.num_names = num_names

    def described(self, vector: int) -> object:
        return [], [], (1 << self.num_names) - 1, []

    def ways(self, vector: int, name: int, remaining: int) -> list[tuple[int, int]]:
        return [(0, vector)]

    def exit(self, vector: int, remaining: int) -> int:
        return 0


@pytest.mark.parametrize("num_names", range(1, 12))
def test_all_states_are_made_if_there_are_not_too_many(num_names: int) -> None:
    outcomes = num_names << num_names - 1
    states, is_all = states_in_any_order(AnyNames(num_names), 0, num_names, 0, outcomes)
    assert (states.num_states, states.num_outcomes, is_all) == (1 << num_names, outcomes, True)
    assert not states_in_any_order(AnyNames(num_names), 0, num_names, 0, outcomes - 1)[1]


def test_few_states_tell_that_there_are_too_many() -> None:
    states, is_all = states_in_any_order(AnyNames(100), 0, 100, 0, 10_000)
    assert not is_all
    assert states.num_outcomes < 1000
