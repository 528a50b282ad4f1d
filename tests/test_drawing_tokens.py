"""Pictures over tokens and of detokenizers: what their arcs and legends say."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest
from drawing_cases import FIGURE_4, SVG, doubled, legend, parts
from kinds import complete

import tokenfst
from automata import (
    Grammar,
    Label,
    LimitExceeded,
    alternation,
    call,
    compile_expr,
    compile_grammar,
    concat,
    parse,
)
from automata.drawing import Drawing, byte_label, character_label
from automata.openfst import EPSILON, byte_of_symbol, symbol_of_byte, to_arcs
from tokenfst import TokenAutomaton, Vocabulary
from tokenfst.drawing import (
    MAX_MOVES,
    draw_detokenizer,
    token_label,
)
from tokenfst.reference import compose_by_definition
from tokenfst.vocabulary.detokenizer import detokenizer

pytest.importorskip("pygraphviz")


def shows_end(drawing: Drawing) -> bool:
    """Whether the end of the text is in the picture, or in what its legend explains."""
    bare = "\n".join(line for line in drawing.dot.splitlines() if not line.startswith("  legend "))
    return "end" in bare or any(line.startswith("end:") for line in legend(drawing))


# The paper's figures


def test_figure_9_detokenizers() -> None:
    plain, compact = (detokenizer(FIGURE_4, compact=compact) for compact in (False, True))
    counts: list[tuple[int, ...]] = []
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
        [
            *('"f":"f"', '"o":"o"', '"d":"d"', 'ε:"f"', 'ε:"o"', 'ε:"o"', 'ε:"o"'),
            *('"oo":"o"', '"fo":"o"', '"foo":"o"', '"food":"d"'),
        ]
    )
    _, arcs = parts(draw_detokenizer(FIGURE_4, compact=False))
    assert [line for lines in arcs for line in lines].count('ε:"f"') == 3


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
    assert lines == {'"f"': 2, '"fo"': 2, '"foo"': 2, '"food"': 2, '"o"': 2, '"oo"': 1, '"d"': 1}


FIGURE_7 = Vocabulary([b"a", b"b", b"aa", b"ab", b"aab", b"abb", b"bb", b""], [7])


def test_figure_7_over_tokens() -> None:
    a_n_b_n = Grammar({"s": concat("a", call("s").optional(), "b")}, "s")
    automaton = compile_grammar(a_n_b_n)
    names, arcs = parts(tokenfst.compile(automaton, FIGURE_7).draw())
    assert names == ["0", "1", "2", "end"]
    # A token that goes up and down again moves the stack by the difference: ab in the middle of a text pushes, abb
    # does not.
    assert sorted(arcs) == sorted(
        [
            ['"a" (0', '"aa" (0 (1'],
            ['"a" (1', '"aa" (1 (1'],
            ['"ab" (0', '"aab" (0 (1'],
            ['"b" "abb"', '"ab" (1', '"bb" 1)', '"aab" (1 (1'],
            ['"b" 1)', '"bb" 1) 1)'],
            ["end 0)"],
        ]
    )
    # Without shorter tokens no text stops after an a.
    names, arcs = parts(tokenfst.compile(automaton, Vocabulary([b"aab", b"b", b"bb"])).draw())
    assert names == ["0", "2", "end"]
    assert sorted(arcs) == [['"aab" (0 (1'], ['"b" 1)', '"bb" 1) 1)'], ["end 0)"]]


def test_the_lines_say_what_tokens_do() -> None:
    """An automaton that is read off the picture accepts the same sequences of tokens."""
    pairs = Grammar(
        {"s": alternation("a", "b", concat("(", call("s"), ",", call("s"), ")"), concat("[", call("s"), "]"))}, "s"
    )
    names = ["a", "b", "(", ",", ")", "[", "]", "a,", "),", "))", "([", "])", "a,b)", "((a,a),", "]]", "end"]
    vocabulary = Vocabulary([*(name.encode() for name in names[:-1]), b""], [len(names) - 1])
    automaton = complete(pairs, vocabulary)
    steps = read_off(automaton.draw())
    frontier: list[tuple[Any, tuple[int, tuple[int, ...]]]] = [(automaton.start, (automaton.tables.start, ()))]
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


def read_off(drawing: Drawing) -> dict[int, list[tuple[str, tuple[int, ...], tuple[int, ...], int]]]:
    """By state: token or end, pops from the top down, pushes, and target, as the lines of the picture have them."""
    steps: dict[int, list[tuple[str, tuple[int, ...], tuple[int, ...], int]]] = {}
    for line in drawing.dot.splitlines():
        if "->" not in line:
            continue
        arc, label = line.removesuffix('"];').split(' [label="')
        source, target = arc.split("->")
        for move in label.replace('\\"', '"').split("\\n"):
            words = move.split(" ")
            read = [word for word in words if word.startswith('"') or word == "end"]
            pops = tuple(int(word[:-1]) for word in words if word not in read and word.endswith(")"))
            pushes = tuple(int(word[1:]) for word in words if word not in read and word.startswith("("))
            steps.setdefault(int(source), []).extend((word.strip('"'), pops, pushes, int(target)) for word in read)
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


@pytest.mark.parametrize(
    "text", ['"', "\\", "\\n", "\\N", "&lt;", "<b>", "&", "é", "€", "{}|", "]", "\\\\", '\\"', "%", "a b"]
)
def test_labels_show_what_they_say(text: str) -> None:
    vocabulary = Vocabulary([text.encode(), b"x"])
    automaton = tokenfst.compile(parse(r"x*") + text, vocabulary)
    _, arcs = parts(automaton.draw(title=f"of {text}"))
    written = re.sub(r'(["\\])', r"\\\1", text).replace(" ", "␣")
    assert sorted(arcs) == sorted([['"x"'], [f'"{written}"']])
    titles = [t.text for t in ElementTree.fromstring(automaton.draw(title=f"of {text}").svg()).iter(f"{SVG}text")]
    assert f"of {text}" in titles


def test_different_tokens_have_different_labels() -> None:
    tokens = [*(bytes([byte]) for byte in range(256)), *(chr(code).encode() for code in range(0x80, 0x300))]
    tokens += [rb"\n", rb"\\n", rb"\xff", b'\\"', "␣".encode(), "\u2028".encode(), rb"\u2028", rb"\u2423", b'""']
    assert len(set(map(token_label, tokens))) == len(tokens)


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
    assert [token_label(token) for token in ("né\n".encode(), b"\xc3", b"a\xff")] == [
        r'"né\n"',
        r'"\xc3"',
        r'"a\xff"',
    ]


# Token automata


def test_many_tokens_are_abbreviated() -> None:
    vocabulary = Vocabulary([*(bytes([byte]) for byte in range(256)), b""], [256])
    names, arcs = parts(tokenfst.compile("[a-z]x", vocabulary).draw())
    assert [*(f'"{letter}"' for letter in "abcdef"), "… (26 tokens)"] in arcs
    assert ["end"] in arcs
    assert "end" in names


def test_the_end_is_drawn_where_it_can_be_reached() -> None:
    without = tokenfst.compile("ab", Vocabulary([b"a", b"b"])).draw()
    assert not shows_end(without)
    assert len(parts(without)[0]) == 3


def test_pictures_over_tokens_have_a_legend() -> None:
    start, token, end = (
        "bold: start; doubled: the text may end",
        '"ab": the token with this text',
        "end: the end of the",
    )
    assert legend(tokenfst.compile("(foo)+d", FIGURE_4).draw()) == [start, token]
    with_end = legend(tokenfst.compile("ab", FIGURE_7).draw())
    assert with_end[:2] == [start, token]
    assert [line.startswith(end) for line in with_end] == [False, False, True]
    stacked = legend(lists(b"x", b"(", b")").draw())
    assert stacked[:3] == [f"{start} without pops", "(x: pushes x; x): pops x", token]
    assert [line.startswith(end) for line in stacked] == [False, False, False, True]
    assert legend(draw_detokenizer(FIGURE_4)) == [
        "bold: start; doubled: between two tokens",
        '"ab":"b": reads the token ab, writes the byte b; ε: nothing',
    ]


def test_tokens_are_told_from_all_else_by_their_quotes() -> None:
    tokens = [b"end", b"0)", b"(0", b"<x>", b"\xc2\xa0", b"a b", b'"', b""]
    vocabulary = Vocabulary([*tokens, b""], [len(tokens)], special_tokens={"x": len(tokens) - 1})
    expr = parse(r'(end|0\)|\(0|<x>|\u00a0|a b|")') + Label("x")
    (text, special, end) = parts(tokenfst.compile(expr, vocabulary).draw())[1]
    assert text == [f'"{name}"' for name in ("end", "0)", "(0", "<x>", r"\u00a0", "a␣b")] + ["… (7 tokens)"]
    assert (special, end) == (["<x>"], ["end"])


def test_special_tokens_have_their_names_or_ids() -> None:
    vocabulary = Vocabulary([b"a", b"", b"", b""], [3], special_tokens={"one two": 1})
    automaton = tokenfst.compile(parse("a") + Label("s"), vocabulary, terminals={"s": [1, 2]})
    assert ["<one␣two>", "<2>"] in parts(automaton.draw())[1]
    assert "<x>: a special token, its name or its id" in legend(automaton.draw())
    assert "special" not in tokenfst.compile("a", vocabulary).draw().dot


def test_too_many_states_are_refused() -> None:
    vocabulary = Vocabulary([b"a", b"b" * 600])
    with pytest.raises(LimitExceeded, match="500"):
        tokenfst.compile("a{600}", vocabulary).draw()
    with pytest.raises(LimitExceeded, match="500"):
        draw_detokenizer(vocabulary)


def lists(*tokens: bytes, end: bool = True) -> TokenAutomaton:
    """Lists in lists over some tokens."""
    s = call("s")
    rules = {"s": alternation("x", concat("(", s, concat(",", s).star(), ")"))}
    vocabulary = Vocabulary([*tokens, b""], [len(tokens)]) if end else Vocabulary(list(tokens))
    return tokenfst.compile(Grammar(rules, "s"), vocabulary)


def test_many_moves_are_abbreviated() -> None:
    automaton = lists(b"x", b"(", b",", *(b")" * n for n in range(1, 20)))
    _, arcs = parts(automaton.draw())
    (closing,) = [arc for arc in arcs if any(line.startswith('")))') for line in arc)]
    assert len(closing) == MAX_MOVES + 1
    assert closing[:2] == ['")" 1)', '"))" 1) 1)']
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
    assert not shows_end(tokenfst.compile(regular, Vocabulary([b"a"])).draw())
    assert shows_end(without)


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
    steps = read_off(automaton.draw())
    # The middle may be here, and then it pops at once, or it is not.
    assert any(len([move for move in moves if move[0] == "a"]) > 1 for moves in steps.values())
