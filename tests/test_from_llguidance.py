"""The stand-in of llguidance beside llguidance: the same calls, one after the other, with the same results."""

from __future__ import annotations

import json
import os
from pathlib import Path
from random import Random
from typing import Any

# Before it starts its threads.
os.environ.setdefault("RAYON_NUM_THREADS", "1")

import llguidance
import llguidance.hf
import llguidance.numpy
import llguidance.torch
import numpy as np
import pytest
import torch
from stand_in_cases import END, PATTERNS, SCHEMAS, VOCABULARY, allowed, unknown

import in_place_of.llguidance as stand_in
import in_place_of.llguidance.hf
import in_place_of.llguidance.numpy
import in_place_of.llguidance.torch
from automata.errors import NotOffered
from decoding import bundled_model


class Greedy:
    """The longest token at each place of a text."""

    eos_token_id = END
    bos_token_id = None
    special_token_ids = (END, END + 1)
    tokens = (*VOCABULARY.tokens[:END], b"<end>", b"<none>")

    def __call__(self, text: str | bytes) -> list[int]:
        data, found, at = text.encode() if isinstance(text, str) else text, [], 0
        while at < len(data):
            token = max(range(END), key=lambda one: data.startswith(self.tokens[one], at) * len(self.tokens[one]))
            found.append(token)
            at += len(self.tokens[token])
        return found


PACKAGES: tuple[Any, Any] = llguidance, stand_in
TOKENIZERS = tuple(package.LLTokenizer(package.TokenizerWrapper(Greedy())) for package in PACKAGES)


class Both:
    """The same calls on both packages."""

    def __init__(self, theirs: Any, ours: Any) -> None:
        self.theirs, self.ours = theirs, ours

    def __getattr__(self, name: str) -> Any:
        def call(*args: Any) -> Any:
            theirs, ours = getattr(self.theirs, name)(*args), getattr(self.ours, name)(*args)
            assert ours == theirs, (name, args)
            return ours

        return call

    def masks(self) -> set[int]:
        """What may come next.

        Where text is forced, llguidance allows only the token with which its encoder begins it.
        """
        theirs, ours = (allowed(np.frombuffer(one.compute_bitmask(), np.uint8)) for one in (self.theirs, self.ours))
        text = self.ours.compute_ff_bytes()
        assert ours == theirs or (text and theirs < ours)
        assert all(text.startswith(VOCABULARY.tokens[token]) for token in ours - theirs)
        return theirs

    def questions(self) -> None:
        """All that is asked without changing anything."""
        self.is_accepting()
        self.is_stopped()
        self.stop_reason()
        self.is_error()
        bias = self.ours.compute_logit_bias()
        assert set(bias) <= {0, 200}
        assert len(bias) == len(self.theirs.compute_logit_bias())
        self.compute_ff_bytes()
        for tokens in ([97, 98, 99], [END], [ord("1"), ord("2"), ord("-")], []):
            # After an error llguidance takes an end token for valid, and refuses it.
            if not self.is_error():
                self.validate_tokens(tokens)


def matchers(method: str, *args: Any, **kwargs: Any) -> Both:
    made = [
        package.LLMatcher(tokenizer, getattr(package.LLMatcher, method)(*args, **kwargs), log_level=0)
        for package, tokenizer in zip(PACKAGES, TOKENIZERS, strict=True)
    ]
    assert not made[0].is_error(), made[0].get_error()
    return Both(*made)


def walk(both: Both, draw: Random, steps: int = 20) -> None:
    """Calls at random, most of which go on with the text."""
    for _ in range(steps):
        mask = both.masks()
        both.questions()
        action = draw.choice(["on", "on", "on", "try", "back", "reset", "copy"])
        if action == "on":
            assert both.consume_token(draw.choice(sorted(mask)))
        elif action == "try":
            both.try_consume_tokens([draw.choice(sorted(mask)), draw.randrange(END)])
        elif action == "back":
            assert both.rollback(draw.randint(0, len(both.ours._tokens)))
        elif action == "reset":
            assert both.reset()
        else:
            both = Both(both.theirs.deep_copy(), both.ours.deep_copy())


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns(pattern: str) -> None:
    for seed in range(6):
        walk(matchers("grammar_from_regex", pattern), Random(seed))


