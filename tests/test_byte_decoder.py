"""Detokenizers that are transducers: constraints are on what a reader sees."""

from __future__ import annotations

import itertools
import math
import pickle
import re
from collections.abc import Callable
from typing import Any

import pynini
import pytest
from pynini.lib import byte

import tokenfst
from automata import AutomatonFileError, FstError, UnsupportedTokenizer, VocabularyError, compile_expr, parse
from automata import expressions as ex
from constraints import grammar, json_schema
from decoding import bundled_model, generate, stream, vocabulary_of
from decoding.inputs.healing import Healed
from tokenfst import TextStart, Vocabulary
from tokenfst.reference import Reference

ANY = pynini.closure(byte.BYTE).optimize()
TOKENS = [b"a", b"B", b" ", b".", b"ab", b" B", b" .", b"Ab", b"#", b"##a", b"", b""]
END, SPECIAL = 11, 10
LIMIT = 4


def lower_case() -> Any:
    letters = pynini.union(*[pynini.cross(chr(code), chr(code + 32)) for code in range(65, 91)])
    return pynini.union(letters, pynini.difference(byte.BYTE, byte.UPPER)).closure().optimize()


def clean_up() -> Any:
    """Written by a user: no blank before a full stop, and letters in lower case."""
    without_blanks = pynini.cdrewrite(pynini.cross(" ", ""), "", ".", ANY)
    return pynini.compose(without_blanks, lower_case()).optimize()


def first_space() -> Any:
    """The start of a text as in SentencePiece: a first space is dropped."""
    rest = pynini.difference(ANY, pynini.accep(" ") + ANY)
    return pynini.union(pynini.cross(" ", "") + ANY, rest).optimize()


def word_pieces() -> Any:
    """A piece that begins with ## continues the word before it, and any other begins a word, as in WordPiece."""
    return pynini.cdrewrite(pynini.cross("##", ""), "", "", ANY).optimize()


DECODERS: dict[str, tuple[Callable[[], Any], Callable[[bytes], bytes]]] = {
    "lower case": (lower_case, bytes.lower),
    "clean up": (clean_up, lambda written: written.replace(b" .", b".").lower()),
    "first space": (first_space, lambda written: written[1:] if written.startswith(b" ") else written),
    "word pieces": (word_pieces, lambda written: written.replace(b"##", b"")),
}
PATTERNS = ["a*b?", "(ab|b )*", "[ab ]+\\.", "[^A-Z]*", "ab\\.a"]


@pytest.mark.parametrize("name", DECODERS)
def test_a_vocabulary_with_a_detokenizer_can_be_pickled(name: str) -> None:
    vocabulary = Vocabulary(TOKENS, END, special_tokens={"<s>": SPECIAL}, detokenizer=DECODERS[name][0]())
    read = pickle.loads(pickle.dumps(vocabulary))
    assert read.digest == vocabulary.digest
    assert read.text([5, 6, 1]) == vocabulary.text([5, 6, 1])


def sequences() -> list[tuple[int, ...]]:
    plain = [token for token, text in enumerate(TOKENS) if text]
    return [tokens for length in range(LIMIT) for tokens in itertools.product(plain, repeat=length)]


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("name", sorted(DECODERS))
def test_what_is_accepted_is_what_a_reader_sees(name: str, pattern: str) -> None:
    fst, decode = DECODERS[name]
    vocabulary = Vocabulary(TOKENS, END, detokenizer=fst())
    automaton = tokenfst.compile(pattern, vocabulary)
    by_definition = Reference(compile_expr(parse(pattern)), vocabulary)
    allowed = 0
    for tokens in sequences():
        seen = decode(b"".join(TOKENS[token] for token in tokens))
        matches = re.fullmatch(pattern.encode(), seen) is not None
        assert automaton.accepts(tokens) == matches, tokens
        assert automaton.complete().accepts(tokens) == by_definition.accepts(tokens) == matches
        if matches:
            assert automaton.text(tokens) == seen
            allowed += 1
    assert allowed


def test_texts_are_accepted_if_tokens_write_them() -> None:
    vocabulary = Vocabulary(TOKENS, END, detokenizer=clean_up())
    automaton = tokenfst.compile("[ab ]+\\.", vocabulary)
    assert automaton.accepts("ab b.")
    assert automaton.accepts(b"b.")
    assert not automaton.accepts("ab")
    assert not automaton.accepts("B.")  # nobody ever sees a capital


def test_the_start_of_a_text_as_a_transducer() -> None:
    ruled = tokenfst.compile("(a| b)*", Vocabulary(TOKENS, END, text_start=TextStart()), at_text_start=True)
    composed = tokenfst.compile("(a| b)*", Vocabulary(TOKENS, END, detokenizer=first_space()))
    for tokens in sequences():
        assert ruled.accepts(tokens) == composed.accepts(tokens)


def test_names_of_tokens_pass_through() -> None:
    vocabulary = Vocabulary(TOKENS, END, special_tokens={"<x>": SPECIAL}, detokenizer=clean_up())
    expr = ex.literal("ab") + ex.Label("<x>") + "b."
    for constraint in (expr, compile_expr(expr)):
        automaton = tokenfst.compile(constraint, vocabulary)
        assert automaton.accepts([7, SPECIAL, 1, 2, 3])
        assert automaton.text([7, SPECIAL, 1, 2, 3]) == b"abb."
        assert not automaton.accepts([7, 1, 3])


