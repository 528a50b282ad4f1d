"""Calls of tools in each wire format: written by others, accepted and read; written by the automaton, read."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from typing import Annotated, Any, Literal, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mistral_common.protocol.instruct.messages import AssistantMessage
from mistral_common.protocol.instruct.tool_calls import FunctionCall
from mistral_common.protocol.instruct.tool_calls import ToolCall as MistralCall
from mistral_common.tokens.tokenizers.tekken import Tekkenizer
from pydantic import Field

import tokenfst
from automata import ByteAutomaton, TextNotAllowed, literal, random_strings
from automata.errors import SchemaError, UnsupportedSchema
from automata.limits import current_work
from automata.pushdown.automaton import PushdownAutomaton
from automata.visibly_pushdown import compile_visibly_pushdown
from automata.visibly_pushdown.builder import GrammarBuilder
from constraints import json_schema
from constraints.json_schema.strings import Spellings
from constraints.tools import PythonicCalls, ToolCall, ToolCalls, WireFormat, tool_calls
from constraints.tools.wire import WIRES

FORMATS: tuple[WireFormat, ...] = get_args(WireFormat)


@dataclass(frozen=True)
class Place:
    city: str
    country: str | None = None


def weather(place: Place, unit: Literal["celsius", "kelvin"] = "celsius") -> str:
    raise AssertionError("nothing is ever called")


def weather_in_days(days: Annotated[int, Field(ge=1, le=14)]) -> str:
    raise AssertionError("nothing is ever called")


SEARCH = {
    "type": "function",
    "function": {
        "name": "search",
        "description": "Finds pages.",
        "parameters": {
            "type": "object",
            "properties": {"query": {"type": "string"}, "limit": {"type": "integer", "minimum": 1}},
            "required": ["query"],
            "additionalProperties": False,
        },
    },
}
TOOLS: list[Any] = [weather, weather_in_days, SEARCH, ("now", None)]


def arguments_of(call: ToolCall) -> dict[str, Any]:
    """The arguments as JSON has them."""
    return {
        name: {"city": value.city, "country": value.country} if isinstance(value, Place) else value
        for name, value in call.arguments.items()
    }


def written(calls: list[ToolCall], form: WireFormat) -> str:
    """What the sources of a format show for these calls."""
    pairs = [(call.name, arguments_of(call)) for call in calls]
    as_objects = [{"name": name, "arguments": arguments} for name, arguments in pairs]
    match form:
        case "llama":
            return "; ".join(json.dumps({"name": name, "parameters": arguments}) for name, arguments in pairs)
        case "llama-function":
            return "".join(f"<function={name}>{json.dumps(arguments)}</function>" for name, arguments in pairs)
        case "qwen" | "hermes":
            return "\n".join(
                f"<tool_call>\n{json.dumps(each, ensure_ascii=False)}\n</tool_call>" for each in as_objects
            )
        case "mistral":
            return "[TOOL_CALLS]" + json.dumps(as_objects, ensure_ascii=False)
        case "mistral-args":
            return "".join(f"[TOOL_CALLS]{name}[ARGS]{json.dumps(arguments)}" for name, arguments in pairs)
        case "openai":
            return json.dumps([{"type": "function", "function": each} for each in as_objects])
        case "openai-string":
            strings = [{"name": name, "arguments": json.dumps(arguments)} for name, arguments in pairs]
            return json.dumps([{"type": "function", "function": each} for each in strings])
        case "qwen-coder":
            return "\n".join(
                f"<tool_call>\n<function={name}>\n"
                + "".join(f"<parameter={key}>\n{plain(value)}\n</parameter>\n" for key, value in arguments.items())
                + "</function>\n</tool_call>"
                for name, arguments in pairs
            )
        case "glm":
            return "".join(
                f"<tool_call>{name}"
                + "".join(
                    f"<arg_key>{key}</arg_key><arg_value>{plain(value)}</arg_value>" for key, value in arguments.items()
                )
                + "</tool_call>"
                for name, arguments in pairs
            )
        case "minimax":
            inside = "".join(
                f'<invoke name="{name}">\n'
                + "".join(f'<parameter name="{key}">{plain(value)}</parameter>\n' for key, value in arguments.items())
                + "</invoke>\n"
                for name, arguments in pairs
            )
            return f"<minimax:tool_call>\n{inside}</minimax:tool_call>"
        case "deepseek-v3.2" | "deepseek-v4":
            around = "function_calls" if form == "deepseek-v3.2" else "tool_calls"
            inside = "".join(
                f'<｜DSML｜invoke name="{name}">\n' + "".join(map(dsml, arguments.items())) + "</｜DSML｜invoke>\n"
                for name, arguments in pairs
            )
            return f"<｜DSML｜{around}>\n{inside}</｜DSML｜{around}>"
        case "pythonic":
            raise AssertionError(form)


def plain(value: Any) -> str:
    """A string as it is, all else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def dsml(argument: tuple[str, Any]) -> str:
    name, value = argument
    is_text = "true" if isinstance(value, str) else "false"
    return f'<｜DSML｜parameter name="{name}" string="{is_text}">{plain(value)}</｜DSML｜parameter>\n'


text = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
places = st.builds(Place, text, st.none() | text)
calls = st.one_of(
    places.map(lambda place: ToolCall("weather", {"place": place})),
    places.map(lambda place: ToolCall("weather", {"place": place, "unit": "kelvin"})),
    st.integers(1, 14).map(lambda days: ToolCall("weather_in_days", {"days": days})),
    text.map(lambda query: ToolCall("search", {"query": query})),
    st.builds(lambda query, limit: ToolCall("search", {"query": query, "limit": limit}), text, st.integers(1)),
    st.just(ToolCall("now", {})),
)
KNOWN = {
    form: tool_calls(TOOLS, format=form, parallel=True) for form in FORMATS if form not in ("openai-string", "pythonic")
}
IN_JSON = [form for form in KNOWN if not WIRES[form].tags]


def automaton_of(constraint: ToolCalls | PythonicCalls) -> ByteAutomaton | PushdownAutomaton:
    return constraint.to_automaton(current_work())


@pytest.mark.parametrize("form", KNOWN)
@settings(max_examples=30, deadline=None)
@given(several=st.lists(calls, min_size=1, max_size=3))
def test_what_models_are_shown_is_read(form: WireFormat, several: list[ToolCall]) -> None:
    assert KNOWN[form].parse(written(several, form)) == tuple(several)


@pytest.mark.parametrize("form", KNOWN)
def test_what_the_automaton_writes_is_read(form: WireFormat) -> None:
    automaton = automaton_of(KNOWN[form])
    flat = automaton if isinstance(automaton, ByteAutomaton) else automaton.expand(4)
    names = set()
    for each in random_strings(flat, 100, seed=1, max_length=250):
        names |= {call.name for call in KNOWN[form].parse(each.decode())}
    assert names == {"weather", "weather_in_days", "search", "now"}


@pytest.mark.parametrize("form", KNOWN)
def test_arguments_belong_to_their_tools(form: WireFormat) -> None:
    one = ToolCall("weather_in_days", {"days": 3})
    refused = [
        [ToolCall("weather_in_days", {"days": 15})],
        [ToolCall("search", {"days": 3})],
        [ToolCall("now", {"days": 3})],
        [ToolCall("other", {"days": 3})],
        [one, ToolCall("weather", {})],
        [],
    ]
    assert KNOWN[form].parse(written([one], form)) == (one,)
    for several in refused:
        with pytest.raises(TextNotAllowed):
            KNOWN[form].parse(written(several, form))
    for broken in (written([one], form)[:-1], written([one], form) + " ", ""):
        with pytest.raises(TextNotAllowed):
            KNOWN[form].parse(broken)


@pytest.mark.parametrize(("parallel", "allowed"), [(False, [1]), (True, [1, 2, 3, 4]), (2, [1, 2]), (1, [1])])
@pytest.mark.parametrize("form", ["llama", "mistral", "qwen"])
def test_how_many_calls(form: WireFormat, parallel: bool | int, allowed: list[int]) -> None:
    constraint = tool_calls([weather_in_days], format=form, parallel=parallel)
    for number in range(1, 5):
        several = [ToolCall("weather_in_days", {"days": day + 1}) for day in range(number)]
        if number in allowed:
            assert constraint.parse(written(several, form)) == tuple(several)
        else:
            with pytest.raises(TextNotAllowed):
                constraint.parse(written(several, form))