@pytest.mark.parametrize("number", range(len(SCHEMAS)))
@pytest.mark.parametrize(
    "options", [{}, {"whitespace_flexible": False}, {"whitespace_flexible": False, "item_separator": ", "}], ids=str
)
def test_schemas(number: int, options: dict[str, Any]) -> None:
    schema = SCHEMAS[number]
    for seed in range(4):
        walk(matchers("grammar_from_json_schema", schema, overrides=options), Random(seed))
    walk(matchers("grammar_from_json_schema", json.dumps(schema), defaults=options), Random(9))


def test_a_pattern_of_white_space() -> None:
    for seed in range(4):
        walk(matchers("grammar_from_json_schema", SCHEMAS[0], None, {"whitespace_pattern": " {1,2}"}), Random(seed))


def test_lark() -> None:
    for seed in range(6):
        walk(matchers("grammar_from_lark", 'start: "(" start ")" | ITEM\nITEM: /[a-c]+/ | "12"'), Random(seed))


def test_grammars_that_llguidance_has_written_are_read() -> None:
    made = llguidance.LLMatcher
    sources = [
        made.grammar_from_regex("a/b+"),
        made.grammar_from_json_schema(SCHEMAS[0]),
        made.grammar_from_json_schema(SCHEMAS[2], overrides={"whitespace_flexible": False}),
    ]
    for source in sources:
        theirs, ours = (
            package.LLMatcher(one, source, log_level=0) for package, one in zip(PACKAGES, TOKENIZERS, strict=True)
        )
        for seed in range(3):
            walk(Both(theirs.deep_copy(), ours.deep_copy()), Random(seed))


@pytest.mark.parametrize("tokens", [[97, 120], [120], [END], [97, 98, 99, 97], [-1], [9999]])
def test_what_is_not_allowed_is_an_error_that_stays(tokens: list[int]) -> None:
    both = matchers("grammar_from_regex", "ab*c")
    if max(tokens) < len(VOCABULARY) and min(tokens) >= 0:
        assert not both.consume_tokens(tokens)
    else:
        # llguidance's own interface refuses a number below 0 as an argument.
        assert not both.ours.consume_tokens(tokens)
        assert not both.theirs.consume_tokens([120])
    assert both.masks() == {END}
    both.questions()
    both.rollback(1)
    both.reset()
    both.compute_ff_tokens()
    both.try_consume_tokens([97])
    assert both.ours.get_error()


@pytest.mark.parametrize("tokens", [[97, END], [97, END, END], [97, 98, END], [97, 98, END, END, END], [97, END, 98]])
def test_ends_among_tokens_are_steps(tokens: list[int]) -> None:
    for number in range(1, len(tokens) + 1):
        both = matchers("grammar_from_regex", "ab?")
        both.validate_tokens(tokens)
        if both.consume_tokens(tokens):
            assert both.consume_token(END)
            both.rollback(number)
            both.is_accepting()
            both.reset()
            both.masks()


def test_where_a_text_has_stopped_no_tokens_come_together() -> None:
    for stop in ([97, 98], [97, END]):
        both = matchers("grammar_from_regex", "ab?")
        assert both.consume_tokens(stop)
        assert both.consume_tokens([])
        assert both.consume_token(END)
        assert both.try_consume_tokens([END]) == 0
        assert not both.consume_tokens([END])
        assert both.is_error()
        assert both.consume_token(END)
        assert both.is_error()


def test_taking_back_too_much_is_an_error() -> None:
    both = matchers("grammar_from_regex", "ab*c")
    assert both.consume_token(97)
    assert not both.rollback(2)
    assert both.is_error()
    assert "taken back" in both.ours.get_error()


