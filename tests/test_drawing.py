"""Pictures are valid SVG, show every label as it is, and the paper's figures come out as the paper draws them."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from kinds import complete

import tokenfst
from automata import (
    Grammar,
    Label,
    LimitExceeded,
    alternation,
    call,
    char_set,
    compile_expr,
    compile_grammar,
    concat,
    parse,
)
from automata.drawing import Drawing, byte_label, character_label, draw_fst
from automata.openfst import EPSILON, byte_of_symbol, symbol_of_byte, to_arcs
from tokenfst import Vocabulary
from tokenfst.drawing import (
    MAX_MOVES,
    draw_detokenizer,
    token_label,
)
from tokenfst.pushdown.automaton import PushdownTokenAutomaton
from tokenfst.reference import compose_by_definition
from tokenfst.vocabulary.detokenizer import detokenizer

pytest.importorskip("pygraphviz")

# What the paper's text says of its Figure 4: foo and f|oo are tokenizations, food is a token, and three tokens of
# more than one character begin with f.
FIGURE_4 = Vocabulary([b"f", b"o", b"d", b"oo", b"fo", b"foo", b"food"])
SVG = "{http://www.w3.org/2000/svg}"


def parts(drawing: Drawing) -> tuple[list[str], list[list[str]]]:
    """The names of the states, and the lines of every arc's label, as the SVG shows them."""
    groups = list(ElementTree.fromstring(drawing.svg()).iter(f"{SVG}g"))
    texts = {kind: [[t.text or "" for t in g.iter(f"{SVG}text")] for g in groups if g.get("class") == kind]
             for kind in ("node", "edge")}  # fmt: skip
    return [name for names in texts["node"] for name in names], texts["edge"]


def doubled(drawing: Drawing) -> int:
    groups = ElementTree.fromstring(drawing.svg()).iter(f"{SVG}g")
    return sum(len(list(g.iter(f"{SVG}ellipse"))) == 2 for g in groups if g.get("class") == "node")


# The paper's figures


def test_figure_1_odd_numbers_of_as() -> None:
    drawing = compile_expr(parse("a(aa)*")).draw()
    names, arcs = parts(drawing)
    assert len(names) == 2
    assert arcs == [["a"], ["a"]]
    assert doubled(drawing) == 1
    assert drawing.dot.count("style=bold") == 1


def test_figure_2_determinized() -> None:
    names, arcs = parts(compile_expr(parse("a+|ab")).draw())
    assert len(names) == 4
    assert Counter(map(tuple, arcs)) == {("a",): 3, ("b",): 1}


def test_figure_9_detokenizers() -> None:
    plain, compact = (detokenizer(FIGURE_4, compact=compact) for compact in (False, True))
    counts = []
    for fst in (plain, compact):
        _, final, (source, read, written, target) = to_arcs(fst)
        assert final.tolist() == [True] + [False] * (len(final) - 1)
        # Every token is read once, on the way back to the root.
        assert sorted(read[read != EPSILON].tolist()) == list(range(7))
        assert (target[read != EPSILON] == 0).all()
        assert (target[read == EPSILON] != 0).all()
        counts.append((len(final), len(read)))
        from_root = [byte for s, r, byte in zip(source, read, written, strict=True) if s == 0 and r == EPSILON]
        counts[-1] += (from_root.count(symbol_of_byte(ord("f"))),)
    # Three arcs ε:f on the left of the figure, one on the right.
    assert counts == [(8, 14, 3), (5, 11, 1)]


def test_figure_4_as_drawn() -> None:
    names, arcs = parts(draw_detokenizer(FIGURE_4))
    assert len(names) == 5
    assert sorted(line for lines in arcs for line in lines) == sorted(
        ["f:f", "o:o", "d:d", "ε:f", "ε:o", "ε:o", "ε:o", "oo:o", "fo:o", "foo:o", "food:d"]
    )
    _, arcs = parts(draw_detokenizer(FIGURE_4, compact=False))
    assert [line for lines in arcs for line in lines].count("ε:f") == 3


