"""From grammars to networks: the same language, no left recursion, nothing left over."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pytest
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
from automata.expressions.nodes import Alternation, ByteSet, Call, CharSet, Concatenation, Literal, Repetition
from automata.graph import components
from automata.limits import Work
from automata.pushdown import report
from automata.pushdown.grammar import Place
from automata.pushdown.network import Network, build_network

LONGEST = 5
Texts = frozenset[bytes]


# The oracle: the texts of each rule up to a length, by least fixed point over the expressions themselves.


@cache
def joined(left: Texts, right: Texts) -> Texts:
    return frozenset(a + b for a in left for b in right if len(a) + len(b) <= LONGEST)


def texts(expr: Expr, known: dict[str, Texts]) -> Texts:
    if isinstance(expr, Literal):
        return frozenset({expr.value} if len(expr.value) <= LONGEST else ())
    if isinstance(expr, CharSet | ByteSet):
        return frozenset(bytes([byte]) for low, high in expr.ranges for byte in range(low, high + 1))
    if isinstance(expr, Call):
        return known[expr.name]
    if isinstance(expr, Concatenation):
        result = frozenset({b""})
        for part in expr.parts:
            result = joined(result, texts(part, known))
        return result
    if isinstance(expr, Alternation):
        return frozenset().union(*(texts(part, known) for part in expr.parts))
    assert isinstance(expr, Repetition)
    once, result, total = texts(expr.inner, known), frozenset({b""}), frozenset()
    for count in range((expr.low + LONGEST if expr.high is None else expr.high) + 1):
        total |= result if count >= expr.low else frozenset()
        result = joined(result, once)
    return total


def language(grammar: Grammar) -> Texts:
    """The grammar's texts up to a length, every split into words allowed."""
    words = {name: texts(rule.expr, {}) - {b""} for name, rule in grammar.lexical.items()}
    between = frozenset({b""})
    for _ in range(LONGEST):
        between |= joined(between, frozenset().union(*(words[name] for name in grammar.ignored)))
    known = {name: frozenset() for name in grammar.rules} | {name: joined(words[name], between) for name in words}
    while True:
        more = {name: texts(expr, known) for name, expr in grammar.rules.items()}
        if all(more[name] == known[name] for name in more):
            return joined(between, known[grammar.start])
        known |= more


def accepted(network: Network) -> Texts:
    """The network's texts up to a length, by least fixed point over its states; ends of words are nothing."""
    table = network.next[:, network.byte_class]
    moves = [[(bytes([b]), int(row[b])) for b in np.flatnonzero(row >= 0)] for row in table]
    known = [frozenset({b""}) if final else frozenset() for final in network.final]
    while True:
        more = list(known)
        for state in reversed(range(network.num_states)):
            found = set(more[state])
            for byte, target in moves[state]:
                found |= joined(frozenset({byte}), more[target])
            for at in range(network.call_offsets[state], network.call_offsets[state + 1]):
                start = network.rule_start[network.call_rule[at]]
                found |= joined(more[start], more[network.call_return[at]])
            for at in range(network.word_offsets[state], network.word_offsets[state + 1]):
                found |= more[network.word_target[at]]
            more[state] = frozenset(found)
        if more == known:
            return known[network.rule_start[network.start_rule]]
        known = more


