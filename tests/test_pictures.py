"""Pictures of token classes and of stacks say what masks and steps say."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest

import tokenfst
from automata import Grammar, Label, LimitExceeded, TokenNotAllowed, alternation, call, compile_grammar, concat
from constraints import grammar
from tokenfst import Vocabulary, pictures
from tokenfst.drawing import token_label
from tokenfst.pictures import draw_classes, draw_stacks

SVG = "{http://www.w3.org/2000/svg}"
TOY = Vocabulary([b"d", b"f", b"foo", b"food", b"o", b"foofoo", b"x", b""], eos_ids=7)
BRACKETS = Vocabulary([b"[", b"]", b",", b"[[", b"]]", b"],[", b"]]]", b""], eos_ids=7)
LISTS = 'root ::= "[" (root ("," root)*)? "]"'


def table(automaton: tokenfst.TokenAutomaton) -> dict[tuple[str, int], str]:
    """The words in the cells of a picture, by the name of the row and the state."""
    found = list(ElementTree.fromstring(draw_classes(automaton).svg()).iter(f"{SVG}text"))
    rows = {text.attrib["y"]: text.text or "" for text in found if text.attrib["text-anchor"] == "end"}
    heads = [text for text in found if text.attrib["text-anchor"] == "middle" and "class" not in text.attrib]
    states = {text.attrib["x"]: int(text.text or "") for text in heads}
    words = [text.attrib | {"word": text.text or ""} for text in found if text.get("class") == "on"]
    return {(rows[word["y"]], states[word["x"]]): word["word"] for word in words}


@pytest.mark.parametrize("pattern", ["(foo)+d", "f?(o|oo)d", "(d|o)*", "foo(food|x{2})"])
def test_cells_are_steps(pattern: str) -> None:
    automaton = tokenfst.compile(pattern, TOY).complete()
    shown = table(automaton)
    steps = {}
    for state in range(automaton.end_state):
        for token, text in enumerate(TOY.tokens):
            if automaton.mask(state)[token]:
                row = "end" if token == 7 else token_label(text)
                steps[row, state] = "end" if token == 7 else str(automaton.advance(state, token))
    # A row has the names of all tokens of its class.
    by_token = {(name, state): word for (row, state), word in shown.items() for name in row.split()}
    assert by_token == steps


def test_a_large_table_has_a_dot_for_each_step() -> None:
    pattern = "(foo|x){20}d"
    automaton: Any = tokenfst.compile(pattern, TOY).complete()
    image = ElementTree.fromstring(draw_classes(automaton).svg())
    dots = [rect.attrib for rect in image.iter(f"{SVG}rect") if rect.attrib["class"] == "c0"]
    area = sum(float(dot["width"]) * float(dot["height"]) for dot in dots) / 9
    classes = {
        (int(automaton.token_class[token]), state)
        for state in range(automaton.end_state)
        for token in range(len(TOY))
        if automaton.mask(state)[token]
    }
    assert area == len(classes)
    assert not list(image.iter(f"{SVG}text"))


def test_what_has_no_such_picture_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    finite, stacked = tokenfst.compile("(foo)+d", TOY), tokenfst.compile(grammar(LISTS), BRACKETS)
    with pytest.raises(ValueError, match="no table"):
        draw_classes(stacked)
    with pytest.raises(ValueError, match="no table"):
        draw_classes(tokenfst.compile("o{5000}", TOY))
    with pytest.raises(ValueError, match="has no stack"):
        draw_stacks(finite, [2, 0])
    with pytest.raises(TokenNotAllowed):
        draw_stacks(stacked, [1])
    monkeypatch.setattr(pictures, "MAX_CELLS", 3)
    with pytest.raises(LimitExceeded, match="refused"):
        draw_classes(finite)


def test_stacks_are_those_over_bytes() -> None:
    tokens, by_bytes = [3, 5, 0, 4, 1], compile_grammar(grammar(LISTS))
    automaton = tokenfst.compile(by_bytes, BRACKETS)
    text, expected = b"", []
    for token in tokens:
        text += BRACKETS.tokens[token]
        ((_, stack),) = by_bytes.configurations(text)
        expected.append(len(stack))
    assert expected == [2, 2, 3, 2, 1]
    image = ElementTree.fromstring(draw_stacks(automaton, tokens, names={0: "the text"}).svg())
    rects = [rect.attrib for rect in image.iter(f"{SVG}rect") if rect.attrib["class"] != "paper"]
    boxes = [one for one in rects if float(one["height"]) == 12 and float(one["width"]) != 12]
    lefts = sorted({float(one["x"]) for one in boxes})
    heights = [sum(float(one["x"]) == left for one in boxes) for left in lefts]
    assert heights == expected
    assert "the text" in [text.text for text in image.iter(f"{SVG}text")]


def test_tokens_that_write_nothing_have_their_names_below_stacks() -> None:
    vocabulary = Vocabulary([b"(", b")", b"\xff", b"", b""], eos_ids=4, special_tokens={"<|img|>": 3})
    nested = Grammar({"s": concat("(", alternation(call("s"), Label("<|img|>")), ")")}, "s")
    drawn = draw_stacks(tokenfst.compile(nested, vocabulary), [0, 0, 3, 1, 1, 4])
    texts = [text.text for text in ElementTree.fromstring(drawn.svg()).iter(f"{SVG}text")]
    assert texts[-6:] == ["(", "(", "<<|img|>>", ")", ")", "end"]