def test_figure_5_the_constraint_over_bytes_and_over_tokens() -> None:
    automaton = compile_expr(parse("(foo)+d"))
    names, arcs = parts(automaton.draw())
    assert len(names) == 5
    assert sorted(arcs) == [["d"], ["f"], ["f"], ["o"], ["o"]]
    _, final, arcs_by_definition = to_arcs(compose_by_definition(automaton, FIGURE_4))
    assert (len(final), arcs_by_definition.shape[1]) == (5, 12)
    names, arcs = parts(tokenfst.compile("(foo)+d", FIGURE_4).draw())
    assert len(names) == 5
    lines = Counter(line for arc in arcs for line in arc)
    assert lines == {"f": 2, "fo": 2, "foo": 2, "food": 2, "o": 2, "oo": 1, "d": 1}


FIGURE_7 = Vocabulary([b"a", b"b", b"aa", b"ab", b"aab", b"abb", b"bb", b""], [7])


def test_figure_6_ranges_of_bytes_are_one_label() -> None:
    # Two classes of bytes, and both of them together in one place.
    s = call("s")
    rules = {"s": alternation(concat(char_set("ace"), s, "!"), concat(char_set("bd"), s, "?"), "0")}
    drawing = compile_grammar(Grammar({**rules, "t": concat(char_set("abcde"), s)}, "t")).draw()
    read = {line.split(" (")[0] for arc in parts(drawing)[1] for line in arc}
    assert {'"a"-"e"', '"a" "c" "e"', '"b" "d"'} <= read


def test_a_grammar_shows_the_names_of_its_rules_and_a_legend() -> None:
    rules = {
        "value": alternation("x", concat("(", call("list"), ")")),
        "list": alternation(concat(call("value"), ",", call("list"), ";"), '"'),
    }
    drawing = compile_grammar(Grammar(rules, "value")).draw(title="lists")
    names, arcs = parts(drawing)
    lines = [line for arc in arcs for line in arc]
    assert any(line.startswith(('"(" (list.', '"(" (value.')) for line in lines)
    assert {line.split(".")[0] for line in lines if line.startswith('"("')} <= {'"(" (list', '"(" (value', '"("'}
    assert '"""' in {line.split(" ")[0] for line in lines}  # a quote, in quotes
    assert {"value", "list"} & set(names)
    legend = " ".join(name for name in names if not name.isdecimal())
    for said in ("bold: start", '"a": a byte that is read', "(x: pushes x", "x): pops x", "rule.n: the text"):
        assert said in legend
    assert "<" not in legend


def test_a_legend_explains_labels_where_there_are_some() -> None:
    s = call("s")
    drawing = compile_grammar(Grammar({"s": alternation(concat("a", s, Label("image")), "b")}, "s")).draw()
    names, arcs = parts(drawing)
    assert any("<image>" in line for arc in arcs for line in arc)
    assert any("<name>: a token of this set" in name for name in names)
    # What is drawn as the end of the text is explained where it is drawn.
    recursive = compile_grammar(
        Grammar({"s": alternation("x", concat("(", s, concat(",", s).star(), ")"))}, "s")
    ).draw()
    assert "⊣ s." in recursive.dot
    assert "⊣: the end of the text" in recursive.dot
    assert "⊣" not in compile_grammar(Grammar({"s": parse("a+")}, "s")).draw().dot


def test_expressions_and_byte_automata_have_draw() -> None:
    expr = parse("a(aa)*") + Label("image")
    assert expr.draw(title="odd").dot == compile_expr(expr).draw(title="odd").dot
    assert ["<image>"] in parts(expr.draw())[1]
    assert "legend" not in expr.draw().dot


