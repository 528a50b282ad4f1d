"""From grammars to networks: the same language, no left recursion, nothing left over."""

from __future__ import annotations

import itertools

import pytest
from grammar_network_cases import A, B, accepted, bodies, language, network_of, same
from hypothesis import given, settings
from hypothesis import strategies as st

from automata import (
    ANY_CHAR,
    EMPTY,
    EPSILON,
    EmptyLanguage,
    Expr,
    Grammar,
    GrammarError,
    Label,
    LexicalRule,
    LimitExceeded,
    Limits,
    alternation,
    byte_set,
    call,
    concat,
    intersection,
    literal,
    lookahead,
    parse,
    repeat,
)
from automata.pushdown import report
from automata.pushdown.grammar import Place
from automata.pushdown.network import Network


def is_regular(network: Network) -> bool:
    return len(network.rule_names) == 1 and not len(network.call_rule)


NAMES = ("A", "B", "C")


@st.composite
def grammars(draw: st.DrawFn) -> Grammar:
    names = NAMES[: draw(st.integers(1, 3))]
    return Grammar({name: draw(bodies(names)) for name in names}, "A")


@given(grammars())
@settings(max_examples=75)
def test_random_grammars(grammar: Grammar) -> None:
    try:
        same(grammar)
    except EmptyLanguage:
        assert not language(grammar)
    except GrammarError:
        # A rule that begins with itself and in no other way, whether or not the start needs it.
        assert report(grammar).unproductive


def small_rules() -> list[Expr]:
    symbols = [call("A"), literal("a"), literal("b")]
    pieces = [concat(*parts) for size in range(3) for parts in itertools.product(symbols, repeat=size)]
    pieces += [concat(*parts) for parts in itertools.product(symbols[:2], repeat=3)]
    return [alternation(*pair) for pair in itertools.combinations(pieces, 2)]


@pytest.mark.parametrize("third", [EMPTY, literal("b"), EPSILON, call("A") + "b" + call("A")])
def test_every_small_rule(third: Expr) -> None:
    for body in small_rules():
        grammar = Grammar({"A": body | third}, "A")
        try:
            same(grammar)
        except (EmptyLanguage, GrammarError):
            assert not language(grammar), body


@pytest.mark.parametrize(
    "rules",
    [
        {"A": A + "a" | "b"},
        {"A": "a" + A | "b"},
        {"A": A + A | "b"},
        {"A": A + A + A | A + A | "a"},
        {"A": A + A + A | "ab"},
        {"A": A + A + A + A | A + A + A | "a" | ""},
        {"A": A + "a" + A | "b"},
        {"A": A + "a" + A | A + "aa" | "bb" + A | "b"},
        {"A": A + "a" + A | A + "b" + A | A + A | "ab" + A | "b"},
        {"A": ("a" + A).star()},
        {"A": ("a" + A | A + "b" + A | "bb").star()},
        {"A": ("a" + A).optional()},
        {"A": repeat(A, 3, 4) | "b"},
        {"A": A.plus() | "ab"},
        {"A": B + "a" | "b", "B": A | A + "b"},
        {"A": B + "a" + A | "b", "B": A.optional()},
        {"A": B + "a" | "b", "B": call("C") + "b" | "a", "C": A + "b" | call("C") + "a" | ""},
        {"A": "a" + B | "b", "B": "b" + A | "a" + B | "bb"},
        {"A": "a" + B | "b", "B": B + "b" | A},
        {"A": B | A + "a" + A, "B": "b" | "(" + B},
        {"A": call("C").optional() + A + "b" | "a", "C": literal("")},
    ],
)
def test_recursion_that_is_regular_takes_no_stack(rules: dict[str, Expr]) -> None:
    assert is_regular(same(Grammar(rules, "A")))


def test_the_middle_call_of_an_infix_rule_stays() -> None:
    network = same(Grammar({"A": A + "a" + A + "b" + A | "bb"}, "A"))
    assert len(network.rule_names) == 1
    assert len(network.call_rule) == 1


def test_one_recursive_rule_is_left_of_sums_products_and_brackets() -> None:
    rules = {
        "sum": call("product") | call("sum") + "a" + call("product"),
        "product": call("factor") | call("product") + "b" + call("factor"),
        "factor": "(" + call("sum") + ")" | literal("1") | "-" + call("factor"),
    }
    network = same(Grammar(rules, "sum"))
    assert len(network.rule_names) <= 2