def check_contract(network: Network) -> None:
    """What `Network` promises."""
    num_states, num_rules = network.num_states, len(network.rule_names)
    calls = [network.call_rule[network.call_offsets[q] : network.call_offsets[q + 1]] for q in range(num_states)]
    first = [[int(rule) for rule in calls[start]] for start in network.rule_start]
    assert all(len(group) == 1 for group in components(first))
    assert all(rule not in first[rule] for rule in range(num_rules))
    called, waiting = {network.start_rule}, [network.start_rule]
    while waiting:
        rule = waiting.pop()
        for state in np.flatnonzero(network.rule_of == rule):
            for callee in calls[state]:
                if callee not in called:
                    called.add(int(callee))
                    waiting.append(int(callee))
    assert called == set(range(num_rules))
    starts = {int(state) for rule, state in enumerate(network.rule_start) if rule != network.start_rule}
    assert not any(network.final[state] for state in starts)
    # Every state is reached from its rule's start and reaches one of its ends, within the rule.
    behind: list[set[int]] = [set() for _ in range(num_states)]
    for q in range(num_states):
        behind[q] |= {int(target) for target in network.next[q] if target >= 0}
        behind[q] |= {int(target) for target in network.by_label[q] if target >= 0}
        behind[q] |= {int(t) for t in network.call_return[network.call_offsets[q] : network.call_offsets[q + 1]]}
        behind[q] |= {int(t) for t in network.word_target[network.word_offsets[q] : network.word_offsets[q + 1]]}
        assert all(network.rule_of[target] == network.rule_of[q] for target in behind[q])
    ahead: list[set[int]] = [set() for _ in range(num_states)]
    for q in range(num_states):
        for target in behind[q]:
            ahead[target].add(q)
    assert _reached(behind, [int(start) for start in network.rule_start]) == set(range(num_states))
    assert _reached(ahead, np.flatnonzero(network.final).tolist()) == set(range(num_states))


def _reached(after: list[set[int]], states: list[int]) -> set[int]:
    seen, waiting = set(states), list(states)
    while waiting:
        for target in after[waiting.pop()] - seen:
            seen.add(target)
            waiting.append(target)
    return seen


def network_of(grammar: Grammar, limits: Limits | None = None) -> Network:
    return build_network(grammar, Work(limits or Limits()))


def same(grammar: Grammar) -> Network:
    """The network of a grammar, which has the same texts."""
    network = network_of(grammar)
    check_contract(network)
    assert accepted(network) == language(grammar)
    return network


def is_regular(network: Network) -> bool:
    return len(network.rule_names) == 1 and not len(network.call_rule)


NAMES = ("A", "B", "C")


@cache
def bodies(names: tuple[str, ...]) -> st.SearchStrategy[Expr]:
    leaves = st.sampled_from([EPSILON, *map(literal, ("a", "b", "ab")), *map(call, names * 2)])
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, min_size=2, max_size=3).map(lambda parts: concat(*parts)),
            st.lists(inner, min_size=2, max_size=3).map(lambda parts: alternation(*parts)),
            st.tuples(inner, st.sampled_from([(0, None), (1, None), (0, 1), (2, 3)])).map(
                lambda pair: repeat(pair[0], *pair[1])
            ),
        ),
        max_leaves=6,
    )


@st.composite
def grammars(draw: st.DrawFn) -> Grammar:
    names = NAMES[: draw(st.integers(1, 3))]
    return Grammar({name: draw(bodies(names)) for name in names}, "A")


@given(grammars())
@settings(max_examples=300)
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


A, B = call("A"), call("B")


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


# Words.


@cache
def words() -> st.SearchStrategy[LexicalRule]:
    return bodies(()).filter(lambda expr: bool(texts(expr, {}) - {b""})).map(LexicalRule)


@st.composite
def lexical_grammars(draw: st.DrawFn) -> Grammar:
    lexical = {name: draw(words()) for name in ("X", "Y")}
    ignored = draw(st.sampled_from([(), ("X",), ("X", "Y")]))
    return Grammar({"A": draw(bodies(("A", "X", "Y")))}, "A", lexical, ignored)


@given(lexical_grammars())
@settings(max_examples=150)
def test_words_with_every_split(grammar: Grammar) -> None:
    try:
        same(grammar)
    except EmptyLanguage:
        assert not language(grammar)
    except GrammarError:
        assert report(grammar).unproductive == ("A",)