def test_figure_7_over_tokens() -> None:
    a_n_b_n = Grammar({"s": concat("a", call("s").optional(), "b")}, "s")
    automaton = compile_grammar(a_n_b_n)
    names, arcs = parts(tokenfst.compile(automaton, FIGURE_7).draw())
    assert names == ["0", "1", "2", "end"]
    # A token that goes up and down again moves the stack by the difference: ab in the middle of a text pushes, abb
    # does not.
    assert sorted(arcs) == sorted(
        [
            ["a (0", "aa (0 (1"],
            ["a (1", "aa (1 (1"],
            ["ab (0", "aab (0 (1"],
            ["b abb", "ab (1", "bb 1)", "aab (1 (1"],
            ["b 1)", "bb 1) 1)"],
            ["end 0)"],
        ]
    )
    # Without shorter tokens no text stops after an a.
    names, arcs = parts(tokenfst.compile(automaton, Vocabulary([b"aab", b"b", b"bb"])).draw())
    assert names == ["0", "2", "end"]
    assert sorted(arcs) == [["aab (0 (1"], ["b 1)", "bb 1) 1)"], ["end 0)"]]


def test_the_lines_say_what_tokens_do() -> None:
    """An automaton that is read off the picture accepts the same sequences of tokens."""
    pairs = Grammar(
        {"s": alternation("a", "b", concat("(", call("s"), ",", call("s"), ")"), concat("[", call("s"), "]"))}, "s"
    )
    names = ["a", "b", "(", ",", ")", "[", "]", "a,", "),", "))", "([", "])", "a,b)", "((a,a),", "]]", "end"]
    vocabulary = Vocabulary([*(name.encode() for name in names[:-1]), b""], [len(names) - 1])
    automaton = complete(pairs, vocabulary)
    steps = read_off(automaton.draw(), set(names))
    frontier = [(automaton.start, (automaton.tables.start, ()))]
    for _ in range(6):
        following = []
        for state, (drawn, stack) in frontier:
            moves = {
                name: (target, (*pushes[::-1], *stack[len(pops) :]))
                for name, pops, pushes, target in steps.get(drawn, [])
                if stack[: len(pops)] == pops
            }
            allowed = [token for token in range(len(vocabulary)) if automaton.mask(state)[token]]
            assert {names[token] for token in allowed} == set(moves)
            following += [
                (automaton.advance(state, token), moves[names[token]])
                for token in allowed
                if token not in vocabulary.eos_ids
            ]
        frontier = following[:400]


def read_off(drawing: Drawing, names: set[str]) -> dict[int, list[tuple[str, tuple[int, ...], tuple[int, ...], int]]]:
    """By state: token, pops from the top down, pushes, and target, as the lines of the picture have them."""
    steps: dict[int, list[tuple[str, tuple[int, ...], tuple[int, ...], int]]] = {}
    for line in drawing.dot.splitlines():
        if "->" in line:
            source, target = line.split(" [")[0].split("->")
            for move in line.split('"')[1].split("\\n"):
                words = move.split(" ")
                pops = tuple(int(word[:-1]) for word in words if word not in names and word.endswith(")"))
                pushes = tuple(int(word[1:]) for word in words if word not in names and word.startswith("("))
                steps.setdefault(int(source), []).extend(
                    (word, pops, pushes, int(target)) for word in words if word in names
                )
    return steps


def test_every_detokenizer_writes_what_the_tokens_spell() -> None:
    vocabulary = Vocabulary([b"ab", b"", b"a", b"ab", b"\xc3\xa9", b"abc"], [1])
    for compact in (True, False):
        _, _, arcs = to_arcs(detokenizer(vocabulary, compact=compact))
        spelled: dict[int, bytes] = {}
        waiting = [(0, b"")]
        while waiting:
            state, text = waiting.pop()
            for source, read, written, target in arcs.T.tolist():
                if source == state and read == EPSILON:
                    waiting.append((target, text + bytes([byte_of_symbol(written)])))
                elif source == state:
                    assert read not in spelled
                    spelled[read] = text + bytes([byte_of_symbol(written)])
        assert spelled == {i: token for i, token in enumerate(vocabulary.tokens) if token}


# Labels