@pytest.mark.parametrize("pattern", [*PATTERNS, "abab|ababc", "abcabcab!", "é{3}", "a(bc){2,3}"])
def test_forced_tokens(pattern: str) -> None:
    """The last piece may be left open in two ways: what both write is the same as far as it goes."""
    draw = Random(pattern)
    both = matchers("grammar_from_regex", pattern)
    while not both.is_stopped():
        theirs, ours = both.theirs.compute_ff_tokens(), both.ours.compute_ff_tokens()
        assert ours == theirs[: len(ours)] or theirs == ours[: len(theirs)]
        forced = both.compute_ff_bytes()
        assert forced.startswith(VOCABULARY.detokenize(ours))
        assert both.ours.validate_tokens(ours) == len(ours)
        assert both.consume_token(draw.choice(sorted(both.masks() - {END} or {END})))
    assert matchers("grammar_from_regex", "abcabcab!").compute_ff_tokens()


def test_mistakes_are_told_and_not_raised() -> None:
    for package in PACKAGES:
        made = package.LLMatcher
        assert made.validate_grammar(made.grammar_from_regex("ab")) == ""
        assert made.validate_grammar(made.grammar_from_regex("a(")) != ""
        assert made.validate_grammar_with_warnings(made.grammar_from_regex("ab")) == (False, [])
        assert made.validate_grammar_with_warnings(made.grammar_from_lark("start: nothing"))[0]
    broken = stand_in.LLMatcher(TOKENIZERS[1], "start: nothing")
    assert broken.is_error()
    with pytest.raises(ValueError, match=r"a mask takes \d+ words, and there are 0"):
        broken.fill(np.zeros(0, np.int32))
    assert broken.stop_reason() == "InternalError"
    assert "nothing" in broken.get_error()
    assert stand_in.LLMatcher(TOKENIZERS[1], '{"a": 1}').is_error()
    options = {"whitespace_flexible": False, "item_separator": ";"}
    schema = stand_in.LLMatcher.grammar_from_json_schema({"type": "array"}, overrides=options)
    assert "separator" in stand_in.LLMatcher.validate_grammar(schema)
    assert not broken.deep_copy().reset()


def options(text: str) -> str:
    return '{"grammars": [{"json_schema": {"x-guidance": ' + text + "}}]}"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ('{"grammars": 5}', "grammars is a list, not 5"),
        ('{"grammars": null}', "grammars is a list, not None"),
        ('{"grammars": []}', "grammars is empty"),
        ('{"grammars": [[1]]}', "grammars[0] is an object, not [1]"),
        ('{"grammars": [null]}', "grammars[0] is an object, not None"),
        ('{"grammars": [{}]}', "grammars[0] has none of"),
        ('{"grammars": [{"lark_grammar": []}]}', "grammars[0].lark_grammar is text, not []"),
        ('{"grammars": [{"regex": 5}]}', "grammars[0].regex is text, not 5"),
        ('{"grammars":' + "[" * 100_000, "nested too deep"),
        ('{"grammars": [' + "[" * 500 + "]" * 500 + "]}", "grammars[0] is an object"),
        (options("true"), "x-guidance is an object, not True"),
        (options('{"item_separator": {}}'), "x-guidance.item_separator is text, not {}"),
        (options('{"whitespace_pattern": 5}'), "x-guidance.whitespace_pattern is text, not 5"),
        (options('{"lenient": "yes"}'), "x-guidance.lenient is true or false, not 'yes'"),
        (options('{"whitespace_flexble": false}'), "x-guidance has no option 'whitespace_flexble'; options are"),
        ('{"grammars": [{"json_schema": {}, "lark_grammar": ""}]}', "has both lark_grammar and json_schema"),
    ],
)
def test_what_is_not_of_its_kind_is_a_mistake_with_its_place(source: str, message: str) -> None:
    made = stand_in.LLMatcher(TOKENIZERS[1], source)
    assert made.is_error()
    assert message in made.get_error()
    assert message in stand_in.LLMatcher.validate_grammar(source)


def test_options_that_are_null_are_not_given() -> None:
    source = options('{"whitespace_pattern": null, "whitespace_flexible": null, "item_separator": null}')
    assert stand_in.LLMatcher.validate_grammar(source) == ""


def test_schemas_that_cannot_be_read_are_errors_of_values() -> None:
    made = stand_in.LLMatcher.grammar_from_json_schema
    with pytest.raises(ValueError, match="nested too deep"):
        made("[" * 100_000)
    with pytest.raises(ValueError, match="x-guidance is an object, not 5"):
        made({"x-guidance": 5}, overrides={"lenient": True})


