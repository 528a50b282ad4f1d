"""Arguments between tags: every value under small schemas, held against a reader of these formats, and objects held
against the same objects as JSON."""

from __future__ import annotations

import itertools
import json
import re
from datetime import date
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import tokenfst
from automata import TextNotAllowed
from automata.errors import SchemaError, UnsatisfiableSchema, UnsupportedSchema
from constraints import json_schema
from constraints.json_schema.building.tags import Tags
from constraints.tools import ToolCall, WireFormat, tool_calls
from constraints.tools.tagged import DEEPSEEK, GLM, MINIMAX, QWEN, QWEN_COMPACT, TaggedArguments
from constraints.types import typed
from tokenfst.vocabulary.all_bytes import ALL_BYTES

# For each format: its tags around a string and around another value, and what is a tag in it.
FORMATS: dict[str, tuple[Tags, str, str, str]] = {
    "qwen": (
        QWEN,
        "<parameter={}>{}</parameter>",
        "<parameter={}>{}</parameter>",
        "<.?(parameter|function|tool_call)[=>]",
    ),
    "compact": (
        QWEN_COMPACT,
        "<parameter={}>{}</parameter>",
        "<parameter={}>{}</parameter>",
        "<.?(parameter|function|tool_call)[=>]",
    ),
    "glm": (
        GLM,
        "<arg_key>{}</arg_key><arg_value>{}</arg_value>",
        "<arg_key>{}</arg_key>\n<arg_value>{}</arg_value>",
        "</?(arg_key|arg_value|tool_call)>",
    ),
    "minimax": (
        MINIMAX,
        '<parameter name="{}">{}</parameter>',
        '<parameter name="{}">{}</parameter>',
        "<.?(parameter|invoke|minimax:tool_call)[ >]",
    ),
    "deepseek": (
        DEEPSEEK,
        '<｜DSML｜parameter name="{}" string="true">{}</｜DSML｜parameter>',
        '<｜DSML｜parameter name="{}" string="false">{}</｜DSML｜parameter>',
        "</?｜DSML｜",
    ),
}

# Schemas of one value, each with the kinds of values other than strings that it may have.
VALUES: list[tuple[Any, str]] = [
    ({"type": "string"}, ""),
    ({"type": "string", "minLength": 2}, ""),
    ({"type": "string", "maxLength": 2}, ""),
    ({"type": "string", "pattern": "^[a-z\\n]*$"}, ""),
    ({"type": "string", "enum": ["a", "null", "5", "\na\n", "</parameter", "<parameter=x>", "<｜DSML｜"]}, ""),
    ({"type": ["string", "null"]}, "null"),
    ({"type": ["string", "integer"], "minimum": 5, "minLength": 1}, "number"),
    ({"type": ["string", "boolean"]}, "boolean"),
    ({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "integer"}}]}, "array"),
    ({"anyOf": [{"type": "string", "maxLength": 3}, {"type": "object", "required": ["a"]}]}, "object"),
    ({"type": "integer"}, "number"),
    ({"type": "boolean"}, "boolean"),
    ({"type": "array", "items": {"type": "string"}}, "array"),
    ({"type": "object", "additionalProperties": {"type": "integer"}}, "object"),
    ({"enum": ["a", 5, None, [1]]}, "number null array"),
    (
        {"type": ["null", "boolean", "number", "string", "array", "object"], "minLength": 2},
        "null boolean number array object",
    ),
]
# Texts between tags: those without blanks, and those with some.
LINES = """
a ab abc é "a" < </ </parameter null NULL true false True 0 1 5 -1.5 1_0 +5 [ [] [1] ["a"] { {} {"a":1} {a a[ NaN
<parameter=x> </function> <arg_key> </invoke> <｜DSML｜ <tool_call>
"""
BLANK = ["", "\n", "\n\n", "\na", "a\n", "\na\n", "\n\na\n", "a\n\n", " null", "\nnull\n", "x null", "\n5\n", "\n\n5"]
PIECES = [*LINES.split(), *BLANK, "\u20035", "१२", "-1٢", "१.५", "\n[1]\n", " [", '{"a": 1}', '\n{"a": "b"}\n']
KINDS = {type(None): "null", bool: "boolean", int: "number", float: "number", list: "array", dict: "object"}
LENIENT = {
    "null": r"(?i:null)",
    "boolean": r"(?i:true|false)|[01]",
    "number": r"[+-]?[\d_.]*\d[\d_.]*([eE][+-]?\d+)?",
    "array": r"(?s:\[.*)",
    "object": r"(?s:\{.*)",
}


def texts_of(tags: Tags, template: str, piece: str) -> str:
    return template.format("x", piece) + "\n"


