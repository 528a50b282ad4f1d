"""Pushdown transducers of pynini to grammars and back, with pynini as the judge of what they accept."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import inf
from typing import Any

import numpy as np
import pynini
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pushdown_grammars import PLAIN, WORDS
from random_fsts import fst_of
from test_pushdown_ambiguity import DANGLING

import constraints
import tokenfst
from automata import (
    EmptyLanguage,
    FstError,
    Grammar,
    GrammarError,
    Label,
    NondeterministicGrammar,
    PushdownAutomaton,
    TooManyConfigurations,
    alternation,
    call,
    compile_grammar,
    concat,
    from_pdt,
    literal,
    parse,
    to_pdt,
)
from automata.errors import LimitExceeded
from automata.limits import Limits
from automata.openfst import to_fst
from automata.pushdown import to_pdt as writing


def texts(alphabet: bytes, length: int) -> list[bytes]:
    return [bytes(text) for size in range(length + 1) for text in product(alphabet, repeat=size)]


def accepted(fst: Any, parentheses: Any, alphabet: bytes, length: int) -> set[bytes]:
    """The texts over some bytes but 0, up to a length, that pynini finds in a pushdown transducer."""
    universe = pynini.closure(pynini.union(*(f"[{byte}]" for byte in alphabet)), 0, length)
    composed = pynini.pdt_compose(fst, universe.optimize(), parentheses)
    paths = pynini.determinize(pynini.pdt_expand(composed, parentheses).rmepsilon()).paths()
    found = set()
    while not paths.done():
        found.add(bytes(paths.ilabels()))
        paths.next()
    return found


Point = tuple[int, int]


def accepts(arcs: list[tuple[int, int, int]], ends: set[int], pairs: dict[int, int], text: bytes) -> bool:
    """Whether a balanced path from state 0 reads a text, by all facts: from p at i a balanced path leads to q at j."""
    facts: set[tuple[Point, Point]] = {((0, 0), (0, 0))}
    size = 0
    while len(facts) > size:
        size = len(facts)
        inside: dict[Point, set[Point]] = {}
        for begin, end in facts:
            inside.setdefault(begin, set()).add(end)
        facts |= {fact for left, end in facts for fact in _more(arcs, pairs, text, inside, left, end)}
    return any(((0, 0), (state, len(text))) in facts for state in ends)


def _more(
    arcs: list[tuple[int, int, int]],
    pairs: dict[int, int],
    text: bytes,
    inside: dict[Point, set[Point]],
    left: Point,
    end: Point,
) -> Iterator[tuple[Point, Point]]:
    state, at = end
    for source, label, target in arcs:
        if source != state:
            continue
        if label in pairs:
            yield (target, at), (target, at)
            for last, after in inside.get((target, at), ()):
                yield from ((left, (to, after)) for r, close, to in arcs if r == last and close == pairs[label])
        elif label == 0:
            yield left, (target, at)
        elif at < len(text) and label == text[at]:
            yield left, (target, at + 1)


# Out


@pytest.mark.parametrize("name", [*PLAIN, *WORDS])
def test_pynini_accepts_the_texts_of_the_grammar(name: str) -> None:
    if name in PLAIN:
        rules, alphabet, length = PLAIN[name]
        grammar = Grammar(rules, "s")
    else:
        rules, words, ignored, alphabet, length = WORDS[name]
        grammar = Grammar(rules, "s", words, ignored)
    length = min(length, 6 if len(alphabet) < 4 else 4)
    automaton = compile_grammar(grammar)
    expected = {text for text in texts(alphabet, length) if automaton.accepts(text)}
    fst, parentheses = to_pdt(grammar)
    assert isinstance(fst, pynini.Fst)
    assert fst.verify()
    assert accepted(fst, parentheses, alphabet, length) == expected
    assert len(parentheses) == automaton.num_symbols


@pytest.mark.parametrize("name", PLAIN)
def test_grammars_go_round(name: str) -> None:
    rules, alphabet, length = PLAIN[name]
    length = min(length, 6 if len(alphabet) < 4 else 5)
    grammar = Grammar(rules, "s")
    again = compile_grammar(from_pdt(*to_pdt(grammar)))
    before = compile_grammar(grammar)
    for text in texts(alphabet, length):
        assert again.accepts(text) == before.accepts(text)


def test_json_goes_round() -> None:
    automaton = constraints.json()
    assert isinstance(automaton, Grammar)
    again = compile_grammar(from_pdt(*to_pdt(automaton)))
    for text in ["{}", '{"a": [1, -2.5e7, {"b": null}], "c": "é\\n"}', "[[[[true]]], false]", " 1 ".strip()]:
        assert again.accepts(text) == compile_grammar(automaton).accepts(text)
    for text in ['{"a": [1, 2}', "[1,]", '{"a" 1}', "[[[[true]]]", '{"a": "\n"}']:
        assert not again.accepts(text)


def test_labels_have_names() -> None:
    grammar = Grammar({"s": alternation("a", concat("(", call("s"), Label("tool"), ")"))}, "s")
    fst, parentheses = to_pdt(grammar)
    table = fst.input_symbols()
    assert table.find("tool") == 257
    assert [(table.find(left), table.find(right)) for left, right in parentheses][:1] == [("(_0", ")_0")]
    assert compile_grammar(from_pdt(fst, parentheses)).labels == ("tool",)


def test_byte_0_goes_round() -> None:
    fst, parentheses = to_pdt(Grammar({"s": alternation(b"\0", concat("(", call("s"), b"\xff)"))}, "s"))
    assert compile_grammar(from_pdt(fst, parentheses)).accepts(b"((\0\xff)\xff)")


def test_derivations_that_would_be_missing() -> None:
    ambiguous = Grammar(DANGLING, "s", ambiguity="parallel", max_configurations=3)
    with pytest.raises(TooManyConfigurations, match=r"than the 3 that may be carried .* would lack them"):
        to_pdt(ambiguous)


def test_what_is_no_grammar(monkeypatch: pytest.MonkeyPatch) -> None:
    text: Any = "s: 'a'"
    with pytest.raises(TypeError, match=r"expected a grammar or a pushdown automaton, not str"):
        to_pdt(text)
    monkeypatch.setattr(writing, "DEFAULT_LIMITS", Limits(memory=100))
    with pytest.raises(LimitExceeded, match="more than 100 bytes"):
        to_pdt(Grammar({"s": parse("[a-z]")}, "s"))


# In


def test_what_pdt_replace_makes() -> None:
    """pynini's own grammars: one rule for each part."""
    value, items = pynini.accep("[value]"), pynini.accep("[items]")
    number = {name: label for label, name in pynini.generated_symbols()}
    digits = pynini.closure(pynini.union(*"01"), 1)
    fst, parentheses = pynini.pdt_replace(
        [
            (number["value"], digits | "\\[" + items.ques + "\\]"),
            (number["items"], value + pynini.closure("," + value)),
        ]
    )
    grammar = from_pdt(fst, parentheses)
    assert len(grammar.rules) <= 4
    automaton = compile_grammar(grammar)
    for text, expected in [("[0,[1,[]],10]", True), ("[]", True), ("[,]", False), ("[0", False), ("1", True)]:
        assert automaton.accepts(text) == expected


