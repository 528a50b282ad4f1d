"""The formats of structural tags: what they allow, and what is refused by its name."""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np
import pytest

import serving.json_texts
import serving.vllm.engine
import tokenfst
from automata.errors import LimitExceeded, TooManyConfigurations, VocabularyError
from automata.limits import Limits
from constraints import json_schema
from decoding import bundled_model, vocabulary_of
from serving.json_texts import blanks_like, blanks_up_to
from serving.specifications import constraint_of, framed
from serving.vllm.engine import check_constraint
from tokenfst import Vocabulary
from tokenfst.token_automaton import TokenAutomaton
from tokenfst.vocabulary.all_bytes import ALL_BYTES

TOKENS = [b"a", b"b", b"1", b"", b"", b""]
CALL, OTHER, END = 3, 4, 5
LETTERS = Vocabulary(TOKENS, END, special_tokens={"<call>": CALL, "<other>": OTHER})
A = {"type": "const_string", "value": "a"}
ONE = {"type": "json_schema", "json_schema": {"const": 1}}
NUMBER = {"type": "json_schema", "json_schema": {"type": "integer"}}
PAIRS = {"type": "grammar", "grammar": 'root ::= "a" root "b" | "1"'}
PAIRS_IN_TAG = {"type": "tag", "begin": "b", "content": PAIRS, "end": "b"}


def compiled(form: Any, vocabulary: Vocabulary = LETTERS) -> TokenAutomaton:
    constraint = constraint_of("structural_tag", json.dumps({"type": "structural_tag", "format": form}))
    return tokenfst.compile(constraint, vocabulary)


@pytest.mark.parametrize(
    ("form", "right", "wrong"),
    [
        ({"type": "optional", "content": A}, ["", "a"], ["aa"]),
        ({"type": "star", "content": A}, ["", "aaa"], ["ab"]),
        ({"type": "plus", "content": A}, ["a", "aaa"], [""]),
        ({"type": "repeat", "content": A, "min": 1, "max": 2}, ["a", "aa"], ["", "aaa"]),
        ({"type": "repeat", "content": A, "min": 2, "max": -1}, ["aa", "aaaaa"], ["a"]),
        ({"type": "star", "content": ONE}, ["", "1", "11"], ["a", "1a"]),
        ({"type": "star", "content": PAIRS_IN_TAG}, ["", "b1b", "ba1bbb1b"], ["b", "ba1b", "ba1bb1b"]),
    ],
)
def test_repetitions(form: Any, right: list[str], wrong: list[str]) -> None:
    automaton = compiled(form)
    assert [automaton.accepts(text) for text in [*right, *wrong]] == [True] * len(right) + [False] * len(wrong)


@pytest.mark.parametrize(
    ("form", "right", "wrong"),
    [
        ({"type": "token", "token": CALL}, [[CALL]], [[0], [OTHER], []]),
        ({"type": "token", "token": "<call>"}, [[CALL]], [[0], [OTHER]]),
        ({"type": "exclude_token", "exclude_tokens": [CALL]}, [[0], [OTHER]], [[CALL], []]),
        ({"type": "exclude_token", "exclude_tokens": ["<call>"]}, [[0], [OTHER]], [[CALL]]),
        ({"type": "any_tokens"}, [[], [0, CALL, OTHER]], []),
        ({"type": "any_tokens", "exclude_tokens": [CALL, 0], "max_tokens": 2}, [[], [OTHER, 1]], [[0], [1, 1, 1]]),
        (
            {"type": "tag", "begin": {"type": "token", "token": CALL}, "content": A, "end": {"token": OTHER}},
            [[CALL, 0, OTHER]],
            [[0], [CALL, 0], [CALL, 1, OTHER]],
        ),
    ],
)
def test_tokens_by_number_and_by_name(form: Any, right: list[list[int]], wrong: list[list[int]]) -> None:
    automaton = compiled(form)
    assert [automaton.accepts(tokens) for tokens in [*right, *wrong]] == [True] * len(right) + [False] * len(wrong)


def test_texts_that_may_not_occur_around_tags() -> None:
    tag = {"type": "tag", "begin": "<f>", "content": NUMBER, "end": "</f>"}
    form = {"type": "triggered_tags", "triggers": ["<f>"], "tags": [tag], "excludes": ["<think>"]}
    automaton = compiled(form, vocabulary_of(bundled_model()[1]))
    assert automaton.accepts("so <f>1</f> and <thin")
    assert not automaton.accepts("so <think> <f>1</f>")
    assert not automaton.accepts("so <f>1</f> <think>")


