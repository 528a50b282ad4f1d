"""Images and preimages against OpenFst's composition, on random transducers and on those that pynini ships."""

from __future__ import annotations

import pickle
import string
import time
from itertools import product
from pathlib import Path
from typing import Any, Literal

import pynini
import pytest
import pywrapfst
from hypothesis import given
from hypothesis import strategies as st
from pynini.examples import plurals, t9
from pynini.lib import byte, edit_transducer, utf8
from random_fsts import as_string, fst_arcs, fst_of

from automata import (
    ANY_TEXT,
    Cancellation,
    Cancelled,
    Expr,
    FstError,
    Grammar,
    GrammarError,
    Label,
    LimitExceeded,
    Limits,
    call,
    compile_expr,
    compile_grammar,
    concat,
    derivative,
    equivalent,
    from_fst,
    image,
    includes,
    is_empty,
    literal,
    lookahead,
    lookbehind,
    parse,
    preimage,
    strings,
    transducer_of,
)
from automata import enumerate as texts_of
from automata.expressions import EMPTY, Transduction
from automata.limits import Work
from automata.transducer_tables import TransducerTables

LETTERS = [97, 98, 0xC3, 0xA9]
FREE = [0.0]


def texts(language: Expr) -> list[bytes]:
    return sorted(texts_of(compile_expr(language)))


def projected(left: Any, right: Any, side: Literal["input", "output"]) -> Any:
    """The texts on one side of a composition, as OpenFst makes them."""
    found = pywrapfst.compose(left.copy().arcsort("olabel"), right.copy().arcsort("ilabel")).project(side).rmepsilon()
    return pywrapfst.determinize(found)


# Random transducers


@given(fst_arcs(LETTERS, acceptor=True, costs=FREE), fst_arcs(LETTERS, acceptor=False, costs=FREE))
def test_images_are_those_of_openfst(acceptor_parts: Any, parts: Any) -> None:
    acceptor, fst = fst_of(*acceptor_parts), fst_of(*parts)
    assert equivalent(image(from_fst(acceptor), fst), from_fst(projected(acceptor, fst, "output")))
    assert equivalent(image(acceptor, fst), from_fst(projected(acceptor, fst, "output")))
    assert equivalent(preimage(fst, from_fst(acceptor)), from_fst(projected(fst, acceptor, "input")))


@given(fst_arcs(LETTERS, acceptor=False, costs=FREE), st.binary(max_size=4))
def test_images_of_texts(parts: Any, text: bytes) -> None:
    fst = fst_of(*parts)
    letters = bytes(LETTERS[byte % 4] for byte in text)
    assert equivalent(image(letters, fst), from_fst(projected(as_string(letters), fst, "output")))
    assert equivalent(preimage(fst, letters), from_fst(projected(fst, as_string(letters), "input")))


CHARACTERS = [97, 0xE9, 0xE8, 0x20AC, 0x1F600]


@given(fst_arcs(CHARACTERS, acceptor=True, costs=FREE), fst_arcs(CHARACTERS, acceptor=False, costs=FREE))
def test_images_over_code_points(acceptor_parts: Any, parts: Any) -> None:
    acceptor, fst = fst_of(*acceptor_parts), fst_of(*parts)
    expected = from_fst(projected(acceptor, fst, "output"), "utf8")
    assert equivalent(image(acceptor, fst, "utf8"), expected)
    assert equivalent(image(from_fst(acceptor, "utf8"), transducer_of(fst, "utf8")), expected)


@given(fst_arcs([1, 2], acceptor=True, costs=FREE), fst_arcs([1, 2], acceptor=False, costs=FREE))
def test_images_over_words(acceptor_parts: Any, parts: Any) -> None:
    acceptor, fst, words = fst_of(*acceptor_parts), fst_of(*parts), {1: "x", 2: "yy"}
    expected = from_fst(projected(acceptor, fst, "output"), words, separator=" ")
    assert equivalent(image(acceptor, fst, words, separator=" "), expected)
    assert equivalent(image(acceptor, fst, (words, dict(words)), separator=" "), expected)


@given(fst_arcs([97, 98, 99], acceptor=False, costs=FREE), fst_arcs([97, 98, 99], acceptor=False, costs=FREE))
def test_images_of_images(first: Any, second: Any) -> None:
    left, right = fst_of(*first), fst_of(*second)
    both = pywrapfst.compose(left.copy().arcsort("olabel"), right.copy().arcsort("ilabel"))
    for text in ("", "ab", "cab"):
        assert equivalent(image(image(text, left), right), image(text, both))
        assert equivalent(preimage(left, preimage(right, text)), preimage(both, text))