@pytest.mark.parametrize("at_text_start", [False, True])
@pytest.mark.parametrize("pattern", ["a(?P<TOKEN><x>)?b| a", "a(?P<TOKEN><x>)b", "(?P<TOKEN><x>) ?a", "( a|b)*"])
def test_a_text_is_accepted_alike_without_a_detokenizer_and_with_one_that_changes_nothing(
    pattern: str, at_text_start: bool
) -> None:
    def made(detokenizer: Any) -> list[tokenfst.TokenAutomaton]:
        rule, names = TextStart(exceptions={1: b""}, ignored=frozenset([3])), {"<x>": 4}
        tokens = [b"a", b"b", b" ", b" a", b"", b""]
        vocabulary = Vocabulary(tokens, 5, special_tokens=names, text_start=rule, detokenizer=detokenizer)
        automaton = tokenfst.compile(pattern, vocabulary, at_text_start=at_text_start)
        read = tokenfst.TokenAutomaton.from_fst(
            pynini.accep("[4][1]") | pynini.accep("[2][4]"),
            vocabulary,
            at_text_start=at_text_start,
        )
        return [automaton, read]

    for plain, decoded in zip(made(None), made(ANY), strict=True):
        for text in map("".join, itertools.chain(*(itertools.product("ab ", repeat=size) for size in range(4)))):
            assert plain.accepts(text) == decoded.accepts(text), text
            assert plain.weight(text) == decoded.weight(text), text


def test_weights_are_those_of_what_a_reader_sees() -> None:
    vocabulary = Vocabulary(TOKENS, END, detokenizer=lower_case())
    automaton = tokenfst.compile(parse("ab").weighted(2) | parse("a[ab]*").weighted(3), vocabulary)
    assert automaton.weight([7]) == automaton.weight([0, 1]) == automaton.weight("ab") == 2
    assert automaton.weight("aab") == 3
    assert automaton.weight("AB") == math.inf


def test_a_vocabulary_of_a_model_gets_a_detokenizer(tmp_path: object) -> None:
    model, tokenizer = bundled_model()
    plain = vocabulary_of(tokenizer)
    vocabulary = plain.with_detokenizer(clean_up())
    assert vocabulary.digest != plain.digest
    assert vocabulary.with_detokenizer(clean_up()).digest == vocabulary.digest
    constraint, prompt = "[a-z]+( [a-z]+){2}\\.", tokenizer("A person: ")["input_ids"]
    texts = generate(model, vocabulary, [prompt] * 4, constraint, max_new_tokens=24, seed=1)
    assert all(re.fullmatch(constraint, text) for text in texts)
    streamed = stream(model, vocabulary, prompt, constraint, max_new_tokens=24, seed=1)
    pieces = [piece.text for piece in streamed]
    assert re.fullmatch(constraint, "".join(pieces))
    assert len(pieces) > 1
    path = f"{tmp_path}/automaton.safetensors"
    tokenfst.compile(constraint, vocabulary).save(path)
    assert tokenfst.load_automaton(path, vocabulary).accepts("ab cd ef.")
    with pytest.raises(AutomatonFileError):
        tokenfst.load_automaton(path, plain)


def test_what_a_detokenizer_cannot_be_is_named() -> None:
    vocabulary = Vocabulary(TOKENS, END, detokenizer=lower_case())
    with pytest.raises(FstError, match="a grammar's is not"):
        tokenfst.compile(grammar('start: "a" start "b" | "a"'), vocabulary)
    with pytest.raises(FstError, match="is not regular"):
        tokenfst.compile(
            json_schema({"$defs": {"a": {"type": "array", "items": {"$ref": "#/$defs/a"}}}, "$ref": "#/$defs/a"}),
            vocabulary,
        )
    with pytest.raises(UnsupportedTokenizer, match="canonical tokenization is not known"):
        tokenfst.compile("a", vocabulary, tokenization="canonical")
    with pytest.raises(VocabularyError, match="has weights"):
        Vocabulary(TOKENS, END, detokenizer=pynini.accep("a", weight=1))
    with pytest.raises(VocabularyError, match=r"has labels \(NAME\)"):
        Vocabulary(TOKENS, END, detokenizer=pynini.accep("[NAME]"))
    with pytest.raises(TypeError):
        Vocabulary(TOKENS, END, detokenizer=3)
    ambiguous = Vocabulary(TOKENS, END, detokenizer=pynini.union(pynini.cross("a", "b"), "a").closure())
    with pytest.raises(VocabularyError, match=r"several texts for the same bytes, which end in b'a' or b'b'"):
        ambiguous.text([0])
    endless = Vocabulary(TOKENS, END, detokenizer=pynini.accep("a") + pynini.cross("", "b").closure())
    with pytest.raises(VocabularyError, match="more than 1,000 texts"):
        endless.text([0])
    with pytest.raises(ValueError, match="not healed for a vocabulary whose detokenizer"):
        Healed(tokenfst.compile("a", vocabulary), b"a")


def test_schemas_are_on_what_a_reader_sees() -> None:
    tokens = [bytes([code]) for code in range(32, 127)] + [b""]
    vocabulary = Vocabulary(tokens, len(tokens) - 1, detokenizer=lower_case())
    automaton = tokenfst.compile(json_schema({"enum": ["ab", "c"]}), vocabulary)
    assert automaton.accepts([tokens.index(bytes([code])) for code in b'"aB"'])
    assert automaton.text([tokens.index(bytes([code])) for code in b'"AB"']) == b'"ab"'


def test_incomplete_bytes_give_what_is_certain() -> None:
    vocabulary = Vocabulary(TOKENS, END, detokenizer=clean_up())
    assert vocabulary.text([0, 2]) in (b"a", b"a ")
    assert vocabulary.text([0, 2, 3]) == b"a."
    assert vocabulary.text([]) == b""