def test_keywords_that_are_left_out_are_warnings() -> None:
    schema = {"type": "array", "items": {"type": "string"}, "not": {"minItems": 3, "uniqueItems": True}}
    made = stand_in.LLMatcher
    assert made(TOKENIZERS[1], made.grammar_from_json_schema(schema)).is_error()
    lenient = made(TOKENIZERS[1], made.grammar_from_json_schema(schema, overrides={"lenient": True}))
    assert not lenient.is_error()
    assert lenient.get_grammar_warnings()


def test_the_tokens() -> None:
    theirs, ours = TOKENIZERS
    both = Both(theirs, ours)
    for name in ("vocab_size", "eos_token", "eos_tokens", "is_canonical"):
        assert getattr(ours, name) == getattr(theirs, name), name
    for text in ("abcab12", 'é{"a": true}'):
        both.tokenize_str(text)
        both.greedy_tokenize(text)
    both.tokenize_bytes(b"ab\xff\xc3")
    both.tokenize_bytes(b"abc\xc3\xa9\xc3")
    both.decode_bytes([97, 260, 0])
    both.decode_str([97, 0xC3])
    for token in (97, END, END + 1, len(VOCABULARY)):
        both.is_special_token(token)
    assert ours.with_slices(ours.general_slices() + ours.json_slices()) is ours


def test_a_tokenizer_of_transformers(tmp_path: Path) -> None:
    tokenizer = bundled_model()[1]
    width = len(tokenizer) + 7
    theirs = llguidance.hf.from_tokenizer(tokenizer, n_vocab=width)
    ours = in_place_of.llguidance.hf.from_tokenizer(tokenizer, n_vocab=width)
    text = tokenizer.backend_tokenizer.to_str()
    file = tmp_path / "tokenizer.json"
    file.write_text(text)
    end = tokenizer.eos_token_id
    for one in (ours, stand_in.LLTokenizer(text, width, end), stand_in.LLTokenizer(str(file), width, end)):
        assert one.vocab_size == theirs.vocab_size == width
        assert one.eos_tokens == theirs.eos_tokens
        assert one.tokenize_str("a fox jumps") == theirs.tokenize_str("a fox jumps")
        matcher = stand_in.LLMatcher(one, stand_in.LLMatcher.grammar_from_regex("(yes|no), [a-z]+"))
        other = llguidance.LLMatcher(theirs, llguidance.LLMatcher.grammar_from_regex("(yes|no), [a-z]+"))
        masks = [np.frombuffer(each.compute_bitmask(), np.uint8) for each in (matcher, other)]
        assert allowed(masks[0], width) == allowed(masks[1], width)


def test_masks_of_batches() -> None:
    found = []
    for package in PACKAGES:
        tokenizer = TOKENIZERS[PACKAGES.index(package)]
        made = [
            package.LLMatcher(tokenizer, package.LLMatcher.grammar_from_regex(one), log_level=0) for one in PATTERNS
        ]
        made[1].consume_token(0)
        executor = package.LLExecutor()
        for module, count in ((package.numpy, 7), (package.torch, 8)):
            words = module.allocate_token_bitmask(count, len(VOCABULARY))
            module.fill_next_token_bitmask(made[0], words, 6)
            pairs = [(matcher, row) for row, matcher in enumerate(made[:4])]
            module.fill_next_token_bitmask_par(executor, pairs, words)
            found.append([allowed(row) for row in words[[0, 1, 2, 3, 6]]])
            assert module.consume_token_par(executor, [(made[0], 97), (made[1], 97)])[1] is False
            made[0].rollback(1)
    assert found[0] == found[1] == found[2] == found[3]