@given(fst_arcs([97, 98], acceptor=False, costs=FREE))
def test_inverting_twice_changes_nothing(parts: Any) -> None:
    tables = transducer_of(fst_of(*parts))
    twice = tables.inverted().inverted()
    assert sorted(twice.arcs.tolist()) == sorted(tables.arcs.tolist())
    assert sorted(twice.epsilon.tolist()) == sorted(tables.epsilon.tolist())


# Labels


def test_labels_match_by_name() -> None:
    fst = pynini.cross("a", "[tool_call]b") + pynini.cross("[eos]", "x")
    assert equivalent(image(concat("a", Label("eos")), fst), concat(Label("tool_call"), "bx"))
    assert equivalent(preimage(fst, concat(Label("tool_call"), "bx")), concat("a", Label("eos")))
    assert is_empty(image(concat("a", Label("other")), fst))
    assert equivalent(image(Label("other") | literal("ab"), pynini.closure(byte.BYTE)), literal("ab"))


# Expressions


NUMBER = pynini.string_map([("1", "one"), ("2", "two"), ("3", "three")])


def test_images_combine_like_any_expression() -> None:
    spoken = image(parse("[12]"), NUMBER)
    assert texts(spoken) == [b"one", b"two"]
    assert texts(image(parse("[1-9]"), NUMBER) - "two") == [b"one", b"three"]
    assert texts("<" + spoken + ">") == [b"<one>", b"<two>"]
    assert texts(spoken & parse("t.*")) == [b"two"]
    assert equivalent(~~spoken, spoken)
    assert texts(spoken.repeat(2, 2)) == [b"oneone", b"onetwo", b"twoone", b"twotwo"]
    assert texts(concat(lookahead("t"), spoken, "!")) == [b"two!"]
    assert texts(concat(spoken, lookbehind("e"))) == [b"one"]
    assert texts(derivative(spoken, "t")) == [b"wo"]
    assert texts(image(spoken, pynini.invert(NUMBER))) == [b"1", b"2"]
    # What a transducer reads is a text of its own: the assertion in it does not see the text around.
    assert texts("x" + image(concat(parse("^"), "1"), NUMBER)) == [b"xone"]


def test_what_a_constraint_may_be() -> None:
    for constraint in ("1", b"1", literal("1"), compile_expr(literal("1")), pynini.accep("1")):
        assert texts(image(constraint, NUMBER)) == [b"one"]
        assert texts(preimage(pynini.invert(NUMBER), constraint)) == [b"one"]
    assert image("1", NUMBER) == image("1", NUMBER.copy())
    assert image("1", NUMBER) != image("2", NUMBER)
    assert image("1", NUMBER) != image("1", pynini.invert(NUMBER))
    assert image(EMPTY, NUMBER) == EMPTY
    spoken = pickle.loads(pickle.dumps(image("1", NUMBER)))
    assert isinstance(spoken, Transduction)
    assert hash(spoken) == hash(image("1", NUMBER))
    assert str(spoken).startswith("<image of 1 by <transducer of ")


def test_what_a_constraint_may_not_be() -> None:
    with pytest.raises(TypeError, match="expected an expression, an automaton, an acceptor or text, not int"):
        image(3, NUMBER)
    with pytest.raises(FstError, match="the FST is a transducer"):
        image(NUMBER, NUMBER)
    with pytest.raises(TypeError, match="expected an FST"):
        image("1", b"1")
    with pytest.raises(TypeError, match="was read before has its token type and its separator already"):
        image("1", transducer_of(NUMBER), "utf8")
    with pytest.raises(ValueError, match="a token type is one for both sides, or two"):
        image("1", NUMBER, ("byte", "byte", "byte"))
    grammar = Grammar({"start": image(concat("1", call("start")), NUMBER)}, "start")
    with pytest.raises(GrammarError, match="the call of rule 'start' stands within what a transducer reads"):
        compile_grammar(grammar)


def test_a_grammar_has_transductions_as_words() -> None:
    grammar = Grammar({"start": concat("(", call("start"), ")") | image(parse("[12]"), NUMBER)}, "start")
    automaton = compile_grammar(grammar)
    assert automaton.accepts(b"((two))")
    assert not automaton.accepts(b"((three))")


def test_files_of_transducers(tmp_path: Path) -> None:
    path, far = tmp_path / "number.fst", tmp_path / "number.far"
    NUMBER.write(str(path))
    with pynini.Far(str(far), "w") as archive:
        archive["number"] = NUMBER
    assert texts(image("1", path)) == texts(image("1", transducer_of(far, key="number"))) == [b"one"]