@st.composite
def transducers(draw: st.DrawFn) -> tuple[list[tuple[int, int, int]], set[int]]:
    state = st.integers(0, 4)
    label = st.sampled_from([0, 97, 98, 97, 98, 300, 301, 302, 303])
    arcs = draw(st.lists(st.tuples(state, label, state), min_size=1, max_size=10))
    return arcs, draw(st.sets(state, min_size=1, max_size=2))


@settings(max_examples=75, deadline=None)
@given(transducers())
def test_random_transducers(case: tuple[list[tuple[int, int, int]], set[int]]) -> None:
    arcs, ends = case
    pairs = {300: 301, 302: 303}
    source, label, target = np.array(arcs, np.int32).T
    fst = to_fst(0, np.isin(np.arange(5), list(ends)), source, label - 1, target)
    expected = {text for text in texts(b"ab", 4) if accepts(arcs, ends, pairs, text)}
    try:
        automaton = compile_grammar(from_pdt(fst, pairs.items(), ambiguity="parallel", max_configurations=32))
    except EmptyLanguage:
        assert not expected
        return
    except (NondeterministicGrammar, GrammarError):
        return
    try:
        assert {text for text in texts(b"ab", 4) if automaton.accepts(text)} == expected
    except TooManyConfigurations:
        return


def test_an_ambiguous_transducer() -> None:
    fst, parentheses = to_pdt(Grammar({"s": alternation(concat("(", call("s"), ")"), "x")}, "s"))
    assert compile_grammar(from_pdt(fst, parentheses)).max_configurations == 1
    # Palindromes: no look-ahead finds the middle.
    halves = pynini.closure(pynini.union("a[300]", "b[302]")) + pynini.closure(pynini.union("[301]a", "[303]b"))
    pairs = [(300, 301), (302, 303)]
    with pytest.raises(NondeterministicGrammar, match="text"):
        compile_grammar(from_pdt(halves, pairs))
    automaton = compile_grammar(from_pdt(halves, pairs, ambiguity="parallel", max_configurations=16))
    assert automaton.accepts("abba")
    assert not automaton.accepts("abab")