def test_mistral_common_writes_what_is_accepted() -> None:
    """The tokenizers' own methods, which encode calls for the model, with an encoder that keeps the text."""
    from mistral_common.tokens.tokenizers import instruct

    class Kept:
        def encode(self, written: str, bos: bool, eos: bool) -> list[str]:
            return [written]

    message = AssistantMessage(
        tool_calls=[
            MistralCall(id="null", function=FunctionCall(name="search", arguments='{"query": "é", "limit": 2}')),
            MistralCall(id="null", function=FunctionCall(name="now", arguments="{}")),
        ]
    )
    expected = (ToolCall("search", {"query": "é", "limit": 2}), ToolCall("now", {}))
    forms: dict[str, WireFormat] = {"V2": "mistral", "V3": "mistral", "V11": "mistral-args"}
    for version, form in forms.items():
        cls = getattr(instruct, f"InstructTokenizer{version}")
        made = cls.__new__(cls)
        made.tokenizer = Kept()
        made.TOOL_CALLS, made.ARGS = "[TOOL_CALLS]", "[ARGS]"
        assert KNOWN[form].parse("".join(made._encode_tool_calls_in_assistant_message(message))) == expected


def test_arguments_in_a_string() -> None:
    constraint = tool_calls([weather_in_days, ("now", None)], format="openai-string", parallel=True)
    several = [ToolCall("weather_in_days", {"days": 14}), ToolCall("now", {})]
    assert constraint.parse(written(several, "openai-string")) == tuple(several)
    with pytest.raises(TextNotAllowed):
        constraint.parse(written([ToolCall("weather_in_days", {"days": 15})], "openai-string"))
    with pytest.raises(UnsupportedSchema, match="nest to any depth"):
        tool_calls([("open", {"type": "object"})], format="openai-string")


def answer(yes: Literal["yes"]) -> None:
    raise AssertionError("nothing is ever called")


ANSWER = {"type": "object", "properties": {"yes": {"const": "yes"}}, "required": ["yes"], "additionalProperties": False}


@pytest.mark.parametrize("form", IN_JSON)
@pytest.mark.parametrize("tool", [answer, ("answer", ANSWER)])
def test_strings_of_arguments_may_be_spelled_in_any_way(form: WireFormat, tool: Any) -> None:
    expected = (ToolCall("answer", {"yes": "yes"}),)
    text = written(list(expected), form)
    plain, every = (tool_calls([tool], format=form, spellings=spellings) for spellings in get_args(Spellings))
    assert plain.parse(text) == every.parse(text) == expected
    for other in (text.replace(': "yes"', r': "\u0079es"'), text.replace('"yes":', r'"\u0079es":')):
        assert other != text
        assert every.parse(other) == expected
        for constraint in (plain, tool_calls([tool], format=form)):
            with pytest.raises(TextNotAllowed):
                constraint.parse(other)


def test_the_string_that_holds_arguments_may_be_spelled_in_any_way() -> None:
    expected = (ToolCall("answer", {"yes": "yes"}),)
    plain, every = (
        tool_calls([("answer", ANSWER)], format="openai-string", spellings=spellings)
        for spellings in get_args(Spellings)
    )
    text = written(list(expected), "openai-string")
    assert plain.parse(text) == every.parse(text) == expected
    inner, outer = (text.replace(r": \"yes", rf": \"{y}es") for y in (r"\\u0079", r"\u0079"))
    for other in (inner, outer):
        assert other != text
        assert every.parse(other) == expected
        with pytest.raises(TextNotAllowed):
            plain.parse(other)