def test_token_types_of_both_sides() -> None:
    words = {1: "one", 2: "two"}
    fst = fst_of(2, [(0, 49, 1, 0.0, 1), (1, 50, 2, 0.0, 1)], {1: 0.0})
    assert texts(image("122", fst, ("byte", words), separator=" ")) == [b"one two two"]
    assert texts(preimage(fst, "one two", ("byte", words), separator=" ")) == [b"12"]
    table = pywrapfst.SymbolTable()
    for label, symbol in enumerate(("<eps>", "a", "b")):
        table.add_symbol(symbol, label)
    fst = fst_of(2, [(0, 1, 2, 0.0, 1)], {1: 0.0})
    fst.set_input_symbols(table)
    fst.set_output_symbols(table)
    assert texts(image("a", fst)) == [b"b"]
    # An acceptor without symbols is read like the side of the transducer.
    assert texts(image(pynini.accep("a", token_type=table), fst)) == [b"b"]
    assert texts(preimage(fst, pynini.accep("b", token_type=table))) == [b"a"]
    accent = pynini.accep("é", token_type="utf8")
    assert texts(image(accent, pynini.cross(accent, "e"), "utf8")) == [b"e"]
    read = transducer_of(pynini.cross(accent, "e"), "utf8")
    assert texts(image(from_fst(accent, "utf8"), read)) == [b"e"]
    with pytest.raises(FstError, match="does not say what the labels of another FST stand for"):
        image(accent, read)


def test_separators_that_are_no_text() -> None:
    table = pywrapfst.SymbolTable()
    for symbol in ("<eps>", "turn", "on"):
        table.add_symbol(symbol)
    acceptor = pynini.accep("turn on", token_type=table)
    assert texts(from_fst(acceptor, table, separator=" ")) == [b"turn on"]
    with pytest.raises(FstError, match=r"the separator '.ud800' has a surrogate"):
        from_fst(acceptor, table, separator="\ud800")
    number: Any = 5
    with pytest.raises(TypeError, match="a separator is text, not int"):
        from_fst(acceptor, table, separator=number)


def test_a_label_may_have_the_name_of_epsilon() -> None:
    expr = Label("<epsilon>") + "a" | Label("<epsilon>'")
    assert compile_expr(from_fst(compile_expr(expr).fst())).labels == ("<epsilon>", "<epsilon>'")


def test_deeply_nested_transductions() -> None:
    shift = pynini.string_map([("a", "b"), ("b", "a")]).closure()
    tables, expr = transducer_of(shift), literal("ab")
    for _ in range(500):
        expr = image(expr, tables)
    assert texts(expr) == [b"ab"]
    assert texts("x" + (expr & ANY_TEXT)) == [b"xab"]
    assert hash(expr) == hash(expr)


# Size and time


ALPHABET = pynini.union(*string.ascii_lowercase, " ")


def within(distance: int) -> Any:
    edit = pynini.union(pynini.cross("", ALPHABET), pynini.cross(ALPHABET, ""), pynini.cross(ALPHABET, ALPHABET))
    return (pynini.closure(ALPHABET) + (edit + pynini.closure(ALPHABET)).closure(0, distance)).optimize()


def test_runs_stay_together() -> None:
    copying = transducer_of(pynini.closure(byte.BYTE))
    assert len(copying.arcs) == 1
    tables = transducer_of(within(2))
    assert len(tables.arcs) < 300  # of 1,593
    expr = image(parse(r"(?P<BYTES>[\x01-\xff])*"), copying)
    assert isinstance(expr, Transduction)
    found = compile_expr(expr)
    assert len(found.range_arcs().low) == 1
    characters = pynini.union(*map(pynini.escape, map(chr, range(0x80, 0x800)))).closure()
    assert len(transducer_of(pynini.closure(utf8.VALID_UTF8_CHAR)).arcs) < 40
    assert len(transducer_of(characters.optimize()).arcs) < 40


def rmweight(fst: Any) -> Any:
    return pynini.arcmap(fst, map_type="rmweight")