def test_a_word_ends_with_its_label() -> None:
    lexical = {
        "name": LexicalRule(parse("[a-z]+")),
        "if": LexicalRule(literal("if"), (1,)),
        "space": LexicalRule(parse(" *")),
    }
    network = network_of(Grammar({"A": (call("name") | call("if")) + "!"}, "A", lexical, ("space",)))
    assert network.word_names == ("if", "name", "space")

    def ends(text: bytes) -> dict[str, int]:
        state = int(network.rule_start[0])
        for byte in text:
            state = int(network.next[state, network.byte_class[byte]])
        at = range(network.word_offsets[state], network.word_offsets[state + 1])
        return {network.word_names[network.word[place]]: int(network.word_target[place]) for place in at}

    assert ends(b"") == {}
    assert ends(b"i").keys() == {"name"}
    assert ends(b"if").keys() == {"name", "if"}
    assert len(set(ends(b"if").values())) == 1
    assert ends(b" ").keys() == {"space"}


def test_a_large_word_in_many_places_stays_a_rule() -> None:
    lexical = {"name": LexicalRule(parse("[a-z]{200}"))}
    rules = {"A": alternation(*(literal(digit) + call("name") + digit for digit in "0123456789"))}
    network = network_of(Grammar(rules, "A", lexical))
    check_contract(network)
    assert network.rule_names == ("A", "name")


def test_ignored_words_are_not_out_of_reach() -> None:
    lexical = {name: LexicalRule(literal(name)) for name in "xyz"}
    assert report(Grammar({"A": call("x")}, "A", lexical, ("y",))).unreachable == ("z",)


def test_priorities_order_words() -> None:
    lexical = {
        name: LexicalRule(literal(name), priority)
        for name, priority in [("a", (0, 1)), ("b", (1,)), ("c", (0, 1)), ("d", (0, 2))]
    }
    assert network_of(Grammar({"A": call("a")}, "A", lexical)).word_names == ("b", "d", "a", "c")


def test_a_rule_with_assertions_is_a_text_of_its_own() -> None:
    network = network_of(
        Grammar(
            {
                "A": B + "c" + B,
                "B": concat(lookahead("a"), parse("[ab]{2}")) | concat("b", lookahead(ANY_CHAR, negated=True)),
            },
            "A",
        )
    )
    assert accepted(network) == {a + b"c" + b for a in (b"aa", b"ab", b"b") for b in (b"aa", b"ab", b"b")}


def test_a_word_with_assertions_is_a_text_of_its_own() -> None:
    lexical = {"X": LexicalRule(parse("(?=a)[ab]{1,2}(?<!a)"))}
    network = network_of(Grammar({"A": call("X") + "a"}, "A", lexical))
    assert accepted(network) == {b"aba"}


# Labels.


def test_labels_are_columns() -> None:
    network = network_of(Grammar({"A": Label("z") + A + "b" | Label("y") | "a"}, "A"))
    check_contract(network)
    assert network.labels == ("y", "z")
    start = network.rule_start[0]
    assert network.by_label[start].min() >= 0
    assert network.final[network.by_label[start, 0]]


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
        (Grammar({"A": A + "a" | "b" + A}, "A"), "calls itself before anything is read"),
        (Grammar({"A": "a" | B, "B": A + B}, "A"), None),
        (Grammar({"A": "a" | B, "B": B + "a"}, "A"), "calls itself before anything is read"),
        (Grammar({"A": "a" | B, "B": call("C") + "a", "C": B}, "A"), "calls itself before anything is read"),
        (Grammar({"A": Label("\0rule:A")}, "A"), "reserved"),
        (
            Grammar({"A": concat("a", lookahead("b"), B), "B": literal("a")}, "A"),
            "an assertion and the call of rule 'B'",
        ),
    ],
)
def test_errors_say_what_is_wrong(grammar: Grammar, message: str | None) -> None:
    if message is None:
        same(grammar)
        return
    with pytest.raises(GrammarError, match=message):
        network_of(grammar)


def test_errors_say_where() -> None:
    grammar = Grammar({"A": literal("a") | B, "B": call("C")}, "A", places={"B": Place(7, 3)})
    with pytest.raises(GrammarError) as caught:
        network_of(grammar)
    assert (caught.value.rule, caught.value.line, caught.value.column) == ("B", 7, 3)


@pytest.mark.parametrize("body", [EMPTY, "a" + A, B + "a"])
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