TAGS = [
    {"type": "tag", "begin": "<f>", "content": {"type": "regex", "pattern": "[ab]"}, "end": "</f>"},
    {"type": "tag", "begin": "<g=1>", "content": A, "end": ""},
    {"type": "tag", "begin": "<g=2>", "content": ONE, "end": ";"},
]
TEXTS = [
    "",
    "so",
    "<",
    "<f>a</f>",
    "so <f>a</f>",
    "<f>b</f> so",
    "so <g=1>a",
    "<g=2>1;<f>a</f>",
    "<f>c</f>",
    "so <g=",
    "<no>",
]


@pytest.mark.parametrize(
    ("options", "right"),
    [
        ({}, [0, 1, 2, 3, 4, 5, 6, 7, 10]),
        ({"at_least_one": True}, [3, 5, 7]),
        ({"stop_after_first": True}, [0, 1, 2, 3, 4, 6, 10]),
        ({"at_least_one": True, "stop_after_first": True}, [3]),
        ({"excludes": ["<no>"]}, [0, 1, 2, 3, 4, 5, 6, 7]),
        ({"stop_after_first": True, "excludes": ["<no>"]}, [0, 1, 2, 3, 4, 6]),
        ({"at_least_one": True, "excludes": ["<no>"]}, [3, 5, 7]),
    ],
)
def test_how_many_tags_there_are_and_where(options: Any, right: list[int]) -> None:
    form = {"type": "triggered_tags", "triggers": ["<f>", "<g="], "tags": TAGS, **options}
    automaton = compiled(form, vocabulary_of(bundled_model()[1]))
    assert [number for number, text in enumerate(TEXTS) if automaton.accepts(text)] == right


ANY = {"type": "any_text"}
AROUND = {"type": "triggered_tags", "triggers": ["b"], "tags": [{"begin": "b", "content": ONE, "end": "a"}]}