def test_characters() -> None:
    left, right = (pynini.accep(char, token_type="utf8") for char in "éü")
    fst = pynini.closure(left + pynini.accep("[1114200]")) + pynini.closure(pynini.accep("[1114201]") + right)
    automaton = compile_grammar(from_pdt(fst, [(1114200, 1114201)], "utf8"))
    assert automaton.accepts("ééüü")
    assert not automaton.accepts("ééü")


def test_parts_that_lead_nowhere_are_left_out() -> None:
    """A parenthesis that is never closed, and one around nothing that ends."""
    open_only = pynini.union("a", "b[300]c", "d[302]" + pynini.accep("e").closure() + "[305]")
    grammar = from_pdt(open_only, [(300, 301), (302, 303), (304, 305)])
    assert list(grammar.rules) == ["text"]
    assert isinstance(compile_grammar(grammar), PushdownAutomaton)
    with pytest.raises(EmptyLanguage, match="the pushdown transducer accepts no text"):
        from_pdt(pynini.accep("a[300]b"), [(300, 301)])
    with pytest.raises(EmptyLanguage, match="the pushdown transducer accepts no text"):
        from_pdt(pynini.Fst(), [])


def test_arcs_of_infinite_weight_are_none() -> None:
    # pynini's properties call such an FST unweighted.
    fst = fst_of(2, [(0, 97, 97, inf, 1), (0, 300, 300, inf, 0), (0, 98, 98, 0.0, 1)], {1: 0.0})
    automaton = compile_grammar(from_pdt(fst, [(300, 301)]))
    assert [text for text in texts(b"ab", 2) if automaton.accepts(text)] == [b"b"]


def test_other_fsts_are_refused() -> None:
    with pytest.raises(FstError, match="a transducer cannot be used as a grammar"):
        from_pdt(pynini.cross("a", "b"), [])
    with pytest.raises(FstError, match="weights are not supported here"):
        from_pdt(pynini.accep("a", weight=2), [])
    with pytest.raises(FstError, match="label 300 is not a byte or a parenthesis, and has no name"):
        from_pdt(pynini.accep("a[300]"), [])
    with pytest.raises(FstError, match="label 1114112 is not a code point"):
        from_pdt(pynini.accep("[1114112]"), [], "utf8")
    token_type: Any
    for token_type in ("byte", "utf8"):
        with pytest.raises(FstError, match="label -1 is not a"):
            from_pdt(fst_of(2, [(0, -1, -1, 0.0, 1)], {1: 0.0}), [], token_type)
    with pytest.raises(FstError, match="label 300 is of two parentheses"):
        from_pdt(pynini.accep("a"), [(300, 301), (302, 300)])
    with pytest.raises(FstError, match="label 7 is of two parentheses"):
        from_pdt(pynini.accep("a"), [(7, 7)])
    with pytest.raises(FstError, match="label 0 is epsilon"):
        from_pdt(pynini.accep("a"), [(0, 7)])
    wrong: Any
    for wrong in (None, [1], [("a", "b")], [(1, 2, 3)], [(1.5, 2)]):
        with pytest.raises(TypeError, match="`parentheses` are pairs of labels"):
            from_pdt(pynini.accep("a"), wrong)
    with pytest.raises(TypeError, match="expected an FST of pynini or pywrapfst, not Literal"):
        from_pdt(literal("a"), [])
    token_type = "bytes"
    with pytest.raises(ValueError, match='`token_type` is "byte" or "utf8", not \'bytes\''):
        from_pdt(pynini.accep("a"), [], token_type)


@pytest.mark.parametrize("token_type", ["byte", "utf8"])
def test_generated_symbols_name_tokens(token_type: Any) -> None:
    """As in `from_fst`: `[name]` in pynini's strings."""
    vocabulary = tokenfst.Vocabulary([b"a", b"", b""], 2, special_tokens={"stop": 1})
    fst = pynini.accep("a[stop]", token_type=token_type)
    automaton = tokenfst.compile(from_pdt(fst, [], token_type), vocabulary)
    assert automaton.accepts([0, 1])
    assert not automaton.accepts([0])