def as_json(piece: str, kinds: str) -> tuple[Any] | None:
    """The value other than a string that a piece is the JSON of, spelled as `json.dumps` spells it."""
    try:
        value = json.loads(piece, parse_constant=lambda _: "a string")
    except ValueError:
        return None
    spelled = json.dumps(value), json.dumps(value, separators=(",", ":"))
    return (value,) if KINDS.get(type(value)) in kinds.split() and piece in spelled else None


def expected(piece: str, schema: Any, kinds: str, tags: Tags, own: str, is_text: bool | None) -> tuple[Any] | None:
    """The value as which a piece is read, if it is allowed; `is_text` is what the tags say."""
    trimmed = piece.removeprefix("\n").removesuffix("\n") if tags.is_padded else piece
    valid = Draft202012Validator(schema).is_valid
    if is_text is not True:
        value = as_json(trimmed, kinds)
        if value:
            return value if valid(value[0]) else None
        ambiguous = any(re.fullmatch(LENIENT[kind], piece.strip()) for kind in kinds.split())
        if is_text is False or ambiguous:
            return None
    return (trimmed,) if valid(trimmed) and not re.search(own, piece) else None


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(("schema", "kinds"), VALUES)
def test_values(form: str, schema: Any, kinds: str) -> None:
    """Every piece of text under every schema: allowed, and read, exactly where a reader finds a valid value."""
    tags, as_text, as_value, own = FORMATS[form]
    whole = {"type": "object", "properties": {"x": schema}, "required": ["x"], "additionalProperties": False}
    constraint = TaggedArguments(json_schema(whole), tags)
    automaton = tokenfst.compile(constraint, ALL_BYTES)
    for piece, template in itertools.product(PIECES, {as_text, as_value}):
        is_text = (template == as_text) if tags.marks_strings else None
        value = expected(piece, schema, kinds, tags, own, is_text)
        text = texts_of(tags, template, piece)
        assert automaton.accepts(text.encode()) == (value is not None), (piece, value)
        if value:
            read = constraint.parse(text)
            assert read == {"x": value[0]}
            assert type(read["x"]) is type(value[0])


@pytest.mark.parametrize("form", FORMATS)
def test_a_value_without_a_schema_is_any_text(form: str) -> None:
    tags, as_text, _, own = FORMATS[form]
    constraint = TaggedArguments(json_schema({"properties": {"x": True}}), tags)
    for piece in PIECES:
        text = as_text.format("x", piece)
        assert constraint.allows(text) == (re.search(own, piece) is None), piece
        if constraint.allows(text):
            trimmed = piece.removeprefix("\n").removesuffix("\n") if tags.is_padded else piece
            assert constraint.parse(text)["x"] in (trimmed, *(as_json(piece.strip(), " ".join(LENIENT)) or ()))


# Schemas of objects, each with the names under which an integer may stand.
OBJECTS: list[tuple[Any, str]] = [
    (True, "a b zz"),
    (
        {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}, "required": ["b"]},
        "a zz",
    ),
    ({"properties": {"a": {"type": "integer"}, "b": {"type": "string"}}, "additionalProperties": False}, "a"),
    ({"properties": {"b": {"const": "1"}}, "additionalProperties": {"type": "integer"}}, "a zz"),
    ({"patternProperties": {"^z": {"type": "integer"}}, "additionalProperties": {"type": "string"}}, "zz"),
    ({"propertyNames": {"maxLength": 1}, "minProperties": 1, "maxProperties": 2}, "a b zz"),
    (
        {
            "properties": {"a": {}, "b": {}, "zz": {}},
            "dependentRequired": {"a": ["zz"]},
            "additionalProperties": False,
        },
        "a b zz",
    ),
    (
        {
            "properties": {"a": {"enum": ["x", "1"]}, "b": {"type": "integer"}, "zz": {"type": "string"}},
            "if": {"properties": {"a": {"const": "x"}}, "required": ["a"]},
            "then": {"required": ["zz"]},
            "else": {"required": ["b"]},
        },
        "b",
    ),
    ({"oneOf": [{"required": ["a"]}, {"required": ["b"]}], "properties": {"a": {"type": "string"}}}, "b zz"),
]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(("schema", "integers"), OBJECTS)
@pytest.mark.parametrize("order", ["schema", "any"])
def test_objects(form: str, schema: Any, integers: str, order: Any) -> None:
    """Members are allowed exactly where they are as JSON, in the same order."""
    tags, as_text, as_value, _ = FORMATS[form]
    known = json_schema(schema, property_order=order)
    constraint = TaggedArguments(known, tags)
    automaton = tokenfst.compile(constraint, ALL_BYTES)

    def readings(name: str) -> list[tuple[str, str]]:
        """Members with a name, each between tags and as JSON."""
        text = [(as_text.format(name, piece), f'"{name}": "{piece}"') for piece in ("x", "1")]
        number = (as_value.format(name, "1"), f'"{name}": 1')
        if tags.marks_strings:
            return [*text, number]
        return [text[0], number] if name in integers.split() else text

    num_allowed = 0
    for names in itertools.chain.from_iterable(itertools.permutations(("a", "b", "zz"), count) for count in range(4)):
        for members in itertools.product(*map(readings, names)):
            text = "\n".join(member for member, _ in members)
            as_json_text = "{" + ", ".join(member for _, member in members) + "}"
            is_allowed = known.allows(as_json_text)
            assert automaton.accepts(text.encode()) == is_allowed, text
            if is_allowed:
                num_allowed += 1
                assert constraint.parse(text) == json.loads(as_json_text)
    assert num_allowed


