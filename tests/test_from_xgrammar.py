"""The stand-in of XGrammar beside XGrammar: the same calls, one after the other, with the same results."""

from __future__ import annotations

import json
from random import Random
from typing import Any, Literal

import numpy as np
import pydantic
import pytest
import torch
import xgrammar
from stand_in_cases import END, PATTERNS, SCHEMAS, VOCABULARY, allowed, unknown

import in_place_of.xgrammar as stand_in
import tokenfst
from automata.errors import GrammarError, NotOffered, PatternError, VocabularyError
from decoding import bundled_model
from in_place_of.spelling import tokens_of
from serving.matcher import Matcher
from tokenfst import Vocabulary
from tokenfst.vocabulary.text_start import TextStart

GRAMMAR = """root ::= "(" root ")" | item
item ::= [a-c]+ | "12"
"""
TAG = {
    "type": "structural_tag",
    "format": {"type": "tag", "begin": "ab", "content": {"type": "regex", "pattern": "[0-9]{1,2}"}, "end": "c"},
}


class Both:
    """The same calls on both packages."""

    def __init__(self, theirs: Any, ours: Any) -> None:
        self.theirs, self.ours = theirs, ours

    def __getattr__(self, name: str) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            theirs = getattr(self.theirs, name)(*args, **kwargs)
            ours = getattr(self.ours, name)(*args, **kwargs)
            assert ours == theirs, (name, args)
            return ours

        return call

    def masks(self) -> set[int]:
        """What may come next."""
        found = []
        for package, matcher in ((xgrammar, self.theirs), (stand_in, self.ours)):
            words = package.allocate_token_bitmask(2, len(VOCABULARY))
            found.append((matcher.fill_next_token_bitmask(words, 1), allowed(words[1]), words[0].tolist()))
        assert found[0] == found[1]
        return found[1][1]

    def find_jump_forward_string(self) -> str:
        """What must come next. Within a character XGrammar fails, and nothing is forced here."""
        try:
            theirs = self.theirs.find_jump_forward_string()
        except UnicodeDecodeError:
            theirs = ""
        assert self.ours.find_jump_forward_string() == theirs
        return str(theirs)

    def fork(self) -> Both:
        """Both go on apart."""
        return Both(self.theirs.fork(), self.ours.fork())


def compiler(package: Any) -> Any:
    info = package.TokenizerInfo(list(VOCABULARY.tokens), stop_token_ids=[END])
    return package.GrammarCompiler(info, max_threads=1)


COMPILERS = compiler(xgrammar), compiler(stand_in)