def test_structures_of_engines_with_what_they_leave_open() -> None:
    tag = {"structures": [{"begin": "<f>", "schema": None, "end": ""}], "triggers": ["<f>"], "at_least_one": True}
    automaton = tokenfst.compile(constraint_of("structural_tag", json.dumps(tag)), vocabulary_of(bundled_model()[1]))
    assert automaton.accepts('<f>["a"] so')
    assert not automaton.accepts('so <f>["a"]')


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({**NUMBER, "style": "qwen_xml"}, "format: arguments between tags are an object"),
        ({**NUMBER, "excludes": ["x"]}, "format.excludes is not supported"),
        ({**AROUND, "triggers": ["b", "x"]}, r"^format.triggers\[1\] is 'x', with which no tag begins"),
        (
            {**AROUND, "triggers": ["b", ""]},
            r"^format.triggers\[1\] is '', and its tags begin with other triggers",
        ),
        (
            {**AROUND, "triggers": ["ba", "b"], "tags": [{"begin": "ba", "content": ONE, "end": "a"}]},
            r"^format.triggers\[1\] is 'b', and its tags begin with other triggers",
        ),
        ({"type": "any_text", "max_tokens": 3}, "format.max_tokens is not supported: 3"),
        ({"type": "any_text", "max_tokens": 0}, "format.max_tokens is not supported: 0"),
        ({"type": "any_text", "max_chars": 0.0}, "format.max_chars is not supported: 0.0"),
        ({"type": "any_text", "exclude": ["a"]}, r"format.exclude is not supported: \['a'\]"),
        ({**AROUND, "at_least_one": "x"}, "format.at_least_one is true or false, not 'x'"),
        ({**AROUND, "tags": [{"begin": "b", "content": ONE, "ends": "a"}]}, r"tags\[0\].ends is not supported: 'a'"),
        ({"type": "sequence", "elements": [{"type": "repeat", "content": A, "min": -1, "max": 2}]}, r"\[0\].min is a"),
        ({"type": "any_tokens", "max_tokens": "2"}, "format.max_tokens is a number from 0, not '2'"),
        ({"type": "token", "token": [1]}, "format.token are numbers of tokens, or the name of one"),
        ({"type": "token", "token": -5}, "format.token are numbers of tokens, or the name of one"),
        ({"type": "content"}, "a structural tag of type 'content' is not supported"),
        ({"type": "tag", "begin": "a", "content": "x", "end": "b"}, "^format.content has no 'type'"),
        ({"type": "triggered_tags", "triggers": ["a"], "tags": [], "excludes": [1]}, "tags is a list"),
        ({"type": "repeat", "content": A, "min": 3, "max": 2}, "format.max is 2, which is less than format.min, 3"),
        ({"type": "any_text", "excludes": ["a", ""]}, r"format.excludes\[1\] is the empty text"),
        (
            {"type": "triggered_tags", "triggers": ["a"], "tags": [{"begin": "a", "content": A}], "excludes": [""]},
            r"format.excludes\[0\] is the empty text",
        ),
        ({"type": "any_text", "excludes": ["\ud800"]}, r"format.excludes\[0\]: half of a surrogate pair, '.ud800'"),
        ({"type": "const_string", "value": "a\udc00"}, "format.value: half of a surrogate pair, '.udc00'"),
        ({"type": "sequence", "elements": [{"type": "regex", "pattern": "("}]}, r"^format.elements\[0\]: a group is"),
        ({"type": "optional", "content": {"type": "grammar", "grammar": "root ::= ("}}, "^format.content: a paren"),
    ],
)
def test_what_is_not_held_is_refused(form: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compiled(form)


def test_choices_are_characters() -> None:
    with pytest.raises(ValueError, match=r"the choices\[1\]: half of a surrogate pair, '.ud800', is not a character"):
        constraint_of("choice", '["a", "\\ud800"]')


def nested(depth: int) -> str:
    return '{"format": ' + '{"type": "star", "content": ' * depth + json.dumps(A) + "}" * (depth + 1)


def test_what_is_nested_too_deep_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving.vllm.engine, "_READING_SECONDS", 60)  # whatever else the machine does
    for depth in (600, 100_000):  # too deep for the formats, and too deep for JSON
        with pytest.raises(ValueError, match=r"too deep|is not JSON"):
            constraint_of("structural_tag", nested(depth))
    with pytest.raises(ValueError, match="too deep"):
        check_constraint("structural_tag", nested(600))
    tag: Any = {"type": "content"}
    for _ in range(600):
        tag = {"type": "star", "content": tag}
    with pytest.raises(ValueError, match="too deep"):
        framed({"format": tag}, json_schema({}))


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("regex", "ab"),
        ("choice", '["a"]'),
        ("grammar", 'root ::= "a"'),
        ("structural_tag", json.dumps({"format": {"type": "or", "elements": [A, ANY]}})),
    ],
)
def test_reading_has_a_deadline_whatever_is_read(kind: Any, text: str) -> None:
    constraint_of(kind, text)
    with pytest.raises(LimitExceeded) as late:
        constraint_of(kind, text, limits=Limits(seconds=1e-9))
    assert late.value.limit == "seconds"


def test_the_formats_of_a_tag_share_one_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []

    def slow(*arguments: Any, **options: Any) -> Any:
        read.append(len(read))
        time.sleep(0.02)
        return json_schema(*arguments, **options)

    monkeypatch.setattr(serving.json_texts, "json_schema", slow)
    form = {"format": {"type": "or", "elements": [ONE] * 100}}
    with pytest.raises(LimitExceeded):
        constraint_of("structural_tag", json.dumps(form), limits=Limits(seconds=0.05))
    assert len(read) < 10


@pytest.mark.parametrize("error", [KeyError("no"), TypeError("no"), RecursionError("no"), TooManyConfigurations("no")])
def test_the_front_end_refuses_whatever_reading_raises(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*arguments: Any, **options: Any) -> None:
        raise error

    monkeypatch.setattr(serving.vllm.engine, "constraint_of", failing)
    with pytest.raises(ValueError, match="no"):
        check_constraint("regex", f"a test of {error!r}")


def test_a_token_that_nobody_knows() -> None:
    with pytest.raises(VocabularyError, match="<nobody>"):
        compiled({"type": "token", "token": "<nobody>"})


def test_a_constraint_in_a_frame() -> None:
    elements = [{"type": "optional", "content": A}, {"type": "token", "token": CALL}, {"type": "content"}]
    frame = {"type": "structural_tag", "format": {"type": "sequence", "elements": elements}}
    automaton = tokenfst.compile(framed(frame, json_schema({"type": "integer"})), LETTERS)
    assert automaton.accepts([0, CALL, 2, 2])
    assert automaton.accepts([CALL, 2])
    assert not automaton.accepts([2])
    words = np.zeros(1, np.int32)
    automaton.fill_bitmask(automaton.start, words)
    assert words[0] == 1 << 0 | 1 << CALL