@pytest.mark.parametrize("form", FORMATS)
def test_line_breaks_stand_after_members(form: str) -> None:
    """And not before the first one, since some readers would take it for a part of the tool's name."""
    tags, as_text, _, _ = FORMATS[form]
    constraint = TaggedArguments(json_schema({}), tags)
    one = as_text.format("a", "x")
    for text in ("", one, f"{one}\n", f"{one}{one}", f"{one}\n{one}\n"):
        assert constraint.allows(text), text
    for text in ("\n", f"\n{one}", f"{one}\n\n", f"{one} {one}", f" {one}"):
        assert not constraint.allows(text), text


@pytest.mark.parametrize("form", FORMATS)
def test_other_names_are_those_that_tags_can_contain(form: str) -> None:
    tags, as_text, _, _ = FORMATS[form]
    constraint = TaggedArguments(json_schema({}), tags)
    right = ["a", "_b-c.d9", "9", "a b", "é", "http://example.org/?a=b"]
    for name in (*right, "", "a<b", " a", "a ", "\u2003a", "a\tb", "'"):
        assert constraint.allows(as_text.format(name, "x")) == (name in right), name


def test_listed_names_may_have_blanks_but_no_tags() -> None:
    constraint = TaggedArguments(json_schema({"properties": {"größe in m": {"type": "number"}}}), QWEN)
    assert constraint.parse("<parameter=größe in m>\n1.5\n</parameter>\n") == {"größe in m": 1.5}
    for name in ("a>b", " a", "a\n", '"', ""):
        with pytest.raises(UnsupportedSchema, match="cannot be written in a tag"):
            TaggedArguments(json_schema({"properties": {name: {}}}), QWEN)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("more", [{}, {"pattern": "^[a-z\\n]*$"}, {"type": ["string", "integer"]}])
def test_long_strings_are_counted(form: str, more: Any) -> None:
    """Both bounds are exact, where line breaks belong to the tags too, and take no time."""
    tags, as_text, _, _ = FORMATS[form]
    known = json_schema({"properties": {"x": {"type": "string", "minLength": 99, "maxLength": 6_000, **more}}})
    automaton = tokenfst.compile(TaggedArguments(known, tags), ALL_BYTES)
    for length in (98, 99, 100, 5_999, 6_000, 6_001, 6_002, 6_003):
        for begin, end in itertools.product(("", "\n"), repeat=2):
            piece = begin + "a" * (length - len(begin) - len(end)) + end
            trimmed = piece.removeprefix("\n").removesuffix("\n") if tags.is_padded else piece
            allowed = 99 <= len(trimmed) <= 6_000
            assert automaton.accepts(as_text.format("x", piece).encode()) == allowed, (length, begin, end)


def test_what_no_object_between_tags_can_be() -> None:
    value = {"properties": {"a": {"enum": ["<parameter=b>"]}}, "required": ["a"]}
    with pytest.raises(UnsatisfiableSchema):
        TaggedArguments(json_schema(value), QWEN)
    with pytest.raises(SchemaError, match="are an object"):
        TaggedArguments(json_schema({"type": "integer"}), QWEN)


def test_a_model_of_pydantic_is_read() -> None:
    def book(day: date, guests: int = 2) -> None: ...

    constraint = TaggedArguments(typed(book), GLM)
    assert constraint.parse("<arg_key>day</arg_key><arg_value>2026-11-27</arg_value>") == {"day": date(2026, 11, 27)}
    with pytest.raises(TextNotAllowed):
        constraint.parse("<arg_key>day</arg_key><arg_value>2026-11-31</arg_value>")