def test_ranges_of_bytes_are_one_label() -> None:
    _, arcs = parts(compile_expr(parse(r'[a-z0-9_"\\\n \x00]')).draw())
    assert arcs == [[r'\x00 \n ␣ " 0-9 \ _ a-z']]
    _, arcs = parts(compile_expr(parse("é")).draw())
    assert sorted(arcs) == [[r"\xa9"], [r"\xc3"]]


@pytest.mark.parametrize(
    "text", ['"', "\\", "\\n", "\\N", "&lt;", "<b>", "&", "é", "€", "{}|", "]", "\\\\", '\\"', "%", "a b"]
)
def test_labels_show_what_they_say(text: str) -> None:
    vocabulary = Vocabulary([text.encode(), b"x"])
    automaton = tokenfst.compile(parse(r"x*") + text, vocabulary)
    _, arcs = parts(automaton.draw(title=f"of {text}"))
    assert sorted(arcs) == sorted([["x"], [text.replace(" ", "␣")]])
    titles = [t.text for t in ElementTree.fromstring(automaton.draw(title=f"of {text}").svg()).iter(f"{SVG}text")]
    assert f"of {text}" in titles


def test_single_labels() -> None:
    assert [byte_label(byte) for byte in b"a \n\x00\x7f\x80\xff"] == [
        "a",
        "␣",
        r"\n",
        r"\x00",
        r"\x7f",
        r"\x80",
        r"\xff",
    ]
    assert [character_label(char) for char in "é\u2028\U000e0001\t"] == ["é", r"\u2028", r"\U000e0001", r"\t"]
    assert [token_label(token) for token in ("né\n".encode(), b"\xc3", b"a\xff")] == [r"né\n", r"\xc3", r"a\xff"]


def test_acceptors_have_no_outputs() -> None:
    fst = compose_by_definition(compile_expr(parse("(foo)+d")), FIGURE_4)
    _, arcs = parts(draw_fst(fst, lambda token: FIGURE_4.tokens[token].decode()))
    assert {line for arc in arcs for line in arc} == {"f", "fo", "foo", "food", "o", "oo", "d"}


def test_epsilon_is_written_in_acceptors() -> None:
    import numpy as np

    from automata.openfst import to_transducer

    column = [np.array([value], np.int32) for value in (0, EPSILON, EPSILON, 1)]
    fst = to_transducer(0, np.array([False, True]), *column)
    assert parts(draw_fst(fst, chr))[1] == [["ε"]]
    assert parts(draw_fst(fst, chr, chr))[1] == [["ε:ε"]]


# Token automata


def test_many_tokens_are_abbreviated() -> None:
    vocabulary = Vocabulary([*(bytes([byte]) for byte in range(256)), b""], [256])
    names, arcs = parts(tokenfst.compile("[a-z]x", vocabulary).draw())
    assert ["a", "b", "c", "d", "e", "f", "… (26 tokens)"] in arcs
    assert ["end"] in arcs
    assert "end" in names


def test_the_end_is_drawn_where_it_can_be_reached() -> None:
    without = tokenfst.compile("ab", Vocabulary([b"a", b"b"])).draw()
    assert "end" not in without.dot
    assert len(parts(without)[0]) == 3


def test_too_many_states_are_refused() -> None:
    vocabulary = Vocabulary([b"a", b"b" * 600])
    with pytest.raises(LimitExceeded, match="500"):
        tokenfst.compile("a{600}", vocabulary).draw()
    with pytest.raises(LimitExceeded, match="500"):
        draw_detokenizer(vocabulary)


def lists(*tokens: bytes, end: bool = True) -> PushdownTokenAutomaton:
    """Lists in lists over some tokens."""
    s = call("s")
    rules = {"s": alternation("x", concat("(", s, concat(",", s).star(), ")"))}
    vocabulary = Vocabulary([*tokens, b""], [len(tokens)]) if end else Vocabulary(list(tokens))
    return tokenfst.compile(Grammar(rules, "s"), vocabulary)