# Whitespace


@pytest.mark.parametrize(
    ("blanks", "right", "wrong"),
    [
        (blanks_up_to(2), '{ "a" \n: 1}', '{   "a": 1}'),
        (blanks_up_to(0), '{"a":1}', '{"a": 1}'),
        (blanks_like(" ?"), '{ "a" : 1 }', '{  "a": 1}'),
        (blanks_like(r"[\n\t ]*"), '{\t\n     "a":1}', '{\r"a":1}'),
    ],
)
def test_white_space_as_an_operator_says(blanks: Any, right: str, wrong: str) -> None:
    constraint = constraint_of("json", '{"type": "object"}', blanks=blanks)
    automaton = tokenfst.compile(constraint, vocabulary_of(bundled_model()[1]))
    assert automaton.accepts(right)
    assert not automaton.accepts(wrong)


def test_white_space_of_one_part() -> None:
    form = {"type": "json_schema", "json_schema": {"type": "object"}, "max_whitespace_cnt": 1}
    automaton = compiled(form, vocabulary_of(bundled_model()[1]))
    assert automaton.accepts('{ "a" : 1 }')
    assert not automaton.accepts('{  "a": 1}')


def test_a_pattern_of_what_is_no_white_space() -> None:
    with pytest.raises(ValueError, match="matches b'_', which is not whitespace in JSON"):
        blanks_like("[ _]?")


ARGUMENTS = {"properties": {"city": {"enum": ["Oslo"]}, "days": {"type": "integer"}}, "additionalProperties": False}


def styled(style: str, begin: str, end: str) -> TokenAutomaton:
    content = {"type": "json_schema", "json_schema": ARGUMENTS, "style": style}
    tag = {"type": "tag", "begin": begin, "content": content, "end": end}
    return compiled({"type": "triggered_tags", "triggers": [begin], "tags": [tag]}, vocabulary_of(bundled_model()[1]))


def test_arguments_between_tags() -> None:
    automaton = styled("qwen_xml", "<function=f>\n", "\n</function>")
    city, days = "<parameter=city>\nOslo\n</parameter>", "<parameter=days>\n3\n</parameter>"
    for inside in (f"{city}\n{days}", city, f"{days}\n", "", "<parameter=city>Oslo</parameter>"):
        assert automaton.accepts(f"I see <function=f>\n{inside}\n</function> so"), inside
    for inside in (f"{days}\n{city}", city.replace("Oslo", "Rome"), city.replace("city", "town"), '{"city": "Oslo"}'):
        assert not automaton.accepts(f"I see <function=f>\n{inside}\n</function> so"), inside


@pytest.mark.parametrize(
    ("style", "inside"),
    [
        ("glm_xml", "<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>\n"),
        ("minimax_xml", '<parameter name="city">Oslo</parameter>\n'),
        ("deepseek_xml", '<｜DSML｜parameter name="city" string="true">Oslo</｜DSML｜parameter>\n'),
        ("deepseek_v4_1_xml", '<｜DSML｜ parameter name="city" string="true">Oslo</｜DSML｜ parameter>\n'),
    ],
)
def test_styles_of_arguments(style: str, inside: str) -> None:
    automaton = styled(style, "<f>", "</f>")
    assert automaton.accepts(f"<f>{inside}</f>")
    assert not automaton.accepts(f"<f>{inside.replace('Oslo', 'Rome')}</f>")


def test_line_breaks_belong_to_a_value_where_tags_have_none() -> None:
    """MiMo's values are verbatim, and those of Qwen stand on lines of their own."""
    on_lines, on_one = (styled("qwen_xml", begin, "</function>") for begin in ("<function=f>\n", "<function=f>"))
    padded = "<parameter=city>\nOslo\n</parameter></function>"
    assert on_lines.accepts("<function=f>\n" + padded)
    assert not on_one.accepts("<function=f>" + padded)
    assert on_one.accepts("<function=f>" + padded.replace("\n", ""))


