"""Pictures of weighted automata: costs stand behind bytes, tokens and states."""

from __future__ import annotations

from xml.etree import ElementTree

import pynini
import pytest
from drawing_cases import SVG, legend, parts

import tokenfst
from automata import Label, LimitExceeded, compile_expr, parse, transducer_of
from automata import expressions as ex
from automata.drawing import cost_suffix, draw_byte_fst, draw_fst
from automata.openfst import byte_of_symbol
from automata.weighted import compile_weighted
from constraints import choice
from constraints.json_schema.containers.drawing import draw_array
from tokenfst import Vocabulary
from tokenfst.drawing import MAX_COSTS, MAX_NAMES

pytest.importorskip("pygraphviz")

NAMES = choice({"Ada": 120, "Adam": 30, "Bob": 50})
TOKENS = [b"A", b"B", b"d", b"a", b"m", b"o", b"b", b"Ad", b"Bob"]


def test_bytes_of_one_arc_have_a_line_for_each_cost() -> None:
    expr = parse("[a-d]") | parse("[xyf]").weighted(0.5) | parse("e").weighted(1.25)
    names, arcs = parts(expr.draw())
    assert names == ["0", "1"]
    assert arcs == [['"a"-"d"', '"f" "x"-"y"/0.5', '"e"/1.25']]


def test_a_state_shows_what_it_costs_to_end_there() -> None:
    drawing = (parse("a").weighted(0.75) | "ab").draw()
    names, arcs = parts(drawing)
    assert names == ["0", "1/0.75", "2"]
    assert arcs == [['"a"'], ['"b"']]
    assert "2/0.5: a state and what it costs to end there" in legend(drawing)
    assert not any(line.startswith("2/0.5") for line in legend(parse("ab").weighted(1).draw()))


def test_the_legend_has_the_cost_of_every_text() -> None:
    assert legend(NAMES.draw()) == [
        "bold: start; doubled: the text may end",
        '"a"/0.5: a byte and its cost; "a": at no cost',
        "every text costs 0.511 before its first byte",
    ]


def test_labels_have_costs() -> None:
    drawing = (ex.concat("a", Label("image")).weighted(0.5) | "ab").draw()
    assert ['"b"', "<image>/0.5"] in parts(drawing)[1]
    assert "<name>: a token of this set" in legend(drawing)


def test_an_expression_with_weights_is_drawn_with_them() -> None:
    expr = "Hello, " + NAMES
    assert expr.draw(title="t").dot == compile_weighted(expr).draw(title="t").dot
    assert parse("ab").draw().dot == compile_expr(parse("ab")).draw().dot


def test_an_empty_language_is_an_empty_picture() -> None:
    assert parts((ex.EMPTY.weighted(1) + "a").draw()) == ([], [])


def test_tokens_have_costs() -> None:
    drawing = tokenfst.compile(NAMES, Vocabulary([*TOKENS, b""], eos_ids=9)).draw()
    _, arcs = parts(drawing)
    lines = sorted(line for arc in arcs for line in arc)
    costly = ['"B"/0.875', '"Bob"/0.875', '"m"/1.386']
    assert lines == sorted(['"A"', '"Ad"', '"d"', '"a"', '"o"', '"b"', "end", "end", *costly])
    assert '"ab"/0.5: a token and its cost; "ab": at no cost' in legend(drawing)
    assert "every text costs 0.511 before its first token" in legend(drawing)


def test_the_end_of_a_text_has_a_cost() -> None:
    expr = parse("a").weighted(0.75) | "ab"
    _, arcs = parts(tokenfst.compile(expr, Vocabulary([b"a", b"b", b""], eos_ids=2)).draw())
    assert sorted(arcs) == [['"a"'], ['"b"'], ["end"], ["end/0.75"]]
    # Without end tokens the state has it.
    drawing = tokenfst.compile(expr, Vocabulary([b"a", b"b"])).draw()
    assert parts(drawing)[0] == ["0", "1/0.75", "2"]
    assert "2/0.5: a state and what it costs to end there" in legend(drawing)


def test_tokens_of_one_cost_are_abbreviated_together() -> None:
    letters = [bytes([byte]) for byte in range(97, 123)]
    free = tokenfst.compile(parse("[a-m]").weighted(0.5) | parse("[n-z]"), Vocabulary(letters))
    (arc,) = parts(free.draw())[1]
    first, second = ([f'"{letter}"' for letter in letters] for letters in ("nopqrs", "abcdef"))
    rest = "… (13 tokens)"
    assert arc == [*first, rest, *(f"{each}/0.5" for each in (*second, rest))]
    assert len(arc) == 2 * (MAX_NAMES + 1)
    counts = {letter.decode(): 2.0**number for number, letter in enumerate(letters)}
    (arc,) = parts(tokenfst.compile(choice(counts), Vocabulary(letters)).draw())[1]
    assert arc[:2] == ['"z"', '"y"/0.693']
    assert arc[MAX_COSTS:] == ["… (26 costs)"]


def test_too_many_states_are_refused() -> None:
    long = parse("a{600}").weighted(1) | "b"
    with pytest.raises(LimitExceeded, match="500"):
        tokenfst.compile(long, Vocabulary([b"a", b"b"])).draw()


def test_a_scale_of_0_draws_no_costs() -> None:
    vocabulary = Vocabulary([*TOKENS, b""], eos_ids=9)
    lines = [line for arc in parts(tokenfst.compile(NAMES, vocabulary, scale=0).draw())[1] for line in arc]
    assert not any("/" in line for line in lines)


@pytest.mark.parametrize(
    ("cost", "text"),
    [(0.0, ""), (-0.0, ""), (1e-9, ""), (0.5, "/0.5"), (-1.25, "/-1.25"), (2 / 3, "/0.667"), (30, "/30")],
)
def test_costs_have_three_decimals(cost: float, text: str) -> None:
    assert cost_suffix(cost) == text


def test_costs_of_fsts_are_drawn() -> None:
    fst = pynini.accep("a", weight=2.5)
    pushed = pynini.push(fst, push_weights=True, reweight_type="to_initial")
    for drawn in (draw_byte_fst(fst), draw_fst(fst, lambda symbol: chr(byte_of_symbol(symbol)))):
        assert 'label="1/2.5"' in drawn.dot
        assert 'label="a"' in drawn.dot
    assert "2/0.5: a state and what it costs to end there" in draw_byte_fst(fst).dot
    assert "a/0.5: at a cost" in draw_byte_fst(pushed).dot
    for drawn in (draw_byte_fst(pushed), draw_fst(pushed, lambda symbol: chr(byte_of_symbol(symbol)))):
        assert 'label="a/2.5"' in drawn.dot
    shown = transducer_of(pynini.cross("a", "b") + pynini.accep("", weight=2.5))._repr_html_()
    assert "a:b" in shown
    assert "ε/2.5" in shown


def test_labels_that_are_no_bytes_are_not_drawn_as_bytes() -> None:
    (label,) = pynini.accep("[not-a-byte]").paths().ilabels()
    assert f'label="<{label}>"' in draw_byte_fst(pynini.accep("[not-a-byte]")).dot


def test_legends_show_backslashes_as_they_are() -> None:
    drawn = draw_array({"contains": {"enum": ["a\\n", "b\nc"]}})
    texts = [text.text or "" for text in ElementTree.fromstring(drawn.svg()).iter(f"{SVG}text")]
    assert any(r'''"a\\n"''' in text and r'''"b\nc"''' in text for text in texts)
