"""Visibly pushdown grammars: against the plainest reading, against general grammars, and what cannot be one."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import pytest
from visibly_pushdown_cases import accepted, completed, random_grammar, texts

from automata import (
    ByteAutomaton,
    Cancellation,
    Grammar,
    Limits,
    PushdownAutomaton,
    compile_expr,
    compile_grammar,
    queries,
)
from automata.errors import Cancelled, EmptyLanguage, LimitExceeded
from automata.expressions import EMPTY, Label, alternation, byte_set, call, concat, literal, repeat
from automata.limits import Work
from automata.pattern import parse
from automata.pushdown.step_table import Configuration
from automata.visibly_pushdown import (
    ArcLanguage,
    VisiblyPushdownCall,
    VisiblyPushdownGrammar,
    VisiblyPushdownRule,
    compile_visibly_pushdown,
)

LONGEST, NUM_SEEDS = 6, 200
Arc = tuple[int, str | bytes | ArcLanguage, int]


def compiled(grammar: VisiblyPushdownGrammar, max_inlined_states: int = 0) -> ByteAutomaton | PushdownAutomaton | None:
    try:
        return compile_visibly_pushdown(grammar, max_inlined_states=max_inlined_states)
    except EmptyLanguage:
        return None


@pytest.mark.parametrize("seed", range(NUM_SEEDS))
def test_texts_of_any_grammar(seed: int) -> None:
    grammar = random_grammar(seed)
    automaton, expected = compiled(grammar), texts(grammar, LONGEST)
    if automaton is None:
        assert not expected
        return
    if isinstance(automaton, ByteAutomaton):
        assert len(grammar.rules) == 1 or not any(rule.calls for rule in grammar.rules[:1])
        return
    found, seen = accepted(automaton, LONGEST)
    assert found == expected
    begun, height = accepted(automaton, 3)[1], 3 + int(max(automaton.headroom.max(), *automaton.symbol_headroom, 0))
    assert begun <= completed(automaton, begun, lambda configuration: len(configuration[1]) <= height)
    for _, stack in seen:
        assert all(automaton.may_lie_under[above, below] for below, above in pairwise(stack))


@pytest.mark.parametrize("seed", range(NUM_SEEDS))
def test_headroom(seed: int) -> None:
    """From a configuration with room some step leads to another one with room, and at last to the end."""
    automaton = compiled(random_grammar(seed))
    if isinstance(automaton, PushdownAutomaton):
        for depth in range(3):
            with_room = partial(has_room, automaton, depth)
            _, seen = accepted(automaton, LONGEST, with_room)
            assert seen <= completed(automaton, seen, with_room)


def test_headroom_of_exits() -> None:
    """Whatever a rule ends in, there is room for what follows: three brackets after `b`, none after `a`."""
    either = rule((0, b"a", 1), (1, b")", 2), (0, b"b", 3), (3, b")", 4), calls=[], ends=[(2, 0), (4, 1)])
    deep = rule((0, b"[", 1), (2, b"]", 3), calls=[VisiblyPushdownCall(1, 3, (2,))], ends=[(3, 0)])
    deepest = rule((0, b"(", 1), (2, b"]", 3), calls=[VisiblyPushdownCall(1, 1, (2, 2))], ends=[(3, 0)])
    start = rule(
        *[(0, b"(", 1), (2, b"[", 3), (0, b"b", 5), (0, b"a", 6), (6, b"(", 1)],
        calls=[VisiblyPushdownCall(1, 1, (5, 2)), VisiblyPushdownCall(3, 2, (5,))],
        ends=[(5, 0)],
    )
    automaton = compile_visibly_pushdown(VisiblyPushdownGrammar((start, either, deep, deepest)), max_inlined_states=0)
    assert isinstance(automaton, PushdownAutomaton)
    assert automaton.headroom[automaton.start] == 0
    ((after, _),) = automaton.configurations(b"a")
    assert automaton.headroom[after] == 3
    for depth in range(5):
        with_room = partial(has_room, automaton, depth)
        _, seen = accepted(automaton, 2 * LONGEST, with_room)
        assert ((after, ()) in seen) == (depth >= 3)
        assert seen <= completed(automaton, seen, with_room)


def has_room(automaton: PushdownAutomaton, depth: int, configuration: Configuration) -> bool:
    state, stack = configuration
    below = [height + automaton.symbol_headroom[symbol] for height, symbol in enumerate(stack)]
    return bool(max([len(stack) + automaton.headroom[state], *below]) <= depth)


@pytest.mark.parametrize("seed", range(NUM_SEEDS))
def test_inlined(seed: int) -> None:
    grammar = random_grammar(seed)
    automaton, expected = compiled(grammar, 1 << 20), texts(grammar, LONGEST)
    if automaton is None:
        assert not expected
    elif isinstance(automaton, PushdownAutomaton):
        assert accepted(automaton, LONGEST)[0] == expected
    else:
        short = compile_expr(repeat(byte_set(range(256)), 0, LONGEST))
        assert set(queries.enumerate(automaton & short)) == expected


def rule(*arcs: Arc, calls: list[VisiblyPushdownCall], ends: list[tuple[int, int]]) -> VisiblyPushdownRule:
    """A rule from its arcs; patterns where they are texts."""
    states = [0, *(state for source, _, target in arcs for state in (source, target))]
    read = [(source, parse(what) if isinstance(what, str) else what, target) for source, what, target in arcs]
    return VisiblyPushdownRule(
        max([*states, *(state for call in calls for state in call.targets)]) + 1,
        arcs=[(source, literal(what) if isinstance(what, bytes) else what, target) for source, what, target in read],
        calls=calls,
        ends=ends,
        num_exits=max([0, *(way for _, way in ends)]) + 1,
    )


def around(
    inside: VisiblyPushdownRule, *others: VisiblyPushdownRule, targets: tuple[int, ...] = (2,)
) -> VisiblyPushdownGrammar:
    """A bracket around a rule; the text ends behind it."""
    start = rule((0, b"(", 1), (3, EMPTY, 3), calls=[VisiblyPushdownCall(1, 1, targets)], ends=[(2, 0)])
    return VisiblyPushdownGrammar((start, inside, *others))


def test_recursion_as_in_a_grammar() -> None:
    """Lists of words in brackets, to any depth, with an assertion, a product and a large part that occurs twice."""
    word = alternation(parse(r"a+\b"), parse("[ab]*") & parse("..b"), repeat(parse("a{3}b{3}c{3}" * 20), 2, 2))
    inside = concat(
        word, repeat(concat(literal(","), alternation(word, concat(literal("("), call("inside")))), 0), literal(")")
    )
    general = Grammar({"start": concat(literal("("), call("inside")), "inside": inside}, "start")
    grammar = around(
        rule(
            (0, word, 1),
            (1, b",", 2),
            (2, word, 1),
            (2, b"(", 3),
            (1, b")", 4),
            calls=[VisiblyPushdownCall(3, 1, (1,))],
            ends=[(4, 0)],
        )
    )
    found, expected = compile_visibly_pushdown(grammar), compile_grammar(general)
    assert isinstance(found, PushdownAutomaton)
    for depth in range(4):
        assert queries.equivalent(found.expand(depth), expected.expand(depth))


def test_exits() -> None:
    """Whether a list holds `a` is asked of it; the answer decides what follows, and which of its items go on."""
    items = rule(
        (0, b"b", 0),
        (0, b"a", 1),
        (1, "[ab]", 1),
        (0, b")", 2),
        (1, b")", 3),
        (0, b"(", 4),
        (1, b"(", 5),
        calls=[VisiblyPushdownCall(4, 1, (0, 1)), VisiblyPushdownCall(5, 1, (1, 1))],
        ends=[(2, 0), (3, 1)],
    )
    start = rule(
        (0, b"(", 1),
        (2, b"none", 4),
        (3, b"some", 4),
        (0, b"(", 5),
        (6, "!", 4),
        calls=[VisiblyPushdownCall(1, 1, (2, 3)), VisiblyPushdownCall(5, 1, (-1, 6))],
        ends=[(4, 0)],
    )
    automaton = compile_visibly_pushdown(VisiblyPushdownGrammar((start, items)))
    assert isinstance(automaton, PushdownAutomaton)
    for text in (b"(bb)none", b"(b(ab)b)some", b"(a(b))!", b"((b))none"):
        assert automaton.accepts(text)
    for text in (b"(bb)some", b"(b(ab)b)none", b"(bb)!", b"(bb)"):
        assert not automaton.accepts(text)
    # Where only lists with `a` may stand, none ends without.
    only = compile_visibly_pushdown(
        VisiblyPushdownGrammar((rule((0, b"(", 1), calls=[VisiblyPushdownCall(1, 1, (-1, 2))], ends=[(2, 0)]), items))
    )
    assert isinstance(only, PushdownAutomaton)
    assert only.allowed_bytes(b"(b") == frozenset(b"ab(")
    assert only.allowed_bytes(b"(b(b") == frozenset(b"ab()")
    assert only.allowed_bytes(b"(ba") == frozenset(b"ab()")


def test_without_a_stack() -> None:
    """Rules that do not call themselves are written out, if that is not too large."""
    inner = rule((0, "a*", 1), (1, b"]", 2), calls=[], ends=[(2, 0)])
    outer = rule(
        (0, b"[", 1),
        (2, b"[", 3),
        (4, b")", 5),
        calls=[VisiblyPushdownCall(1, 2, (2,)), VisiblyPushdownCall(3, 2, (4,))],
        ends=[(5, 0)],
    )
    grammar = around(outer, inner)
    automaton = compile_visibly_pushdown(grammar)
    assert isinstance(automaton, ByteAutomaton)
    assert queries.equivalent(automaton, parse(r"\(\[a*\]\[a*\]\)"))
    stacked = compile_visibly_pushdown(grammar, max_inlined_states=0)
    assert isinstance(stacked, PushdownAutomaton)
    assert queries.equivalent(stacked.expand(2), automaton)
    assert stacked.num_symbols == 3
    # The outer brackets are there once, the inner ones twice.
    some = compile_visibly_pushdown(grammar, max_inlined_states=5)
    assert isinstance(some, PushdownAutomaton)
    assert some.num_symbols == 2
    assert queries.equivalent(some.expand(2), automaton)


def test_labels() -> None:
    inside = rule(
        (0, Label("<b>"), 0),
        (0, Label("<a>"), 1),
        (1, b"(", 2),
        (1, b")", 3),
        calls=[VisiblyPushdownCall(2, 1, (1,))],
        ends=[(3, 0)],
    )
    automaton = compile_visibly_pushdown(around(inside))
    assert isinstance(automaton, PushdownAutomaton)
    general = Grammar(
        {
            "start": concat(literal("("), call("inside")),
            "inside": concat(
                repeat(Label("<b>"), 0), Label("<a>"), repeat(concat(literal("("), call("inside")), 0), literal(")")
            ),
        },
        "start",
    )
    assert automaton.labels == ("<a>", "<b>")
    assert queries.equivalent(automaton.expand(2), compile_grammar(general).expand(2))


def test_no_text() -> None:
    never = rule((0, b"(", 1), (2, b")", 3), calls=[VisiblyPushdownCall(1, 1, (2,))], ends=[(3, 0)])
    empty = rule((0, b"a", 1), (1, EMPTY, 2), calls=[], ends=[(2, 0)])
    for inside in (never, empty, rule((0, compile_expr(EMPTY), 1), calls=[], ends=[(1, 0)])):
        for most in (0, 1000):
            with pytest.raises(EmptyLanguage):
                compile_visibly_pushdown(around(inside), max_inlined_states=most)


def test_what_is_not_visibly_pushdown() -> None:
    """What is called where is seen in the text."""
    plain, end = rule((0, b")", 1), calls=[], ends=[(1, 0)]), [(2, 0)]
    two = rule(
        (0, b"(", 1), (0, b"(", 3), calls=[VisiblyPushdownCall(1, 1, (2,)), VisiblyPushdownCall(3, 2, (2,))], ends=end
    )
    read_on = rule((0, b"(", 1), (0, b"(a", 2), calls=[VisiblyPushdownCall(1, 1, (2,))], ends=end)
    at_once = rule(calls=[VisiblyPushdownCall(0, 1, (2,))], ends=end)
    for start, message in (
        (two, "rules 1 and 2 are called"),
        (read_on, "where rule 1 is called, or ends, something"),
        (at_once, "in rule 0, nothing is read"),
    ):
        with pytest.raises(ValueError, match=message):
            compile_visibly_pushdown(VisiblyPushdownGrammar((start, plain, plain)), max_inlined_states=0)
    ends = rule((0, b")", 1), (0, b")", 2), calls=[], ends=[(1, 0), (2, 1)])
    with pytest.raises(ValueError, match="rule 1 ends in two exits"):
        compile_visibly_pushdown(around(ends, targets=(2, 2)), max_inlined_states=0)
    with pytest.raises(ValueError, match="1 targets for 2 exits"):
        compile_visibly_pushdown(around(ends))
    with pytest.raises(ValueError, match="the start or no rule"):
        compile_visibly_pushdown(VisiblyPushdownGrammar((rule(calls=[VisiblyPushdownCall(0, 0, (2,))], ends=end),)))
    with pytest.raises(ValueError, match="not one of its 1 exits"):
        compile_visibly_pushdown(around(VisiblyPushdownRule(1, ends=[(0, 3)])))


def test_limits() -> None:
    wide = rule(
        (0, parse("[ab]*a[ab]{14}"), 1),
        (1, b")", 2),
        (0, b"(", 3),
        calls=[VisiblyPushdownCall(3, 1, (1,))],
        ends=[(2, 0)],
    )
    for limits, message in (
        (Limits(states=1000), "more than 1,000 states"),
        (Limits(arcs=10), "`arcs`"),
        (Limits(memory=1000), "more than 1,000 bytes"),
    ):
        work = Work(limits)
        with pytest.raises(LimitExceeded, match=message):
            compile_visibly_pushdown(around(wide), work=work)
    cancellation = Cancellation()
    cancellation.cancel()
    work = Work(cancellation=cancellation)
    with pytest.raises(Cancelled):
        compile_visibly_pushdown(around(wide), work=work)