def test_calls_as_python_writes_them() -> None:
    def now() -> None: ...

    constraint = tool_calls([weather, weather_in_days, now], format="pythonic", parallel=True)
    text = (
        "[weather(place=Place(city='Bergen')), weather(place=Place(city='Rome', country=None), unit=\"kelvin\"), now()]"
    )
    bergen, rome = (ToolCall("weather", {"place": Place(city)}) for city in ("Bergen", "Rome"))
    assert constraint.parse(text) == (
        bergen,
        ToolCall("weather", {**rome.arguments, "unit": "kelvin"}),
        ToolCall("now", {}),
    )
    for refused in ("[]", "[weather()]", "[weather_in_days(days=15)]", "[weather_in_days(3)]", "now()", "[now(),]"):
        with pytest.raises(TextNotAllowed):
            constraint.parse(refused)
    once = tool_calls([now], format="pythonic")
    assert once.parse("[now()]") == (ToolCall("now", {}),)
    with pytest.raises(TextNotAllowed):
        once.parse("[now(), now()]")
    with pytest.raises(UnsupportedSchema, match="not a function"):
        tool_calls([SEARCH], format="pythonic")


def test_markers_as_tokens() -> None:
    words = [b"[", b'{"name": "now", "arguments": {}}', b"]", b"[TOOL", b"_CALLS]", b"", b""]
    vocabulary = tokenfst.Vocabulary(words, [6], special_tokens={"[TOOL_CALLS]": 5})
    as_tokens = tool_calls([("now", None)], format="mistral", markers="tokens")
    automaton = tokenfst.compile(as_tokens, vocabulary)
    assert automaton.accepts([5, 0, 1, 2])
    assert not automaton.accepts([3, 4, 0, 1, 2])
    as_text = tokenfst.compile(tool_calls([("now", None)], format="mistral"), vocabulary)
    assert as_text.accepts([3, 4, 0, 1, 2])
    for decoded in ('[{"name": "now", "arguments": {}}]', '[TOOL_CALLS] [{"name": "now", "arguments": {}}]'):
        assert as_tokens.parse(decoded) == (ToolCall("now", {}),)
    by_name = tool_calls([("now", None), ("nowhere", None)], format="mistral-args", markers="tokens", parallel=True)
    assert by_name.parse("nowhere{}now{}") == (ToolCall("nowhere", {}), ToolCall("now", {}))


def test_recursive_arguments() -> None:
    schema = {"type": "object", "properties": {"next": {"$ref": "#"}}, "additionalProperties": False}
    constraint = tool_calls([("a", schema), ("b", schema)], format="qwen")
    deep: dict[str, Any] = {"next": {"next": {"next": {}}}}
    assert constraint.parse(written([ToolCall("b", deep)], "qwen")) == (ToolCall("b", deep),)


