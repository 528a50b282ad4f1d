"""Pictures of a part of an automaton, and of the path of a text: read from their DOT, checked by searches in Python."""

from __future__ import annotations

import dataclasses
import re
import sys
from collections import deque
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, Literal

import pynini
import pytest
from pynini.lib import byte

import constraints
import tokenfst
from automata import (
    Grammar,
    LimitExceeded,
    TextNotAllowed,
    TokenNotAllowed,
    alternation,
    call,
    compile_expr,
    compile_grammar,
    concat,
    literal,
    parse,
    transducer_of,
)
from automata.counted import compile_counted
from automata.drawing import Drawing
from automata.limits import DEFAULT_LIMITS, Work
from automata.pushdown.network import build_network
from automata.view import MAX_SHOWN
from automata.weighted import compile_weighted
from tokenfst import Vocabulary

pygraphviz = pytest.importorskip("pygraphviz")

PATTERNS = ["(ab|ba)*c", "a{1,4}(b|c)d*", "[a-z]{1,3}@(foo|bar)", "x", "(a|b)*a(a|b){3}"]
LISTS = Grammar({"s": alternation("x", concat("(", call("s"), concat(",", call("s")).star(), ")"))}, "s")
SMALL = Vocabulary([b"a", b"b", b"ab", b"c", b"abab", b""], eos_ids=5)
BRACKETS = Vocabulary([b"x", b"(", b")", b",", b"),", b""], eos_ids=5)


class Shown:
    """What a picture shows."""

    def __init__(self, drawing: Drawing) -> None:
        graph = pygraphviz.AGraph(string=drawing.dot)
        self.states = {int(node) for node in graph.nodes() if str(node).isdigit()}
        self.lit = {int(node) for node in graph.nodes() if str(node).isdigit() and node.attr["color"]}
        self.arcs = {
            (int(a), int(b)): graph.get_edge(a, b).attr["label"]
            for a, b in graph.edges()
            if a.isdigit() and b.isdigit()
        }
        self.lit_arcs = {(a, b) for a, b in self.arcs if graph.get_edge(a, b).attr["color"]}
        self.after = self._left_out(graph, "after", lambda a, b: (a, b))
        self.before = self._left_out(graph, "before", lambda a, b: (b, a))
        notes = [node.attr["label"] for node in graph.nodes() if node == "legend"]
        self.legend = notes[0] if notes else ""

    def _left_out(self, graph: Any, side: str, order: Callable[[str, str], tuple[str, str]]) -> dict[int, int]:
        found = {}
        for one, other in graph.edges():
            near, far = order(one, other)
            if far.startswith(side):
                assert far == f"{side}{near}"
                found[int(near)] = int(graph.get_node(far).attr["label"].removeprefix("… "))
        return found


def near(arcs: Iterable[tuple[int, int]], around: int, radius: int) -> set[int]:
    """The states within some arcs of one, in either direction."""
    pairs = set(arcs)
    distance, waiting = {around: 0}, deque([around])
    while waiting:
        state = waiting.popleft()
        for one, other in pairs:
            for here, there in ((one, other), (other, one)):
                if here == state and there not in distance:
                    distance[there] = distance[state] + 1
                    waiting.append(there)
    return {state for state, far in distance.items() if far <= radius}


def check_parts(draw: Callable[..., Drawing]) -> None:
    """Each part around each state shows the states near it, their arcs as in the whole, and counts the others."""
    whole = Shown(draw())
    assert not whole.after
    assert not whole.before
    assert "…" not in whole.legend
    for around in whole.states:
        for radius in range(4):
            seen = Shown(draw(around=around, radius=radius))
            assert seen.states == near(whole.arcs, around, radius)
            assert seen.arcs == {pair: label for pair, label in whole.arcs.items() if seen.states.issuperset(pair)}
            for side, counts in ((0, seen.after), (1, seen.before)):
                outside = [
                    pair for pair in whole.arcs if pair[side] in seen.states and pair[1 - side] not in seen.states
                ]
                assert counts == {
                    state: sum(pair[side] == state for pair in outside) for state in {p[side] for p in outside}
                }
            assert ("not drawn" in seen.legend) == bool(seen.after or seen.before)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_parts_of_byte_automata(pattern: str) -> None:
    check_parts(compile_expr(parse(pattern)).draw)
    check_parts(parse(pattern).draw)


def test_parts_of_other_automata() -> None:
    check_parts(compile_weighted(parse("(ab|ba)*c").weighted(1.5) | "d").draw)
    check_parts(compile_grammar(LISTS).draw)
    check_parts(tokenfst.compile("(ab|ba)*c", SMALL).draw)
    check_parts(tokenfst.compile(parse("(ab|ba)*c").weighted(0.5), SMALL).draw)
    check_parts(tokenfst.compile(LISTS, BRACKETS).draw)