def test_edit_distance_two_of_a_name() -> None:
    hand_made = within(2)
    library = edit_transducer.EditTransducer([*string.ascii_lowercase, " "], bound=2)
    left, right = rmweight(library._e_i), rmweight(library._e_o)
    for name in ("elisabeth", "christopher", "maximilianus"):
        expected = from_fst(pynini.compose(name, hand_made).project("output").optimize())
        seconds = []
        for _ in range(3):
            began = time.perf_counter()
            by_hand = compile_expr(image(name, hand_made))
            factored = compile_expr(image(image(name, left), right))
            seconds.append(time.perf_counter() - began)
        assert equivalent(by_hand, expected)
        assert equivalent(factored, expected)
        assert min(seconds) < 0.1
        assert by_hand.accepts(name.encode())
        assert by_hand.accepts(name[2:].encode())
        assert not by_hand.accepts(name[3:].encode())


def test_limits_and_cancellation() -> None:
    fst = transducer_of(within(2))
    with pytest.raises(
        LimitExceeded, match=r"limit `states`.*the part responsible is <image of elisabeth by <transduc"
    ):
        compile_expr("x" + image("elisabeth", fst), Work(Limits(states=50)))
    with pytest.raises(LimitExceeded, match="limit `memory`"):
        compile_expr(image("elisabeth", fst), Work(Limits(memory=2000)))
    cancellation = Cancellation()
    work = Work(cancellation=cancellation)
    cancellation.cancel()
    with pytest.raises(Cancelled):
        compile_expr(image(literal("elisabeth" * 5000), fst), work)


# What pynini ships


def test_words_that_a_keypad_writes() -> None:
    lexicon = ["good", "gone", "home", "hood", "hoof", "the", "cat"]
    decoder = t9.T9(lexicon)
    found = image("4663", decoder._decoder) & strings(lexicon)
    assert texts(found) == [b"gone", b"good", b"home", b"hood", b"hoof"]
    assert equivalent(found, from_fst(rmweight(decoder.decode("4663")).optimize()))
    assert equivalent(preimage(decoder._decoder, "home"), literal("4663"))


def test_rewrite_rules() -> None:
    sigma = pynini.closure(byte.BYTE).optimize()
    rule = pynini.cdrewrite(pynini.cross("a", "b"), "x", pynini.union("y", "[EOS]"), sigma)
    for text in ("xay", "xa", "axaxay", ""):
        expected = pynini.compose(pynini.escape(text), rule).project("output")
        assert equivalent(image(text, rule), from_fst(expected.optimize()))
    optional = pynini.cdrewrite(pynini.cross("a", "b"), "", "", sigma, mode="opt")
    assert texts(image("aa", optional)) == [b"aa", b"ab", b"ba", b"bb"]
    assert equivalent(preimage(optional, "bb"), parse("[ab][ab]"))


def test_plurals() -> None:
    for word in ("wolf", "analysis", "boy", "bush"):
        assert texts(image(word, rmweight(plurals._plural))) == sorted(
            {text.encode() for text in pynini.compose(word, rmweight(plurals._plural)).paths().ostrings()}
        )


@pytest.mark.parametrize("name", ["numbers", "dates", "chatspeak", "g2p"])
def test_examples_of_pynini(name: str) -> None:
    """Every transducer that the modules hold, on texts that it reads."""
    module: Any = __import__(f"pynini.examples.{name}", fromlist=["examples"])
    fsts = {key: value for key, value in vars(module).items() if isinstance(value, pynini.Fst) and value.num_states()}
    assert fsts
    for key, fst in fsts.items():
        plain = rmweight(fst)
        tables = transducer_of(plain)
        some = [path for path, _ in zip(random_inputs(plain), range(3), strict=False)]
        for text in some:
            expected = pynini.compose(as_pynini(text), plain).project("output").optimize()
            assert equivalent(image(text, tables), from_fst(expected)), (key, text)
            written = from_fst(pynini.shortestpath(expected))
            assert includes(preimage(tables, written), literal(text)), (key, text)


def as_pynini(text: bytes) -> Any:
    return pynini.Fst.from_pywrapfst(as_string(text))


def random_inputs(fst: Any) -> Any:
    for seed in range(1, 20):
        path = pynini.randgen(fst, seed=seed, max_length=60).project("input").rmepsilon().topsort()
        labels = [arc.ilabel for state in path.states() for arc in path.arcs(state)]
        if path.num_states() and all(label < 256 for label in labels):
            yield bytes(labels)


def test_tables_say_what_they_are() -> None:
    tables = transducer_of(pynini.cross("a", "b"))
    assert repr(tables) == f"<transducer of {tables.num_states} states, 1 arcs>"
    assert tables == transducer_of(pynini.cross("a", "b"))
    assert tables != transducer_of(pynini.cross("a", "c"))
    assert isinstance(tables, TransducerTables)
    assert all(list(product(*[tables.labels])) == [] for _ in range(1))