def test_a_start_that_matches_the_empty_text_and_calls_itself() -> None:
    network = same(Grammar({"A": "(" + A + ")" + A | ""}, "A"))
    assert network.final[network.rule_start[network.start_rule]]


def test_only_the_empty_text() -> None:
    network = same(Grammar({"A": B + B, "B": A.optional(), "C": EMPTY + B}, "A"))
    assert network.num_states == 1
    assert network.final.all()


def test_rules_without_a_text_are_left_out() -> None:
    grammar = Grammar({"A": B + "a" | "b" | call("C"), "B": "a" + B, "C": EMPTY, "D": A}, "A")
    assert same(grammar).rule_names == ("A",)
    assert report(grammar).unproductive == ("B", "C")
    assert report(grammar).unreachable == ("D",)


# What is wrong.


@pytest.mark.parametrize(
    ("grammar", "message"),
    [
        (Grammar({"A": B}, "A"), "rule 'B' is not defined"),
        (Grammar({"A": literal("a")}, "B"), "the start rule 'B' is not defined"),
        (Grammar({"A": A}, "A", {"A": LexicalRule(ANY_CHAR)}), "both a rule and a lexical rule"),
        (Grammar({"A": literal("a")}, "A", {}, ("B",)), "'B' is ignored"),
        (Grammar({"A": B}, "A", {"B": LexicalRule(call("B"))}), "a lexical rule cannot call"),
        (Grammar({"A": intersection("a" + B, "b"), "B": literal("a")}, "A"), "within an intersection"),
        (Grammar({"A": "a" + ~(B.star()), "B": literal("a")}, "A"), "within a complement"),
        (Grammar({"A": B}, "A", {"B": LexicalRule(literal(""))}), "no text but the empty one"),
        (Grammar({"A": Label("\0rule:A")}, "A"), "reserved"),
        (
            Grammar({"A": concat("a", lookahead("b"), B), "B": literal("a")}, "A"),
            "an assertion and the call of rule 'B'",
        ),
    ],
)
def test_errors_say_what_is_wrong(grammar: Grammar, message: str) -> None:
    with pytest.raises(GrammarError, match=message):
        network_of(grammar)


def test_errors_say_where() -> None:
    grammar = Grammar({"A": literal("a") | B, "B": call("C")}, "A", places={"B": Place(7, 3)})
    with pytest.raises(GrammarError) as caught:
        network_of(grammar)
    assert (caught.value.rule, caught.value.line, caught.value.column) == ("B", 7, 3)


@pytest.mark.parametrize(
    "rules",
    [
        {"A": "a" | B, "B": A + B},
        {"A": "a" | B, "B": B + "a"},
        {"A": "a" | B + A, "B": call("C") + "a", "C": B},
        {"A": "a" | A + "b", "B": B | B + A},
    ],
)
def test_rules_without_a_text_are_nothing(rules: dict[str, Expr]) -> None:
    same(Grammar(rules, "A"))


@pytest.mark.parametrize("body", [EMPTY, "a" + A, B + "a", A + "a" | "b" + A, A])
def test_no_text_at_all(body: Expr) -> None:
    with pytest.raises(EmptyLanguage, match="'A'"):
        network_of(Grammar({"A": body, "B": EMPTY}, "A"))


# Size.


def test_limits_hold() -> None:
    with pytest.raises(LimitExceeded, match="states"):
        network_of(Grammar({"A": parse("(a|b)*a(a|b){12}") + A + "c" | ""}, "A"), Limits(states=1000))
    rules = {f"r{i}": call(f"r{i + 1}") + call(f"r{i + 1}") + "a" for i in range(20)} | {"r20": literal("b")}
    assert network_of(Grammar(rules, "r0")).num_states < 10_000


@pytest.mark.parametrize("last", ["", "b"])
def test_long_chains(last: str) -> None:
    rules = {f"r{i}": "a" + call(f"r{i + 1}") + last for i in range(3000)} | {"r3000": literal("c")}
    network = network_of(Grammar(rules, "r0"))
    assert network.num_states == 3002 + 3000 * len(last)


def test_deep_expressions() -> None:
    body: Expr = A
    for _ in range(10_000):
        body = "x" + (body | literal("b"))
    network = network_of(Grammar({"A": body}, "A"))
    assert is_regular(network)
    assert report(Grammar({"A": body}, "A")).unproductive == ()


def test_raw_bytes() -> None:
    assert accepted(network_of(Grammar({"A": byte_set([200]) + A | byte_set([7])}, "A"))) >= {b"\x07", b"\xc8\x07"}
