"""Ignored words in Lark's syntax may stand before and after words, tokens and JSON values alike."""

from __future__ import annotations

import random

import pytest

import constraints
import tokenfst
from automata import EmptyLanguage, NondeterministicGrammar, compile_grammar
from constraints.grammars.lark_reader import read_lark

TOKEN, DIGIT, END = 2, 4, 5
VOCABULARY = tokenfst.Vocabulary([b"a", b"b", b"", b" ", b"7", b""], eos_ids=[END], special_tokens={"<|x|>": TOKEN})
# A word that occurs nowhere else, and what stands in its place.
OTHERS = {"<|x|>": TOKEN, "T": TOKEN, '%json {"const": 7}': DIGIT}
IGNORED = ['" "', '"b"', "/ +/", '"b"\n%ignore " "', '/a?/\n%ignore " "']


def accepted(text: str, longest: int = 6) -> set[tuple[int, ...]] | None:
    """Return the sequences of tokens that a grammar accepts, up to a length; None if it is not deterministic."""
    try:
        automaton = tokenfst.compile(read_lark(text), VOCABULARY, terminals={"T": [TOKEN]})
    except EmptyLanguage:
        return set()
    except NondeterministicGrammar:
        return None
    found = set()
    waiting: list[tuple[tuple[int, ...], object]] = [((), automaton.start)]
    while waiting:
        tokens, state = waiting.pop()
        if automaton.is_final(state):
            found.add(tokens)
        if len(tokens) < longest:
            allowed = [token for token in automaton.mask(state).nonzero()[0].tolist() if token != END]
            waiting += [((*tokens, token), automaton.advance(state, token)) for token in allowed]
    return found


def random_body(chosen: random.Random, depth: int = 0) -> str:
    """Return a body in which X is a word, or what is not a word."""
    kind = chosen.randrange(6 if depth < 3 else 2)
    if kind == 0:
        return "X"
    if kind == 1:
        return chosen.choice(['"a"', '"b"', '" "', "t{X}", "s"])
    parts = [random_body(chosen, depth + 1) for _ in range(2)]
    return f"({chosen.choice([' ', ' | ']).join(parts)}){chosen.choice(['', '', '', '?', '*', '~2'])}"


@pytest.mark.parametrize("seed", range(40))
def test_what_is_no_word_has_ignored_words_around_it_like_a_word(seed: int) -> None:
    chosen = random.Random(seed)
    ignored = chosen.choice(IGNORED)
    rules = f'start: {random_body(chosen)}\ns: X | "a" s X\nt{{y}}: y {random_body(chosen)}\n%ignore {ignored}'
    other, number = chosen.choice([*OTHERS.items()])
    expected = accepted(rules.replace("X", '"7"'))
    found = accepted(rules.replace("X", other) + ("\n%declare T" if other == "T" else ""))
    if expected is not None:
        expected = {tuple(number if token == DIGIT else token for token in tokens) for tokens in expected}
    # JSON is text outside words, which a few grammars with ambiguous blanks cannot tell apart.
    assert found == expected or (found is None and number == DIGIT)


def test_ignored_words_around_json_values() -> None:
    automaton = compile_grammar(
        read_lark('start: "set(" %json {} ("," %json {})* ")" %json {"type": "integer"}\n%ignore " "')
    )
    for text in ("set(1)2", " set( 1 , [[], {}]  ) 2  ", 'set( "a" ,{"a": [1, 2]} )2 '):
        assert automaton.accepts(text.encode()), text
    assert not automaton.accepts(b"set([1 ])2")


def test_without_ignored_words_there_are_none() -> None:
    assert accepted('start: <|x|> %json {"const": 7} <|x|>') == {(TOKEN, DIGIT, TOKEN)}


def test_ignored_words_around_tokens_in_a_composed_constraint() -> None:
    grammar = constraints.grammar('start: "7" <|x|> "7"\n%ignore " "')
    automaton = tokenfst.compile(constraints.sequence(grammar, "!|a"), VOCABULARY)
    for tokens in ([4, 2, 4, 0], [3, 4, 3, 3, 2, 3, 3, 4, 3, 0]):
        assert automaton.accepts(tokens)
    assert not automaton.accepts([4, 2, 3, 0])