def compiled(method: str, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    theirs, ours = (getattr(one, method)(*args, **kwargs) for one in COMPILERS)
    return theirs, ours


def matchers(method: str, *args: Any, matcher: dict[str, Any] | None = None, **kwargs: Any) -> Both:
    theirs, ours = compiled(method, *args, **kwargs)
    options = matcher or {}
    return Both(xgrammar.GrammarMatcher(theirs, **options), stand_in.GrammarMatcher(ours, **options))


def walk(both: Both, draw: Random, steps: int = 30) -> None:
    """Calls at random, about half of which go on with the text."""
    taken = 0
    for _ in range(steps):
        if both.is_terminated() and not both.ours._terminates:
            assert not both.accept_token(END)
            both.rollback(1)
            taken -= 1
        mask = both.masks()
        both.find_jump_forward_string()
        both.is_completed()
        action = draw.choice(["on", "on", "on", "any", "text", "back", "reset", "fork"])
        if action == "on":
            token = draw.choice(sorted(mask))
            accepted = both.accept_token(token)
            assert accepted or (token == END and both.ours._terminates)
            taken += accepted
        elif action == "any":
            taken += both.accept_token(draw.randrange(len(VOCABULARY)))
        elif action == "text":
            # An empty text is a step to us, and to XGrammar as well.
            taken += both.accept_string(draw.choice(["a", "ab", "bc", "1", '{"', "12", b"\xc3", "x", '"a": true']))
        elif action == "back":
            number = draw.randint(0, taken)
            both.rollback(number)
            taken -= number
        elif action == "reset":
            both.reset()
            taken = 0
        else:
            both = both.fork()


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns(pattern: str) -> None:
    for seed in range(6):
        walk(matchers("compile_regex", pattern), Random(seed))


@pytest.mark.parametrize("number", range(len(SCHEMAS)))
@pytest.mark.parametrize(
    "options", [{}, {"any_whitespace": False}, {"any_whitespace": False, "separators": (",", ":")}], ids=str
)
def test_schemas(number: int, options: dict[str, Any]) -> None:
    for seed in range(4):
        walk(matchers("compile_json_schema", SCHEMAS[number], **options), Random(seed))
    walk(matchers("compile_json_schema", json.dumps(SCHEMAS[number]), **options), Random(9))


def test_bounded_white_space() -> None:
    for seed in range(4):
        walk(matchers("compile_json_schema", SCHEMAS[0], max_whitespace_cnt=2), Random(seed), 50)


def test_grammars_and_tags() -> None:
    for seed in range(6):
        walk(matchers("compile_grammar", GRAMMAR), Random(seed))
        walk(matchers("compile_grammar", GRAMMAR, root_rule_name="item"), Random(seed))
        walk(matchers("compile_lark", 'start: "ab" item*\nitem: /[0-9]/ "c"'), Random(seed))
        walk(matchers("compile_structural_tag", TAG), Random(seed))
        walk(matchers("compile_regex", "ab*", matcher={"terminate_without_stop_token": True}), Random(seed))
        walk(matchers("compile_regex", "ab*", matcher={"override_stop_tokens": [END, 99]}), Random(seed))


class Model(pydantic.BaseModel):
    """Has no other fields, in strict mode."""

    ab: Literal["a", "b"]
    c: list[bool] = []


# Texts, and which of them strict schemas let through.
CLOSED = [
    ({"type": "object", "properties": {"a": {}}}, ['{"a": 1}', '{"b": 1}', "{}"]),
    ({"type": "object"}, ['{"b": 1}', "{}"]),
    (
        {"type": "object", "properties": {"a": {}}, "additionalProperties": {"type": "null"}},
        ['{"b": null}', '{"b": 1}'],
    ),
    ({"type": "array", "prefixItems": [{"type": "null"}]}, ["[null]", "[null, 1]"]),
    (
        {"anyOf": [{"type": "object", "properties": {"a": {}}}, {"type": "null"}]},
        ['{"a": true}', '{"a": true, "b": true}', "null"],
    ),
    (Model, ['{"ab": "a"}', '{"ab": "b", "c": [true]}', '{"ab": "a", "d": 1}', '{"ab": "c"}']),
]


@pytest.mark.parametrize(("schema", "texts"), CLOSED, ids=lambda value: str(value)[:60])
@pytest.mark.parametrize("strict", [True, False])
def test_strict_mode(schema: Any, texts: list[str], strict: bool) -> None:
    for text in texts:
        both = matchers("compile_json_schema", schema, any_whitespace=False, strict_mode=strict)
        both.accept_string(text)
        both.is_completed()


def test_objects_that_are_joined_are_closed_together() -> None:
    """Where XGrammar drops what stands beside `allOf`."""
    schema = {"allOf": [{"properties": {"a": {}}}], "properties": {"b": {}}, "type": "object"}
    automaton = COMPILERS[1].compile_json_schema(schema).automaton
    assert automaton.accepts('{"a": 1, "b": 1}')
    assert not automaton.accepts('{"a": 1, "b": 1, "c": 1}')


def test_any_json() -> None:
    for text in ("[1, {}]", '{"a": null}', "12", "x", "[1,"):
        both = matchers("compile_builtin_json_grammar")
        both.accept_string(text)
        both.is_completed()


def test_the_tokens() -> None:
    theirs, ours = (one.compile_regex("a").tokenizer_info for one in COMPILERS)
    for name in ("vocab_size", "stop_token_ids", "special_token_ids", "add_prefix_space"):
        assert getattr(ours, name) == getattr(theirs, name), name
    assert ours.vocab_type.value == theirs.vocab_type.value
    assert ours.decoded_vocab == theirs.decoded_vocab
    padded = stand_in.TokenizerInfo(["a", "é", ""], vocab_size=40, stop_token_ids=2)
    assert padded.vocab_size == 40
    assert padded.decoded_vocab[1] == "é".encode()


def test_a_tokenizer_of_transformers() -> None:
    tokenizer = bundled_model()[1]
    found = []
    for package in (xgrammar, stand_in):
        info = package.TokenizerInfo.from_huggingface(tokenizer, vocab_size=len(tokenizer) + 7)
        matcher = package.GrammarMatcher(package.GrammarCompiler(info).compile_regex("(yes|no), [a-z]+"))
        assert matcher.accept_string("ye")
        words = package.allocate_token_bitmask(1, info.vocab_size)
        matcher.fill_next_token_bitmask(words)
        found.append((allowed(words, info.vocab_size), info.stop_token_ids, info.vocab_size))
        assert matcher.find_jump_forward_string() == "s, "
    assert found[0] == found[1]


def test_masks_in_logits() -> None:
    draw = torch.Generator().manual_seed(0)
    masks = torch.randint(-(2**31), 2**31 - 1, (3, 3), dtype=torch.int32, generator=draw)
    masks[1] = 0
    for width in (70, 96):
        for options in ({}, {"vocab_size": 65}, {"indices": [2, 0]}, {"vocab_size": 33, "indices": [1]}):
            logits = [torch.randn(3, width, generator=torch.Generator().manual_seed(1)) for _ in range(2)]
            xgrammar.apply_token_bitmask_inplace(logits[0], masks, **options)
            stand_in.apply_token_bitmask_inplace(logits[1], masks, **options)
            assert torch.equal(*logits), (width, options)
    assert torch.equal(stand_in.allocate_token_bitmask(2, 65), xgrammar.allocate_token_bitmask(2, 65))
    stand_in.reset_token_bitmask(masks)
    assert (masks == -1).all()


@pytest.mark.parametrize(
    ("logits", "masks", "indices", "message"),
    [
        ((2, 8), (1, 1), None, "there are 2 rows of logits, and 1 masks"),
        ((1, 8), (2, 1), None, "there are 1 rows of logits, and 2 masks"),
        ((2, 8), (2, 1), [-1], "row -1 is asked for, and there are 2"),
        ((2, 8), (1, 1), [1], "row 1 is asked for, and there are 1"),
    ],
)
def test_logits_without_a_mask_are_refused(logits: Any, masks: Any, indices: Any, message: str) -> None:
    words, error = torch.ones(masks, dtype=torch.int32), ValueError if indices is None else IndexError
    with pytest.raises(RuntimeError):
        xgrammar.apply_token_bitmask_inplace(torch.zeros(logits), words, indices=indices)
    with pytest.raises(error, match=message):
        stand_in.apply_token_bitmask_inplace(torch.zeros(logits), words, indices=indices)
    with pytest.raises(ValueError, match="a bit mask is int32, not torch"):
        stand_in.apply_token_bitmask_inplace(torch.zeros(logits), words.long(), indices=indices)


def test_masks_that_cannot_be_filled_are_refused() -> None:
    width = stand_in.get_bitmask_shape(1, len(VOCABULARY))[1]
    for package, one in zip((xgrammar, stand_in), COMPILERS, strict=True):
        matcher, words = package.GrammarMatcher(one.compile_regex("ab")), torch.full((4, 2 * width), 7).int()
        for index in (-1, 4):
            with pytest.raises((IndexError, RuntimeError)):
                matcher.fill_next_token_bitmask(words[:, :width], index)
            with pytest.raises((IndexError, RuntimeError)):
                package.BatchGrammarMatcher().batch_fill_next_token_bitmask([matcher], words[:, :width], [index])
        assert (words == 7).all()
    # Rows may lie apart, the words of a row may not.
    stand_in.BatchGrammarMatcher().batch_fill_next_token_bitmask([matcher, matcher], words[::2, :width])
    assert [allowed(row[:width]) for row in words[::2]] == [{ord("a"), VOCABULARY.tokens.index(b"ab")}] * 2
    assert (words[1::2] == 7).all()
    with pytest.raises(ValueError, match="lie side by side"):
        matcher.fill_next_token_bitmask(words[:, ::2])


def test_batches() -> None:
    found = []
    for package, one in zip((xgrammar, stand_in), COMPILERS, strict=True):
        each = [package.GrammarMatcher(one.compile_regex(pattern)) for pattern in PATTERNS[:3]]
        batch = package.BatchGrammarMatcher()
        words = package.allocate_token_bitmask(4, len(VOCABULARY))
        read = batch.batch_accept_string(each, ["ab", b"x", "1"]), batch.batch_accept_token(each, [ord("b")] * 3)
        batch.batch_fill_next_token_bitmask(each, words, [3, 1, 0])
        batch.batch_rollback([each[0]], [1])
        batch.batch_rollback([each[0]])
        rows = [allowed(row) for row in words[[3, 1, 0]]]
        found.append((read, rows, words[2].tolist(), allowed(words[3])))
    assert found[0] == found[1]


def test_masks_in_arrays() -> None:
    ours = matchers("compile_regex", "a|b").ours
    words = np.zeros(stand_in.get_bitmask_shape(1, len(VOCABULARY)), np.int32)
    assert ours.fill_next_token_bitmask(words)
    assert allowed(words) == {ord("a"), ord("b")}
    assert ours.fill_next_token_bitmask(words[0])
    with pytest.raises(ValueError, match="int32"):
        ours.fill_next_token_bitmask(words.astype(np.int64))


@pytest.mark.parametrize("several", [False, True])
def test_the_processor_for_transformers(several: bool) -> None:
    model: Any
    model, tokenizer = bundled_model()
    prompts = tokenizer(["Say: ", "Tell: "], padding=True, padding_side="left", return_tensors="pt")
    found = []
    for package in (xgrammar, stand_in):
        info = package.TokenizerInfo.from_huggingface(tokenizer, vocab_size=model.config.vocab_size)
        one = package.GrammarCompiler(info)
        compiled = [one.compile_regex("(yes|no), thanks"), one.compile_regex("[A-Z]{3}")]
        processor = package.contrib.hf.LogitsProcessor(compiled if several else compiled[0])
        written = model.generate(**prompts, logits_processor=[processor], max_new_tokens=12, do_sample=False)
        found.append(tokenizer.batch_decode(written[:, prompts["input_ids"].shape[1] :], skip_special_tokens=True))
    assert found[0] == found[1]
    assert all(text in ("yes, thanks", "no, thanks") for text in found[1][: 1 if several else 2])


@pytest.mark.parametrize("style", ["json", "qwen_xml"])
def test_objects_in_structural_tags_are_closed(style: str) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    content = {"type": "json_schema", "json_schema": schema, "style": style}
    tag: Any = {"type": "structural_tag", "format": {"type": "tag", "begin": "<t>", "content": content, "end": "</t>"}}
    texts = ['{"a": 1}', '{"a":1,"z":2}', '{ "a" :  1}', "<parameter=a>1</parameter>"]
    texts.append(f"{texts[-1]}\n<parameter=z>1</parameter>")
    found = []
    for text in texts:
        both = matchers("compile_structural_tag", tag)
        accepted = [matcher.accept_string(f"<t>{text}</t>") for matcher in (both.theirs, both.ours)]
        assert accepted[0] == accepted[1], text
        found.append(accepted[0])
    assert found == ([True, False, True, False, False] if style == "json" else [False, False, False, True, False])


def test_structural_tags_of_xgrammar_itself() -> None:
    pattern: Any = {"type": "regex", "pattern": "[ab]+"}
    tag = xgrammar.StructuralTag(format=pattern)
    ours = stand_in.GrammarMatcher(COMPILERS[1].compile_structural_tag(tag))
    assert ours.accept_string("ab")
    assert not ours.accept_string("c")


def test_grammars_are_kept() -> None:
    one = stand_in.GrammarCompiler(COMPILERS[1].tokenizer_info)
    first = one.compile_json_schema(SCHEMAS[0])
    assert one.compile_json_schema(json.dumps(SCHEMAS[0])) is first
    assert one.compile_json_schema(SCHEMAS[0], any_whitespace=False) is not first
    assert one.get_cache_size_bytes() > 0
    one.clear_cache()
    assert one.compile_json_schema(SCHEMAS[0]) is not first
    without = stand_in.GrammarCompiler(COMPILERS[1].tokenizer_info, cache_enabled=False)
    assert without.compile_regex("a") is not without.compile_regex("a")


def test_what_is_not_there_is_named() -> None:
    one = COMPILERS[1]
    matcher = stand_in.GrammarMatcher(one.compile_regex("ab"))
    for call in (
        lambda: matcher.get_captures(),
        lambda: stand_in.structural_tag,
        lambda: stand_in.contrib.mlxlm,
        lambda: stand_in.TokenizerInfo.deserialize_json("{}"),
        lambda: one.compile_regex("a").serialize_json(),
        lambda: one.compile_json_schema({}, any_order=True),
        lambda: one.compile_json_schema({}, indent=2),
        lambda: stand_in.TokenizerInfo([b"a", b""]),
        lambda: stand_in.TokenizerInfo([b"a", b""], stand_in.VocabType.BYTE_LEVEL, stop_token_ids=[1]),
        lambda: stand_in.GrammarMatcher(one.compile_regex("ab"), override_stop_tokens=[3]),
    ):
        with pytest.raises(NotOffered, match="is not offered: "):
            call()
    with pytest.raises(AttributeError):
        _ = stand_in.no_such_name
    assert unknown(xgrammar, stand_in) == []


def test_mistakes_are_errors_of_this_project() -> None:
    one = COMPILERS[1]
    with pytest.raises(PatternError):
        one.compile_regex("a(")
    with pytest.raises(GrammarError):
        one.compile_grammar("root ::= missing")
    with pytest.raises(ValueError, match="separator"):
        one.compile_json_schema({}, any_whitespace=False, separators=(";", ":"))
    for options, message in (
        ({"max_whitespace_cnt": []}, r"max_whitespace_cnt is a number from 0, or None, not \[\]"),
        ({"max_whitespace_cnt": -1}, "max_whitespace_cnt is a number from 0, or None, not -1"),
        ({"max_whitespace_cnt": True}, "max_whitespace_cnt is a number from 0, or None, not True"),
        ({"any_whitespace": False, "separators": 5}, "separators are two texts, .* not 5"),
        ({"any_whitespace": False, "separators": (",",)}, "separators are two texts"),
        ({"any_whitespace": False, "separators": (",", 5)}, "separators are two texts"),
    ):
        with pytest.raises(ValueError, match=message):
            one.compile_json_schema({}, **options)
    with pytest.raises(ValueError, match="nested too deep"):
        one.compile_json_schema("[" * 100_000)
    with pytest.raises(ValueError, match="cannot be taken back"):
        stand_in.GrammarMatcher(one.compile_regex("ab")).rollback(1)
    words = stand_in.TokenizerInfo([b"ab", b""], stop_token_ids=[1])
    with pytest.raises(VocabularyError, match="no tokens"):
        stand_in.GrammarMatcher(stand_in.GrammarCompiler(words).compile_regex("ab")).accept_string("a")


def test_tokens_of_a_text_may_begin_with_some_that_write_nothing() -> None:
    """As those of T5, which drops the first space of a text."""
    vocabulary = Vocabulary([b" ", b"a", b"b", b""], 3, text_start=TextStart(b"#"))
    for pattern, text, expected in [(" ab", b" ab", [0, 0, 1, 2]), ("ab", b"ab", [0, 1, 2]), ("ab", b"", [])]:
        matcher = Matcher(tokenfst.compile(pattern, vocabulary, at_text_start=True))
        tokens = tokens_of(matcher, text)
        assert tokens == expected
        assert vocabulary.text(tokens, at_text_start=True) == text
    matcher.accept([0, 1])
    assert tokens_of(matcher, b"b") == [2]
    assert tokens_of(matcher, b" ") is None