@pytest.mark.parametrize("style", ["json", "qwen_xml"])
def test_properties_in_any_order(style: str) -> None:
    schema = {"properties": {"a": {"const": 1}, "b": {"const": 2}}, "required": ["a"], "additionalProperties": False}
    automata = [
        compiled(
            {"type": "json_schema", "json_schema": schema, "style": style, "any_order": order},
            vocabulary_of(bundled_model()[1]),
        )
        for order in (True, False)
    ]
    for names, expected in {"ab": [True, True], "ba": [True, False], "b": [False, False], "aa": [False, False]}.items():
        members = [("a", 1) if name == "a" else ("b", 2) for name in names]
        text = "{" + ", ".join(f'"{name}": {value}' for name, value in members) + "}"
        if style == "qwen_xml":
            text = "".join(f"<parameter={name}>{value}</parameter>" for name, value in members)
        assert [automaton.accepts(text) for automaton in automata] == expected, names


def test_the_older_name_of_arguments_between_tags() -> None:
    automaton = compiled({"type": "qwen_xml_parameter", "json_schema": ARGUMENTS}, vocabulary_of(bundled_model()[1]))
    assert automaton.accepts("<parameter=days>3</parameter>")
    assert not automaton.accepts('{"days": 3}')


def test_a_string_with_a_style_has_no_quotes() -> None:
    content = {"type": "json_schema", "json_schema": {"type": "string", "minLength": 2}, "style": "qwen_xml"}
    automaton = compiled(
        {"type": "tag", "begin": "<f>", "content": content, "end": "<end>"}, vocabulary_of(bundled_model()[1])
    )
    for inside, allowed in {
        "ab": True,
        '"a"': True,
        "\n\n": True,
        "a": False,
        "a<end>": False,
        "</parameter>": False,
    }.items():
        assert automaton.accepts(f"<f>{inside}<end>") == allowed, inside


@pytest.mark.parametrize("style", ["cohere_xml", "kimi_k3_xml", "xml", None, []])
def test_other_styles_are_refused_by_name(style: Any) -> None:
    with pytest.raises(ValueError, match=r"format\.style is not supported"):
        compiled({"type": "json_schema", "json_schema": {}, "style": style})


def test_alternatives_with_schemas_that_begin_alike() -> None:
    """A model's wildcard for arguments of any type begins as those with schemas do."""

    def tag(content: Any) -> Any:
        return {"type": "tag", "begin": "<f>", "content": content, "end": "</f>"}

    words = {"type": "regex", "pattern": r"\[[a-z]*\]|x"}
    numbers = {"type": "json_schema", "json_schema": {"type": "array", "items": {"$ref": "#/$defs/a"}, "$defs": NESTED}}
    form = {"type": "plus", "content": {"type": "or", "elements": [tag(words), tag(numbers)]}}
    automaton = compiled(form, vocabulary_of(bundled_model()[1]))
    for inside in ("[abc]", "x", "[1, [2, [3]]]", "[]"):
        assert automaton.accepts(f"<f>{inside}</f><f>x</f>"), inside
    for inside in ("[1, a]", "[a", "[[a]]", "xx", "{}"):
        assert not automaton.accepts(f"<f>{inside}</f><f>x</f>"), inside


NESTED = {"a": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"$ref": "#/$defs/a"}}]}}


STRUCTURE = {"begin": "<a>", "schema": {"const": 1}, "end": "</a>"}


@pytest.mark.parametrize(
    ("more", "place"),
    [
        ({"excludes": ["e"]}, "excludes"),
        ({"style": "qwen_xml"}, "style"),
        ({"structures": [STRUCTURE | {"style": "qwen_xml"}]}, r"structures\[0\].style"),
        ({"format": A}, "structures"),
    ],
)
def test_fields_that_whole_tags_do_not_have_are_refused(more: dict[str, Any], place: str) -> None:
    tag = {"type": "structural_tag", "structures": [STRUCTURE], "triggers": ["<a"]} | more
    with pytest.raises(ValueError, match=f"^{place} is not supported|^(structures|triggers) is not supported"):
        constraint_of("structural_tag", json.dumps(tag))


def test_the_older_form_may_stop_after_its_first_tag() -> None:
    tag = {"type": "structural_tag", "structures": [STRUCTURE], "triggers": ["<a"], "stop_after_first": True}
    automaton = tokenfst.compile(constraint_of("structural_tag", json.dumps(tag)), ALL_BYTES)
    assert automaton.accepts("<a>1</a>")
    assert not automaton.accepts("<a>1</a> and more")
    more = tokenfst.compile(constraint_of("structural_tag", json.dumps(tag | {"stop_after_first": None})), ALL_BYTES)
    assert more.accepts("<a>1</a> and more")