@pytest.mark.parametrize(("pattern", "text"), [("(ab|ba)*c", "abbac"), ("[a-z]{1,3}@(foo|bar)", "ab@f"), ("x", "")])
def test_the_path_of_a_text_is_lit(pattern: str, text: str) -> None:
    automaton = compile_expr(parse(pattern))
    states = [automaton.step(automaton.start, text[:length]) for length in range(len(text) + 1)]
    weighted = compile_weighted(parse(pattern).weighted(1))
    for drawing in (automaton.draw(path=text), parse(pattern).draw(path=text.encode())):
        seen = Shown(drawing)
        assert seen.lit == set(states)
        assert seen.lit_arcs == set(pairwise(states))
        assert "the path" in seen.legend
    assert len(Shown(weighted.draw(path=text)).lit_arcs) == len(seen.lit_arcs)
    inside = Shown(automaton.draw(path=text, around=automaton.start, radius=1))
    assert inside.lit == set(states) & inside.states


def test_the_path_of_tokens_is_lit() -> None:
    automaton = tokenfst.compile("(ab|ba)*c", SMALL).complete()
    states = [automaton.start]
    for token in (2, 1, 0, 3, 5):
        states.append(automaton.advance(states[-1], token))
    seen = Shown(automaton.draw(path=[2, 1, 0, 3, 5]))
    assert (seen.lit, seen.lit_arcs) == (set(states), set(pairwise(states)))
    # A lazy automaton has states of its own; the picture is of the tables.
    assert tokenfst.compile("(ab|ba)*c", SMALL).draw(path=[2, 1, 0, 3, 5]) == automaton.draw(path=[2, 1, 0, 3, 5])


def test_the_path_through_a_grammar_is_lit() -> None:
    automaton = compile_grammar(LISTS)
    text = "(x,(x))"
    states = [automaton.configurations(text[:length])[0][0] for length in range(len(text) + 1)]
    seen = Shown(automaton.draw(path=text))
    assert (seen.lit, seen.lit_arcs) == (set(states), set(pairwise(states)))
    tokens = tokenfst.compile(LISTS, BRACKETS).complete()
    seen = Shown(tokens.draw(path=[1, 0, 3, 0, 2]))
    assert seen.lit == {state.tops[0][0] for state in tokens.states_along([1, 0, 3, 0, 2])}


def test_what_cannot_be_drawn() -> None:
    automaton = compile_expr(parse("(ab|ba)*c"))
    for around in (-1, automaton.num_states):
        with pytest.raises(ValueError, match="there is no state"):
            automaton.draw(around=around)
    with pytest.raises(ValueError, match="radius"):
        automaton.draw(around=0, radius=-1)
    with pytest.raises(TextNotAllowed, match="byte 2 is not allowed"):
        automaton.draw(path="abx")
    with pytest.raises(TextNotAllowed, match="byte 1 is not allowed"):
        compile_grammar(LISTS).draw(path="()")
    with pytest.raises(TokenNotAllowed):
        tokenfst.compile("(ab|ba)*c", SMALL).draw(path=[3, 3])
    palindrome = alternation(concat("a", call("s"), "a"), concat("b", call("s"), "b"), "a", "b")
    ambiguous = Grammar({"s": palindrome}, "s", ambiguity="parallel", max_configurations=50)
    with pytest.raises(ValueError, match="ways to read"):
        compile_grammar(ambiguous).draw(path="aaa")


def test_a_part_of_what_is_too_large_for_a_picture() -> None:
    vocabulary = Vocabulary([b"a", b"b", b""], eos_ids=2)
    automaton = tokenfst.compile("(a|b){0,60}(ab){250}", vocabulary)
    with pytest.raises(LimitExceeded, match="500"):
        automaton.draw()
    assert len(Shown(automaton.draw(around=9, radius=2)).states) >= 5


# What notebooks show


@dataclasses.dataclass
class Point:
    x: int

    @staticmethod
    def moved(by: int) -> None: ...


TIDY = pynini.cdrewrite(pynini.cross(" ", ""), "", ",", pynini.closure(byte.BYTE).optimize())
PERSON = constraints.json_schema({"properties": {"zip": {"type": "string", "format": "zip"}}})
OBJECTS: list[tuple[Any, list[str], bool]] = [
    (parse("a(b|c)"), ["expression", "a(?:b|c)"], True),
    (parse("a(b|c)").weighted(2.0), ["expression", "weighted byte automaton"], True),
    (parse("a{100000}b{90000}"), ["a{100000}b{90000}", "no picture"], False),
    (compile_expr(parse("a(b|c)")), ["byte automaton", "3 states"], True),
    (compile_expr(parse("a(?!.|\n)b")), ["byte automaton", "no text at all"], False),
    (LISTS, ["grammar", "starts with s", "(?&amp;s)"], False),
    (constraints.json(), ["grammar", "2 rules"], False),
    (compile_grammar(LISTS), ["pushdown automaton", "stack symbols"], True),
    (build_network(LISTS, Work(DEFAULT_LIMITS)), ["network", "s (start)", "rules"], False),
    (PERSON.to_visibly_pushdown(), ["visibly pushdown grammar"], False),
    (SMALL, ["vocabulary", "6 tokens", "abab"], False),
    (PERSON, ["JSON Schema", "&quot;format&quot;", "/properties/zip"], False),
    (constraints.typed(Point), ["JSON of a type", "typed(Point)", "&quot;integer&quot;"], False),
    (constraints.typed(Point) | PERSON, ["one of several schemas", "typed(Point)", "/properties/zip"], False),
    (constraints.sequence("x*", PERSON), ["composed constraint", "x*(?&amp;0)", "visibly pushdown grammar"], False),
    (constraints.tool_calls([Point.moved], format="hermes"), ["tool_calls([moved]"], False),
    (constraints.integer(1, 20), ["value", "expression", "byte automaton"], True),
    (compile_counted(parse("a{5000}")), ["with a count", "up to 5,000"], False),
    (transducer_of(TIDY), ["transducer of", ":"], True),
    (Vocabulary([b"a", b" ,", b""], 2, detokenizer=TIDY), ["vocabulary", "detokenizer", "transducer of"], True),
    (tokenfst.compile("(ab)+", SMALL), ["LazyTokenAutomaton", "begins with a, ab, abab"], False),
    (tokenfst.compile("(ab)+", SMALL).complete(), ["FiniteTokenAutomaton", "begins with a, ab, abab"], True),
    (tokenfst.compile(LISTS, BRACKETS).complete(), ["PushdownTokenAutomaton"], True),
    (tokenfst.compile("a{5000}", SMALL), ["CountedTokenAutomaton"], False),
]