@pytest.mark.parametrize("text", ["1" * 5_000, "[" * 100_000 + "]" * 100_000])
def test_what_python_does_not_read_is_no_string(text: str) -> None:
    schema = {"properties": {"a": {"type": ["integer", "array"]}}, "additionalProperties": False}
    written = f"<arg_key>a</arg_key><arg_value>{text}</arg_value>"
    constraint = TaggedArguments(json_schema(schema), GLM)
    assert constraint.allows(written)
    with pytest.raises(TextNotAllowed):
        constraint.parse(written)
    calls = tool_calls([("f", schema)], format="glm")
    with pytest.raises(TextNotAllowed):
        calls.parse(f"<tool_call>f{written}</tool_call>")


SEARCH = ("search", {"properties": {"query": {"type": "string"}, "top": {"type": "integer"}}, "required": ["query"]})


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (
            "qwen-coder",
            "<tool_call>\n<function=search>\n<parameter=query>\na < b\n</parameter>\n<parameter=top>\n3\n</parameter>\n"
            "</function>\n</tool_call>",
        ),
        (
            "glm",
            "<tool_call>search\n<arg_key>query</arg_key>\n<arg_value>a < b</arg_value>\n<arg_key>top</arg_key>\n"
            "<arg_value>3</arg_value>\n</tool_call>",
        ),
        (
            "minimax",
            '<minimax:tool_call>\n<invoke name="search">\n<parameter name="query">a < b</parameter>\n'
            '<parameter name="top">3</parameter>\n</invoke>\n</minimax:tool_call>',
        ),
        (
            "deepseek-v3.2",
            '<｜DSML｜function_calls>\n<｜DSML｜invoke name="search">\n'
            '<｜DSML｜parameter name="query" string="true">a < b</｜DSML｜parameter>\n'
            '<｜DSML｜parameter name="top" string="false">3</｜DSML｜parameter>\n'
            "</｜DSML｜invoke>\n</｜DSML｜function_calls>",
        ),
    ],
)
def test_what_chat_templates_write_is_read(form: Any, text: str) -> None:
    calls = tool_calls([SEARCH], format=form, text="before")
    assert calls.parse("I look.\n" + text) == ("I look.\n", ToolCall("search", {"query": "a < b", "top": 3}))
    assert calls.parse("No call.") == ("No call.",)


def test_json_in_a_value_contains_no_tags() -> None:
    """Not in strings of any kind, nor in names that the schema does not list."""
    schema = {"properties": {"a": {"type": ["array", "object"], "items": {"maxLength": 100}}, "b": {"type": "array"}}}
    constraint = TaggedArguments(json_schema(schema), DEEPSEEK)
    for value in ([""], {"": [1]}, [[{"a": ""}]], {"b": ""}):
        for inside, allowed in {"x": True, "<｜DSML": True, "</｜DSML｜": False, "< /parameter>": True}.items():
            written = json.dumps(value, ensure_ascii=False).replace('""', json.dumps(inside, ensure_ascii=False))
            for name in ("a", "b"):
                text = f'<｜DSML｜parameter name="{name}" string="false">{written}</｜DSML｜parameter>'
                assert constraint.allows(text) == (allowed and (name == "a" or isinstance(value, list))), text


@pytest.mark.parametrize("form", ["glm", "qwen-coder", "minimax", "deepseek-v4"])
def test_strings_that_tags_cut_off_are_not_counted_among_different_items(form: WireFormat) -> None:
    """No dead end: a text that holds the closing tag is no string here."""
    close = {"glm": "</arg_value>", "deepseek-v4": "</｜DSML｜parameter>"}.get(form, "</parameter>")
    items = {"type": "array", "items": {"type": "string", "pattern": f"^(?:a|{close})$"}, "uniqueItems": True}
    schema = {"type": "object", "properties": {"s": {**items, "minItems": 2}}, "required": ["s"]}
    with pytest.raises((UnsupportedSchema, UnsatisfiableSchema)):
        tokenfst.compile(tool_calls([("f", schema)], format=form), ALL_BYTES)
    tool_calls([("f", {**schema, "properties": {"s": {**items, "minItems": 1}}})], format=form)


def test_no_string_is_a_number_for_python_where_a_number_may_stand() -> None:
    """`float` reads the decimal digits of all scripts."""
    schema = {"type": "object", "properties": {"x": {"type": ["string", "number"], "maxLength": 3}}, "required": ["x"]}
    automaton = tokenfst.compile(TaggedArguments(json_schema(schema), QWEN), ALL_BYTES)
    for char in map(chr, itertools.chain(range(0x20, 0xD800), range(0xE000, 0x20000))):
        if char.isdecimal():
            assert float(f"-1{char}") < 0
            assert not automaton.accepts(f"<parameter=x>\n{char}\n</parameter>\n") or char.isascii(), char
            assert automaton.accepts(f"<parameter=x>\n{char}a\n</parameter>\n"), char