def test_masks_that_fit_nothing_are_refused() -> None:
    logits, mask = np.zeros((2, 8), np.float32), np.ones((1, 1), np.int32)
    for package in PACKAGES:
        with pytest.raises((AssertionError, ValueError)):
            package.numpy.apply_token_bitmask_inplace(logits, mask)
        with pytest.raises((AssertionError, ValueError)):
            package.torch.apply_token_bitmask_inplace(torch.from_numpy(logits), torch.from_numpy(mask))
        made = matchers("grammar_from_regex", "ab").ours
        words = package.numpy.allocate_token_bitmask(2, 2 * len(VOCABULARY))
        for wrong in (words[:, ::2], words.astype(np.int64)):
            with pytest.raises(ValueError, match="a bit mask"):
                in_place_of.llguidance.numpy.fill_next_token_bitmask(made, wrong)
            with pytest.raises(ValueError, match="a bit mask"):
                in_place_of.llguidance.torch.fill_next_token_bitmask(made, torch.from_numpy(wrong))
            with pytest.raises(ValueError, match="a bit mask"):
                in_place_of.llguidance.numpy.fill_next_token_bitmask_par(stand_in.LLExecutor(), [(made, 0)], wrong)


def test_rows_that_are_not_there_are_refused() -> None:
    for package, tokenizer in zip(PACKAGES, TOKENIZERS, strict=True):
        made = [package.LLMatcher(tokenizer, package.LLMatcher.grammar_from_regex(one)) for one in ("a", "b")]
        for rows, error in (((1, -1), (IndexError, OverflowError)), ((0, 4), (IndexError, ValueError))):
            words = package.numpy.allocate_token_bitmask(3, len(VOCABULARY))
            with pytest.raises(error):
                package.numpy.fill_next_token_bitmask_par(
                    package.LLExecutor(), list(zip(made, rows, strict=True)), words
                )
            assert (words == -1).all()


@pytest.mark.parametrize("grammar", [5, {"grammars": []}, b"a", None])
def test_a_grammar_that_is_not_text_is_an_error_of_its_matcher(grammar: Any) -> None:
    for package, tokenizer in zip(PACKAGES, TOKENIZERS, strict=True):
        assert package.LLMatcher(tokenizer, grammar, log_level=0).is_error()
    assert stand_in.LLMatcher.validate_grammar(grammar).startswith("a grammar is text, not ")


def test_masks_in_logits() -> None:
    masks = np.random.default_rng(0).integers(-(2**31), 2**31, (3, 3), np.int32)
    for width in (70, 96, 100):
        logits = [np.random.default_rng(1).normal(size=(3, width)).astype(np.float32) for _ in range(2)]
        llguidance.numpy.apply_token_bitmask_inplace(logits[0], masks)
        in_place_of.llguidance.numpy.apply_token_bitmask_inplace(logits[1], masks)
        assert np.array_equal(logits[0], logits[1])
        third = torch.from_numpy(np.random.default_rng(1).normal(size=(3, width)).astype(np.float32))
        in_place_of.llguidance.torch.apply_token_bitmask_inplace(third, torch.from_numpy(masks))
        assert np.array_equal(third.numpy(), logits[0])


def test_what_is_not_there_is_named() -> None:
    assert unknown(llguidance, stand_in) == unknown(llguidance.LLMatcher, stand_in.LLMatcher) == []
    assert unknown(llguidance.LLTokenizer, stand_in.LLTokenizer) == []
    made = stand_in.LLMatcher
    source = made.grammar_from_regex("ab")
    limits: Any = object()
    for call in (
        lambda: made(TOKENIZERS[1], source).get_captures(),
        lambda: stand_in.LLInterpreter,
        lambda: in_place_of.llguidance.numpy.fill_next_token_bitmask_par_with_draft_tokens,
        lambda: made(TOKENIZERS[1], source, limits=limits),
        lambda: made(TOKENIZERS[1], made.grammar_from_json_schema({}, overrides={"coerce_one_of": True})),
        lambda: made(TOKENIZERS[1], '{"grammars": [{"regex": "a"}, {"regex": "b"}]}'),
        lambda: stand_in.LLTokenizer("gpt2"),
        lambda: TOKENIZERS[1].dbg_tokens([1]),
        lambda: TOKENIZERS[1].tokenize_str("a", parse_special=True),
    ):
        with pytest.raises(NotOffered, match="is not offered: "):
            call()
    with pytest.raises(AttributeError):
        _ = stand_in.no_such_name