@pytest.mark.parametrize(("shown", "said", "has_picture"), OBJECTS, ids=lambda value: type(value).__name__)
def test_objects_show_themselves(
    shown: Any, said: list[str], has_picture: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = shown._repr_html_()
    assert [part for part in said if part not in found] == []
    assert ("<svg" in found) == has_picture
    # Without Graphviz it is the DOT text.
    monkeypatch.setitem(sys.modules, "pygraphviz", None)
    found = shown._repr_html_()
    assert "<svg" not in found
    assert ("digraph" in found) == has_picture


HOSTILE = "<script>alert(1)</script>&amp;"


@pytest.mark.parametrize(
    "shown",
    [
        literal(HOSTILE),
        Grammar({HOSTILE: literal(HOSTILE)}, HOSTILE),
        build_network(Grammar({HOSTILE: concat("(", call(HOSTILE).star(), ")")}, HOSTILE), Work(DEFAULT_LIMITS)),
        constraints.json_schema({"const": HOSTILE}),
        constraints.typed(Literal["<script>alert(1)</script>&amp;"]),
        constraints.sequence(literal(HOSTILE), PERSON),
        Vocabulary([HOSTILE.encode(), b""], 1),
        tokenfst.compile(literal(HOSTILE), Vocabulary([HOSTILE.encode(), b""], 1)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_shown_is_no_markup_and_has_the_colors_of_the_notebook(shown: Any) -> None:
    found = shown._repr_html_()
    assert "<script" not in found
    assert "script&gt;" in found
    outside = re.sub(r"<svg.*?</svg>", "", found, flags=re.DOTALL)
    assert not re.search(r"(background|[^-]color):\s*(?!inherit|none)", outside)


def test_a_large_automaton_is_shown_around_its_start() -> None:
    large = compile_expr(parse("(a|b)*a(a|b){9}"))
    assert large.num_states > MAX_SHOWN
    shown = large._repr_html_()
    assert shown.count('class="node"') < 3 * MAX_SHOWN
    assert "three more states" in shown


def test_pictures_are_light_and_dark() -> None:
    svg = compile_expr(parse("ab")).draw(path="a").svg()
    assert '<svg class="tokenfst-drawing"' in svg
    assert "prefers-color-scheme: dark" in svg
    # Rules hold for pictures alone: a notebook has them in one document with everything else.
    style = svg[svg.index("<style>") : svg.index("</style>")]
    selectors = [line.split("{")[0].strip() for line in style.splitlines() if line.startswith("  ")]
    assert selectors
    assert all(selector.startswith(".tokenfst-drawing ") for selector in selectors)


def test_a_radius_of_any_size_ends_and_shows_everything() -> None:
    automaton = compile_expr(parse("(foo)+d"))
    assert automaton.draw(around=0, radius=10**12).dot == automaton.draw().dot


@pytest.mark.parametrize("wrong", [1.5, "1", [0]])
def test_what_is_no_number_of_a_state_is_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match="around is the number of a state in the picture, not"):
        compile_expr(parse("ab")).draw(around=wrong)
    with pytest.raises(TypeError, match="the radius is a number of arcs, not"):
        compile_expr(parse("ab")).draw(around=0, radius=wrong)
    nested = compile_grammar(Grammar({"s": alternation("x", concat("(", call("s"), ")"))}, "s"))
    automaton = tokenfst.compile(nested, Vocabulary([b"(", b"x", b")", b""], 3)).complete()
    with pytest.raises(TypeError, match="around is the number of a state in the picture, not"):
        automaton.draw(around=automaton.start)


def test_no_state_of_the_empty_language_is_drawn() -> None:
    with pytest.raises(ValueError, match="there is no state 0: the language is empty"):
        compile_expr(parse("a") & parse("b")).draw(around=0)
