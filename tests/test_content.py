"""The content of constraints, by which a cache knows them again: equal constraints have one, and others another."""

from __future__ import annotations

from hypothesis import given
from strategies import exprs
from test_compiling import SCHEMA, made

import constraints
from automata import Expr, literal, parse
from automata.pushdown.grammar import Grammar
from decoding.compiling.content import content_of


@given(exprs(), exprs())
def test_expressions_have_one_content_exactly_if_they_are_equal(left: Expr, right: Expr) -> None:
    assert (content_of(left) == content_of(right)) == (left == right)
    assert content_of(parse(str(left))) == content_of(parse(str(left)))


def test_deep_expressions_have_a_content() -> None:
    def deep() -> Expr:
        expr = literal("a")
        for _ in range(5000):
            expr = (expr + literal("c")).star()
        return expr

    assert content_of(deep()) == content_of(deep())
    assert content_of(deep()) != content_of(deep() + literal("c"))


def test_composed_constraints_are_known_by_their_content() -> None:
    made = [constraints.sequence("a: ", constraints.json()) for _ in range(2)]
    assert content_of(made[0]) == content_of(made[1])
    assert content_of(made[0]) != content_of(constraints.sequence("b: ", constraints.json()))


def test_what_differs_in_one_place_has_another_content() -> None:
    contents = [content_of(constraint) for constraint in made()]
    assert len(set(contents)) == len(contents)
    assert contents == [content_of(constraint) for constraint in made()]
    compact = constraints.json_schema(SCHEMA, whitespace="compact")
    assert content_of(compact) not in contents
    turned = Grammar({"a": literal("x"), "b": literal("y")}, "a"), Grammar({"a": literal("x"), "b": literal("y")}, "b")
    assert content_of(turned[0]) != content_of(turned[1])