def test_many_moves_are_abbreviated() -> None:
    automaton = lists(b"x", b"(", b",", *(b")" * n for n in range(1, 20)))
    _, arcs = parts(automaton.draw())
    (closing,) = [arc for arc in arcs if any(line.startswith(")))") for line in arc)]
    assert len(closing) == MAX_MOVES + 1
    assert closing[:2] == [") 1)", ")) 1) 1)"]
    assert closing[-1] == "… (19 moves)"
    many = lists(b"x", b"(", b",", b")", *(b"x)" for _ in range(20)))
    lines = [line for arc in parts(many.draw())[1] for line in arc]
    assert any("… (20 tokens)" in line for line in lines)


def test_the_end_of_a_text_that_pops_is_drawn_without_end_tokens() -> None:
    with_end, without = (lists(*(b"x(),"[i : i + 1] for i in range(4)), end=end).draw()
                         for end in (True, False))  # fmt: skip
    assert [line for arc in parts(with_end)[1] for line in arc if "end" in line] == ["end 0)"]
    assert [line for arc in parts(without)[1] for line in arc if "end" in line] == ["end 0)"]
    regular = Grammar({"s": parse("a+")}, "s")
    assert doubled(tokenfst.compile(regular, Vocabulary([b"a"])).draw()) == 1
    assert "end" not in tokenfst.compile(regular, Vocabulary([b"a"])).draw().dot


def test_trees_that_are_too_large_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    automaton = lists(b"x", b"(", b",", *(b")" * n for n in range(1, 20)))
    monkeypatch.setattr("tokenfst.drawing.MAX_TREE_NODES", 20)
    with pytest.raises(LimitExceeded, match="20 nodes"):
        automaton.draw()
    long = tokenfst.compile(Grammar({"s": concat("a" * 600, call("s").optional(), "b")}, "s"), Vocabulary([b"a", b"b"]))
    with pytest.raises(LimitExceeded, match="500"):
        long.draw()


def test_one_token_may_lead_to_several_moves() -> None:
    palindromes = Grammar({"s": alternation(concat("a", call("s"), "a"), "a")}, "s")
    automaton = tokenfst.compile(replace(palindromes, ambiguity="parallel"), Vocabulary([b"a", b""], [1]))
    steps = read_off(automaton.draw(), {"a", "end"})
    # The middle may be here, and then it pops at once, or it is not.
    assert any(len([move for move in moves if move[0] == "a"]) > 1 for moves in steps.values())


# Files, notebooks, and no pygraphviz


@pytest.fixture
def drawing() -> Drawing:
    return compile_expr(parse("[<>]")).draw(title="a & b")


def test_a_drawing_is_saved(drawing: Drawing, tmp_path: Path) -> None:
    assert drawing.save(tmp_path / "a.svg") == tmp_path / "a.svg"
    assert "<svg" in (tmp_path / "a.svg").read_text("utf-8")
    assert drawing.save(str(tmp_path / "a.dot")) == tmp_path / "a.dot"
    assert (tmp_path / "a.dot").read_text("utf-8") == drawing.dot
    assert "<svg" in (drawing._repr_svg_() or "")
    assert drawing._repr_html_() is None


def test_without_pygraphviz_a_drawing_is_its_text(
    drawing: Drawing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pygraphviz", None)
    with pytest.raises(ImportError, match=r"tokenfst\[draw\]"):
        drawing.svg()
    assert drawing.save(tmp_path / "a.svg") == tmp_path / "a.dot"
    assert (tmp_path / "a.dot").read_text("utf-8") == drawing.dot
    assert not (tmp_path / "a.svg").exists()
    assert drawing._repr_svg_() is None
    shown = drawing._repr_html_() or ""
    assert ElementTree.fromstring(shown).text == drawing.dot


def test_an_empty_automaton_is_an_empty_picture() -> None:
    from automata import EMPTY

    assert parts(compile_expr(EMPTY).draw()) == ([], [])