@pytest.mark.parametrize(
    ("tools", "options", "error", "message"),
    [
        ([], {"format": "llama"}, ValueError, "there must be one"),
        ([weather, weather], {"format": "llama"}, ValueError, "names of their own"),
        ([("a b", None)], {"format": "llama"}, ValueError, "letters, digits"),
        ([weather], {"format": "other"}, ValueError, "`format` is one of 'llama', .*, not 'other'"),
        ([weather], {"format": "llama", "parallel": -1}, ValueError, "not -1"),
        ([weather], {"format": "llama", "parallel": 0}, ValueError, "or a number from 1 to 10,000, not 0"),
        ([weather], {"format": "llama", "parallel": 2.5}, ValueError, "not 2.5"),
        ([weather], {"format": "llama", "parallel": "3"}, ValueError, "not '3'"),
        ([weather], {"format": "llama", "markers": "none"}, ValueError, "`markers`"),
        ([weather], {"format": "llama", "spellings": "some"}, ValueError, "`spellings` is one of 'plain', 'all'"),
        ([weather], {"format": "pythonic", "spellings": "all"}, ValueError, "strings in JSON, .* writes Python"),
        ([3], {"format": "llama"}, TypeError, "a tool is a function, .*, not 3"),
        ([("a", {"type": "array"})], {"format": "llama"}, SchemaError, "are an object"),
    ],
)
def test_mistakes(tools: list[Any], options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        tool_calls(tools, **options)


def test_joining() -> None:
    """Grammars with text between them: all texts of a small language, and no others."""
    schema = json_schema({"type": "array", "items": {"const": 1}, "maxItems": 1}, whitespace="compact")
    grammar = schema.to_visibly_pushdown()
    joining = GrammarBuilder()
    begin = joining.read(0, literal("<"))
    end = joining.read(begin, grammar)
    joining.read(end, literal("|"), begin)
    automaton = compile_visibly_pushdown(joining.grammar([joining.read(end, literal(">")), 0]))
    once = ["[]", "[1]"]
    for inside in ["", *once, *[f"{a}|{b}" for a in once for b in once], "[]|[]|[1]", "[1,1]", "|", "[]|", "[[]]"]:
        parts = inside.split("|")
        assert automaton.accepts(f"<{inside}>".encode()) == all(part in once for part in parts), inside
    assert automaton.accepts(b"")
    assert not automaton.accepts(b"<[]")


def test_over_the_tokens_of_a_real_model() -> None:
    """Mistral's own tokenizer writes the call, the marker as its token."""
    path = str(files("mistral_common") / "data" / "tekken_240911.json")
    vocabulary, tokenizer = tokenfst.from_tekken(path), Tekkenizer.from_file(path)
    marker = vocabulary.special_tokens["[TOOL_CALLS]"]
    automaton = tokenfst.compile(tool_calls(TOOLS, format="mistral", markers="tokens"), vocabulary)
    assert automaton.mask(automaton.start).nonzero()[0].tolist() == [marker]
    for days, allowed in [(3, True), (15, False)]:
        call = json.dumps([{"name": "weather_in_days", "arguments": {"days": days}}])
        written = tokenizer.encode(call, bos=False, eos=False)
        assert automaton.accepts([marker, *written]) == allowed
        assert not automaton.accepts(written)


def test_calls_without_arguments_and_markers() -> None:
    """In GLM's format such a call is its name alone, once special tokens are skipped."""
    nothing = {"type": "object", "properties": {}, "additionalProperties": False}
    one = {"type": "object", "properties": {"s": {"type": "string"}}, "required": ["s"], "additionalProperties": False}
    made = tool_calls([("a", nothing), ("ab", one), ("b", one)], format="glm", markers="tokens", parallel=True)
    arguments = "<arg_key>s</arg_key><arg_value>x</arg_value>"
    a, b, ab = ToolCall("a", {}), ToolCall("b", {"s": "x"}), ToolCall("ab", {"s": "x"})
    written = {
        "a": (a,),
        "a\n": (a,),
        "aa": (a, a),
        f"aab{arguments}a": (a, ab, a),
        f"ab{arguments}": (ab,),
        f"a<tool_call>b{arguments}": (a, b),
        f"<tool_call>a</tool_call><tool_call>b{arguments}</tool_call>": (a, b),
    }
    for text, calls in written.items():
        assert made.parse(text) == calls
    with pytest.raises(TextNotAllowed):
        made.parse("ab")
    twice = tool_calls([("b", nothing), ("bb", one)], format="glm", markers="tokens", parallel=True)
    assert twice.parse("bb") == (ToolCall("b", {}), ToolCall("b", {}))
    names = tool_calls([(name, nothing) for name in ("ab", "aba", "b")], format="glm", markers="tokens", parallel=True)
    assert names.parse("ababa\n") == (ToolCall("ab", {}), ToolCall("aba", {}))
    unlike = tool_calls([("a", nothing), ("ab", nothing), ("b", one)], format="glm", markers="tokens", parallel=True)
    with pytest.raises(TextNotAllowed, match="can be taken for those of other tools"):
        unlike.parse(f"ab{arguments}")


@pytest.mark.parametrize("text", [None, "before", "around"])
def test_notes_name_the_tool(text: Any) -> None:
    schemas = [{"properties": {"a": {"type": "string", "maxlength": 3}}}, {"nullable": True}, {"format": "color"}]
    tools: list[Any] = [(f"tool{number}", schema) for number, schema in enumerate(schemas)]
    made = tool_calls([weather, *tools], format="hermes", text=text)
    notes = [(f"/{name}{note.pointer}", note.reason) for name, schema in tools for note in json_schema(schema).notes]
    assert [(note.pointer, note.reason) for note in made.notes] == notes
    assert [pointer for pointer, _ in notes] == ["/tool0/properties/a/maxlength", "/tool1/nullable", "/tool2/format"]
