"""What is passed to `compile` by mistake is an error that says what was meant."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pydantic
import pytest

import automata
import constraints
import tokenfst
from automata import ByteAutomaton, IncompleteOutput, VocabularyError, compile_expr, parse
from decoding import Arena, best_of_n, bundled_model, generate, heal, stream
from serving.matcher import Matcher
from tokenfst import Vocabulary
from tokenfst.pushdown.automaton import PushdownTokenAutomaton

BYTES = Vocabulary([bytes([byte]) for byte in range(256)] + [b"abc", b""], eos_ids=[257])


class Order(pydantic.BaseModel):
    number: int


@dataclasses.dataclass
class Trip:
    to: str


def book(to: str) -> None: ...


@pytest.mark.parametrize(
    ("constraint", "message"),
    [
        (Order, r"the class Order is not a constraint; for JSON of this type write constraints\.typed\(Order\)"),
        (Trip, r"constraints\.typed\(Trip\)"),
        (int, r"constraints\.typed\(int\)"),
        ({"type": "object"}, r"constraints\.json_schema\(\.\.\.\)"),
        (["a", "b"], r"constraints\.choice"),
        (b"a+", r"decode it"),
        (re.compile("a+"), r"automata\.parse\(pattern\)"),
        (Path("grammar.lark"), r"read the file"),
        (book, r"constraints\.tool_calls"),
        (None, r"None \(NoneType\) is not a constraint"),
        (7, r"7 \(int\) is not a constraint"),
        (tokenfst.compile("a", BYTES), r"it is compiled already"),
        (BYTES, r"the constraint comes first, and then the vocabulary"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_is_no_constraint_is_refused(constraint: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        tokenfst.compile(constraint, BYTES)


def test_texts_that_are_no_patterns_are_refused(tmp_path: Path) -> None:
    schema = json.dumps({"type": "object", "properties": {"a": {}}})
    with pytest.raises(ValueError, match=r"the text of a JSON Schema: write constraints\.json_schema"):
        tokenfst.compile(schema, BYTES)
    for grammar in ('root ::= "a" root | "b"\n', 'start: "a" NAME\nNAME: /x/\n'):
        with pytest.raises(ValueError, match=r"the text of a grammar: write constraints\.grammar"):
            tokenfst.compile(grammar, BYTES)
    path = tmp_path / "schema.json"
    path.write_text(schema)
    with pytest.raises(ValueError, match="the path of a file"):
        tokenfst.compile(str(path), BYTES)


@pytest.mark.parametrize("pattern", ['{"a": 1}', "schema.json", "{", "start: now", "root ::= x", "[1, 2]", "a/b.txt"])
def test_texts_that_may_be_patterns_are_patterns(pattern: str) -> None:
    accepted = pattern if re.fullmatch(pattern, pattern) else "1"
    assert tokenfst.compile(pattern, BYTES).accepts(accepted)


@pytest.mark.parametrize(
    "use",
    [Matcher, Arena(BYTES, max_bytes=1 << 16).add, lambda given: heal([97], given)],
    ids=["matcher", "arena", "heal"],
)
def test_what_is_no_automaton_is_refused(use: Callable[[Any], object]) -> None:
    for given, shown in (("a+", r"'a\+' \(str\)"), (constraints.integer(), r"<Value of .* \(Value\)")):
        with pytest.raises(TypeError, match=shown + r" is not an automaton over tokens; make one by"):
            use(given)


def test_a_prompt_that_is_healed_is_token_ids() -> None:
    prompt: Any = "abc"
    with pytest.raises(TypeError, match=r'such as tokenizer\(text\)\["input_ids"\], and not a text'):
        heal(prompt, tokenfst.compile("a", BYTES))


def test_what_is_no_vocabulary_is_refused() -> None:
    _, tokenizer = bundled_model()
    vocabulary: Any
    for vocabulary, message in [
        (tokenizer, r"decoding\.vocabulary_of\(tokenizer\)"),
        ("tekken.json", r"tokenfst\.load_vocabulary\(path\)"),
        (Path("tekken.json"), r"tokenfst\.load_vocabulary\(path\)"),
        ([b"a", b"b"], r"tokenfst\.Vocabulary\(tokens, eos_ids\)"),
        ({"a": 0}, r"in order of their ids"),
        (None, r"make one by tokenfst\.Vocabulary"),
    ]:
        with pytest.raises(TypeError, match=message):
            tokenfst.compile("a", vocabulary)


TOKENS = [b"a", b"b", b"", b""]


def test_one_end_token_needs_no_list() -> None:
    assert Vocabulary(TOKENS, eos_ids=3).digest == Vocabulary(TOKENS, eos_ids=[3]).digest
    end: Any = np.int64(3)
    assert Vocabulary(TOKENS, eos_ids=end).eos_ids == Vocabulary(TOKENS, np.array([3])).eos_ids == (3,)
    _, tokenizer = bundled_model()
    assert tokenfst.from_transformers(tokenizer, eos_ids=1).eos_ids == (1,)


@pytest.mark.parametrize(
    ("eos_ids", "message"),
    [
        ("</s>", r"eos_ids are token ids, not names such as '</s>'"),
        (["</s>"], r"eos_ids is a token id or a list of token ids, not \['</s>'\] \(list\)"),
        (None, r"eos_ids is a token id or a list of token ids, not None"),
        (3.0, r"eos_ids is a token id or a list of token ids, not 3\.0 \(float\)"),
    ],
)
def test_end_tokens_are_ids(eos_ids: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        Vocabulary(TOKENS, eos_ids)


def test_special_tokens_are_ids_by_name() -> None:
    names: Any = ["<s>"]
    with pytest.raises(
        TypeError, match=r"special_tokens maps names to ids, as in \{'<\|end\|>': 7\}; \['<s>'\] \(list\)"
    ):
        Vocabulary(TOKENS, special_tokens=names)


def test_tokens_are_bytes() -> None:
    texts: Any = ["a", "b"]
    with pytest.raises(VocabularyError, match=r"token 0 is a str, not bytes: encode it, as in 'a'\.encode\(\)"):
        Vocabulary(texts)
    texts = [b"a", 7]
    with pytest.raises(VocabularyError, match=r"token 1 is a int, not bytes$"):
        Vocabulary(texts)
    with pytest.raises(VocabularyError, match="at least one token"):
        Vocabulary([])


def test_tokens_are_a_list() -> None:
    _, tokenizer = bundled_model()
    tokens: Any
    for tokens, message in [
        (tokenizer, r"is not a list of tokens; .*tokenfst\.from_transformers\(tokenizer\)"),
        ("tekken.json", r"'tekken\.json' \(str\) is not a list of tokens; .*tokenfst\.load_vocabulary\(path\)"),
        (Path("tekken.json"), r"tokenfst\.load_vocabulary\(path\)"),
        ({b"a": 0}, r"in order of their ids"),
        (b"ab", r"as in \[b'a', b'b'\]"),
        (256, r"as in \[b'a', b'b'\]"),
    ]:
        with pytest.raises(TypeError, match=message):
            Vocabulary(tokens)


@pytest.mark.parametrize("name", ["gpt2", Path("models/gpt2")], ids=str)
def test_tokenizers_are_loaded_first(name: Any) -> None:
    with pytest.raises(
        TypeError, match=rf"load it first with transformers\.AutoTokenizer\.from_pretrained\('{name}'\)"
    ):
        tokenfst.from_transformers(name)


# A text in place of token ids


@pytest.mark.parametrize("constraint", ["(ab|c)*", "a{2,90}b", constraints.json()], ids=["lazy", "counted", "stack"])
def test_a_text_is_accepted_as_its_tokens_are(constraint: Any) -> None:
    automaton = tokenfst.compile(constraint, BYTES)
    for text in ["", "ab", "abcab", "abca", "aab", "aaab", '{"a": [1, "x"]}', '{"a"', "null", "nul"]:
        assert automaton.accepts(text) == automaton.accepts(text.encode()) == automaton.accepts(list(text.encode()))


def test_a_text_is_accepted_if_some_tokens_write_it() -> None:
    vocabulary = Vocabulary([b"ab", b"a", b"bc", b"c", b""], eos_ids=[4])
    language = compile_expr(parse("(abc)*|abab"))
    assert isinstance(language, ByteAutomaton)
    automaton = tokenfst.compile(language, vocabulary)
    for text in ("", "abc", "abcabc", "abab", "ab", "abca", "b", "x"):
        assert automaton.accepts(text) == language.accepts(text.encode()), text


def test_a_text_of_its_own_begins_as_the_decoder_writes_it() -> None:
    rule = tokenfst.TextStart(exceptions={2: b"b"})
    vocabulary = Vocabulary([b" a", b"a", b"  b", b"b", b" ", b""], eos_ids=[5], text_start=rule)
    automaton = tokenfst.compile("a( a)*|bb", vocabulary, at_text_start=True)
    assert [automaton.accepts(text) for text in ("a", "a a", " a", "bb", "b", "ba")] == [
        True,
        True,
        False,
        True,
        False,
        False,
    ]
    assert automaton.accepts([0, 0])


def test_options_and_limits_that_there_are_not() -> None:
    wrong: Any
    write: Any
    for wrong in ({"seconds": 1}, None):
        with pytest.raises(TypeError, match="limits are Limits"):
            tokenfst.compile("a", BYTES, limits=wrong)
    for wrong in ({"X": 97}, ["X"], {"X": [97.0]}, {"X": "a"}):
        with pytest.raises(TypeError, match="terminals give names their token ids"):
            tokenfst.compile("a", BYTES, terminals=wrong)
    options: dict[str, Any] = {"stop_strings": ["a"], "max_new_tokens": 4}
    for write in (stream, best_of_n):
        with pytest.raises(TypeError, match=f"{write.__name__} has no option 'stop_strings'"):
            write(*bundled_model(), "x", "a", **options)


def test_depths_and_places_that_there_are_not() -> None:
    nested = constraints.grammar('start: "x" start "y" | "z"')
    complete = tokenfst.compile(nested, BYTES).complete()
    assert isinstance(complete, PushdownTokenAutomaton)
    with pytest.raises(ValueError, match="a maximum depth is 0 or more, not -1"):
        complete.within(-1)
    with pytest.raises(ValueError, match="max_depth is 0 or more, not -1"):
        generate(*bundled_model(), "x", nested, max_depth=-1, max_new_tokens=4)
    depths: Any
    for depths in ({"max_array_depth": -1}, {"max_object_depth": -1}):
        with pytest.raises(ValueError, match="a maximum depth is 0 or more, not -1"):
            constraints.json_schema_to_regex({"type": "array"}, **depths)
    automaton = tokenfst.compile("a+b", BYTES)
    with pytest.raises(ValueError, match="by a prefix or by a state, and not by both"):
        automaton.explain("aa", "c", state=automaton.start)


def test_the_prompt_is_named_whose_text_is_too_long() -> None:
    model, tokenizer = bundled_model()
    with pytest.raises(IncompleteOutput, match="prompt 1: the constraint takes at least"):
        generate(model, tokenizer, ["x", "y"], ["a{3}", "b{200}"], max_new_tokens=5)
    with pytest.raises(IncompleteOutput, match=r"^the constraint takes at least"):
        generate(model, tokenizer, ["x", "y"], "b{200}", max_new_tokens=5)


def test_what_has_an_automaton_says_so() -> None:
    schema: Any = constraints.json_schema({"enum": ["a"]})
    with pytest.raises(TypeError, match="not JsonSchema: its method `to_automaton` returns its automaton"):
        automata.count(schema)
    assert automata.count(schema.to_automaton()) == 1


def test_rules_of_a_schema_in_a_grammar_have_no_names() -> None:
    schema = '{"type": "object", "properties": {"n": {"type": "integer", "minimum": 10}}, "required": ["n"]}'
    found = tokenfst.explain(constraints.grammar(f'start: "v=" %json {schema}'), BYTES, 'v={"n":9', "}")
    assert "start > %json: " in str(found)


def test_what_begins_like_deep_json_is_a_pattern() -> None:
    assert tokenfst.compile('{"a":' * 3000, BYTES).accepts('{"a":' * 3000)
