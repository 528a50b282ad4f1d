"""Free text, and then perhaps calls: what the chat templates of models write is allowed, and read piece by piece."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from importlib.resources import files
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mistral_common.tokens.tokenizers.tekken import Tekkenizer

import constraints
import tokenfst
from automata import TextNotAllowed
from constraints import Marked, ToolCall, after, token, triggered
from constraints.tools import TextPlace, WireFormat, tool_calls
from constraints.tools.wire import WIRES
from tokenfst.vocabulary.all_bytes import ALL_BYTES

FORMATS: tuple[WireFormat, ...] = get_args(WireFormat)


def get_current_weather(city: str, days: int = 1) -> str:
    raise AssertionError("nothing is ever called")


def now() -> str:
    raise AssertionError("nothing is ever called")


TOOLS: list[Callable[..., Any]] = [get_current_weather, now]
WEATHER, NOW = ToolCall("get_current_weather", {"city": "Paris"}), ToolCall("now", {})

# What the templates write behind the header of the assistant's turn, up to the token that ends it.
WRITTEN: dict[str, tuple[WireFormat, str, tuple[str | ToolCall, ...]]] = {
    "Qwen2.5, text": ("qwen", "It is sunny.", ("It is sunny.",)),
    "Qwen2.5, text and a call": (
        "qwen",
        'Let me check the weather.\n<tool_call>\n{"name": "get_current_weather", "arguments": {"city": "Paris"}}\n'
        "</tool_call>",
        ("Let me check the weather.\n", WEATHER),
    ),
    "Qwen2.5, two calls": (
        "qwen",
        '<tool_call>\n{"name": "get_current_weather", "arguments": {"city": "Paris"}}\n</tool_call>\n'
        '<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>',
        (WEATHER, NOW),
    ),
    "Qwen3, thinking": (
        "qwen",
        '<think>\nThe user asks for {"name"}.\n</think>\n\n<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>',
        ('<think>\nThe user asks for {"name"}.\n</think>\n\n', NOW),
    ),
    "Hermes 2 Pro": (
        "hermes",
        'I will look.\n<tool_call>\n{"name": "get_current_weather", "arguments": {"city": "Paris"}}\n</tool_call>',
        ("I will look.\n", WEATHER),
    ),
    "Llama 3.1": (
        "llama",
        '{"name": "get_current_weather", "parameters": {"city": "Paris"}}',
        (WEATHER,),
    ),
    "Llama 3.1, text": ("llama", 'A set is {1, 2}, an object {"a": 1}.', ('A set is {1, 2}, an object {"a": 1}.',)),
    "Llama 3.2, custom tools": (
        "llama-function",
        'Sure: <function=get_current_weather>{"city": "Paris"}</function>',
        ("Sure: ", WEATHER),
    ),
    "Llama 3.2, zero shot": (
        "pythonic",
        "As in [1], I look it up: [get_current_weather(city='Paris'), now()]",
        ("As in [1], I look it up: ", WEATHER, NOW),
    ),
    "Mistral v3": (
        "mistral",
        '[TOOL_CALLS] [{"name": "get_current_weather", "arguments": {"city": "Paris"}}]',
        (WEATHER,),
    ),
    "Mistral v7, text and calls": (
        "mistral",
        'I look it up.[TOOL_CALLS][{"name": "get_current_weather", "arguments": {"city": "Paris"}}, '
        '{"name": "now", "arguments": {}}]',
        ("I look it up.", WEATHER, NOW),
    ),
    "Mistral v11": (
        "mistral-args",
        'I look.[TOOL_CALLS]get_current_weather[ARGS]{"city": "Paris"}[TOOL_CALLS]now[ARGS]{}',
        ("I look.", WEATHER, NOW),
    ),
    "OpenAI": (
        "openai",
        'Yes. [{"type": "function", "function": {"name": "now", "arguments": {}}}]',
        ("Yes. ", NOW),
    ),
    "OpenAI, strings": (
        "openai-string",
        'Yes. [{"type": "function", "function": {"name": "get_current_weather", '
        '"arguments": "{\\"city\\": \\"Paris\\"}"}}]',
        ("Yes. ", WEATHER),
    ),
    "Qwen3-Coder": (
        "qwen-coder",
        "I look.\n\n<tool_call>\n<function=get_current_weather>\n<parameter=city>\nParis\n</parameter>\n</function>\n"
        "</tool_call>\n<tool_call>\n<function=now>\n</function>\n</tool_call>",
        ("I look.\n\n", WEATHER, NOW),
    ),
    "GLM-4.5": (
        "glm",
        "I look.\n<tool_call>get_current_weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n</tool_call>",
        ("I look.\n", WEATHER),
    ),
    "GLM-4.7": (
        "glm",
        "<tool_call>get_current_weather<arg_key>city</arg_key><arg_value>Paris</arg_value></tool_call><tool_call>now"
        "</tool_call>",
        (WEATHER, NOW),
    ),
    "MiniMax-M2": (
        "minimax",
        'I look.\n<minimax:tool_call>\n<invoke name="get_current_weather">\n<parameter name="city">Paris</parameter>\n'
        '</invoke>\n<invoke name="now">\n</invoke>\n</minimax:tool_call>',
        ("I look.\n", WEATHER, NOW),
    ),
    "DeepSeek-V3.2": (
        "deepseek-v3.2",
        'I look.\n\n<｜DSML｜function_calls>\n<｜DSML｜invoke name="get_current_weather">\n'
        '<｜DSML｜parameter name="city" string="true">Paris</｜DSML｜parameter>\n'
        "</｜DSML｜invoke>\n</｜DSML｜function_calls>",
        ("I look.\n\n", WEATHER),
    ),
    "DeepSeek-V4": (
        "deepseek-v4",
        '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="now">\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>',
        (NOW,),
    ),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_what_templates_write_is_read(name: str) -> None:
    form, text, pieces = WRITTEN[name]
    for where in get_args(TextPlace):
        made = tool_calls(TOOLS, format=form, text=where, parallel=True)
        # Between calls, "\n" is text like any other.
        assert tuple(piece for piece in made.parse(text) if piece != "\n") == pieces


def test_every_format_is_among_them() -> None:
    assert {form for form, _, _ in WRITTEN.values()} == set(FORMATS)


# One call of each format, and what begins it.
CALLS: dict[WireFormat, str] = {
    "llama": '{"name": "now", "parameters": {}}',
    "llama-function": "<function=now>{}</function>",
    "qwen": '<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>',
    "hermes": '<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>',
    "mistral": '[TOOL_CALLS][{"name": "now", "arguments": {}}]',
    "mistral-args": "[TOOL_CALLS]now[ARGS]{}",
    "openai": '[{"type": "function", "function": {"name": "now", "arguments": {}}}]',
    "openai-string": '[{"type": "function", "function": {"name": "now", "arguments": "{}"}}]',
    "pythonic": "[now()]",
    "qwen-coder": "<tool_call>\n<function=now>\n</function>\n</tool_call>",
    "glm": "<tool_call>now</tool_call>",
    "minimax": '<minimax:tool_call>\n<invoke name="now">\n</invoke>\n</minimax:tool_call>',
    "deepseek-v3.2": (
        '<｜DSML｜function_calls>\n<｜DSML｜invoke name="now">\n</｜DSML｜invoke>\n</｜DSML｜function_calls>'
    ),
    "deepseek-v4": '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="now">\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>',
}
BEGINS: dict[WireFormat, str] = {
    "llama": '{"name":',
    "llama-function": "<function=",
    "qwen": "<tool_call>",
    "hermes": "<tool_call>",
    "mistral": "[TOOL_CALLS]",
    "mistral-args": "[TOOL_CALLS]",
    "openai": '[{"type":',
    "openai-string": '[{"type":',
    "pythonic": "[now(",
    "qwen-coder": "<tool_call>",
    "glm": "<tool_call>",
    "minimax": "<minimax:tool_call>",
    "deepseek-v3.2": "<｜DSML｜function_calls>",
    "deepseek-v4": "<｜DSML｜tool_calls>",
}
IN_TEXT = {
    (form, where): tool_calls([now], format=form, text=where) for form in FORMATS for where in get_args(TextPlace)
}
FREELY = {form: tool_calls([now], format=form, text="around", parallel=True) for form in FORMATS}
SEPARATE = [form for form in FORMATS if form != "pythonic" and not WIRES[form].after]


def divided(text: str, form: WireFormat) -> tuple[str | ToolCall, ...] | None:
    """The pieces of a text with calls anywhere in it, by a search for what begins a call; None if one is not a call."""
    before, begins, rest = text.partition(BEGINS[form])
    found = [before] if before else []
    if not begins:
        return tuple(found)
    if not (begins + rest).startswith(CALLS[form]):
        return None
    more = divided((begins + rest)[len(CALLS[form]) :], form)
    return None if more is None else (*found, NOW, *more)


def pieces_of(form: WireFormat) -> st.SearchStrategy[list[str]]:
    call, begins = CALLS[form], BEGINS[form]
    return st.lists(
        st.sampled_from([call, begins, call[:-1], "é", " ", begins[:-1], begins[0], '"}', "\n"]), max_size=6
    )


@pytest.mark.parametrize("form", FORMATS)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_text_and_calls_are_told_apart(form: WireFormat, data: st.DataObject) -> None:
    text = "".join(data.draw(pieces_of(form)))
    expected = divided(text, form)
    calls = sum(isinstance(piece, ToolCall) for piece in expected or ())
    for where, most in (("before", 1), ("around", 1), ("freely", 9 if form in SEPARATE else 1)):
        made = FREELY[form] if where == "freely" else IN_TEXT[form, where]
        allowed = expected is not None and calls <= most
        if where == "before" and calls:
            allowed = allowed and expected is not None and isinstance(expected[-1], ToolCall)
        if allowed:
            assert made.parse(text) == expected
        else:
            with pytest.raises(TextNotAllowed):
                made.parse(text)


@pytest.mark.parametrize(("parallel", "allowed"), [(False, [0, 1]), (True, [0, 1, 2, 3, 4]), (2, [0, 1, 2])])
@pytest.mark.parametrize("where", get_args(TextPlace))
def test_how_many_calls(where: TextPlace, parallel: bool | int, allowed: list[int]) -> None:
    made = tool_calls([now], format="qwen", text=where, parallel=parallel)
    for number in range(5):
        text = "\n".join([CALLS["qwen"]] * number)
        if number in allowed:
            assert [piece for piece in made.parse(text) if piece != "\n"] == [NOW] * number
        else:
            with pytest.raises(TextNotAllowed):
                made.parse(text)


def tokens_in(text: str, ids: dict[str, int]) -> Iterator[int]:
    """The tokens of a text in which the names of special tokens stand for these."""
    for piece in re.split("|".join(f"({re.escape(name)})" for name in ids), text):
        if piece in ids:
            yield ids[piece]
        elif piece:
            yield from piece.encode()


@pytest.mark.parametrize("form", ["qwen", "mistral", "mistral-args"])
def test_markers_as_tokens(form: WireFormat) -> None:
    ids = {"[TOOL_CALLS]": 256, "[ARGS]": 257, "<tool_call>": 258, "</tool_call>": 259}
    tokens = [*(bytes([byte]) for byte in range(256)), *[b""] * 5]
    vocabulary = tokenfst.Vocabulary(tokens, eos_ids=[260], special_tokens=ids)
    made = tool_calls([now], format=form, text="around", markers="tokens", parallel=True)
    automaton = tokenfst.compile(made, vocabulary)
    for text, calls in ((f"Hm. {CALLS[form]} So.", 1), ("Hm.", 0), (f"{CALLS[form][:-1]}", None)):
        assert automaton.accepts(list(tokens_in(text, ids))) == (calls is not None)
        # The names of the tokens, spelled by others, are free text.
        assert automaton.accepts(list(text.encode()))
    assert made.parse(f"Hm. {CALLS[form]} So.") == ("Hm. ", NOW, " So.")
    # What looks like a call behind no marker is text.
    looks = CALLS[form].replace("<tool_call>", "").replace("[TOOL_CALLS]", "").replace("[ARGS]", "")
    assert made.parse(f"{looks} {CALLS[form]}") == (f"{looks} ", NOW)


def test_over_the_tokens_of_a_real_model() -> None:
    path = str(files("mistral_common") / "data" / "tekken_240911.json")
    vocabulary, tokenizer = tokenfst.from_tekken(path), Tekkenizer.from_file(path)
    marker = vocabulary.special_tokens["[TOOL_CALLS]"]
    automaton = tokenfst.compile(tool_calls(TOOLS, format="mistral", text="before", markers="tokens"), vocabulary)
    words = tokenizer.encode("I look it up.", bos=False, eos=False)
    for city, allowed in (("Paris", True), (3, False)):
        call = json.dumps([{"name": "get_current_weather", "arguments": {"city": city}}])
        written = tokenizer.encode(call, bos=False, eos=False)
        assert automaton.accepts([*words, marker, *written]) == allowed
        assert automaton.accepts([*words, *written])
        assert not automaton.accepts([*words, marker, *written, *words])
    assert automaton.accepts(words)


def test_calls_beside_other_markers() -> None:
    calls = tool_calls([now], format="qwen")
    made = triggered({"<tool_call>": calls, "<date>": (constraints.integer(), "</date>"), "x<": "y"})
    text = f"On <date>12</date>: {CALLS['qwen']}, and x<y."
    assert made.parse(text) == (
        "On ",
        Marked("<date>", 12),
        ": ",
        Marked("<tool_call>", (NOW,)),
        ", and ",
        *made.parse("x<y."),
    )
    # The marker `x<` ends first, and nothing but `y` stands behind it.
    with pytest.raises(TextNotAllowed):
        made.parse(f"x{CALLS['qwen']}")
    with pytest.raises(TextNotAllowed):
        made.parse("<tool_call>later</tool_call>")
    by_token = triggered({token("<tool_call>"): tool_calls([now], format="qwen", markers="tokens")})
    assert by_token.parse(f"a{CALLS['qwen']}b") == ("a", Marked("<tool_call>", (NOW,)), "b")


def test_an_answer_behind_its_thoughts() -> None:
    made = after("</think>", tool_calls([now], format="hermes", text="before"))
    assert made.parse(f"<tool_call>?</think>Yes.{CALLS['hermes']}") == ("<tool_call>?", ("Yes.", NOW))


@pytest.mark.parametrize(
    ("form", "trigger"),
    [
        ("qwen", {"<tool_call>": "</tool_call>"}),
        ("qwen", {"<tool_call>\n": ""}),
        ("qwen", {"<tool": ""}),
        ("mistral", {"[TOOL_CALLS]": "]"}),
        ("llama", {"{": "}"}),
        ("pythonic", {"[": "]"}),
    ],
)
def test_markers_are_not_doubled(form: WireFormat, trigger: dict[str, str]) -> None:
    calls = tool_calls([now], format=form)
    with pytest.raises(ValueError, match=r'writes .* itself: .* tool_calls\(\.\.\., text="before"\)'):
        triggered({marker: (calls, end) if end else calls for marker, end in trigger.items()})


def test_other_markers_beside_calls_are_plain() -> None:
    calls = tool_calls([now], format="qwen")
    with pytest.raises(
        ValueError, match=r"beside a constraint that writes its own marker, 'xx\*' is neither plain text nor a token"
    ):
        triggered({"<tool_call>": calls, constraints.delimited_list("x", ""): "c"})


def test_mistakes() -> None:
    wrong: Any = "after"
    with pytest.raises(ValueError, match='`text` is "before" or "around"'):
        tool_calls([now], format="qwen", text=wrong)


def test_many_pythonic_calls_are_told_apart_by_their_names() -> None:
    def named(name: str) -> Callable[..., Any]:
        def call(a: str, b: str, c: str | None, d: str | None, e: str | None, f: str | None, g: str | None) -> None: ...

        call.__name__ = name
        return call

    made = tool_calls([named(f"tool_{number}") for number in range(150)], format="pythonic", parallel=True)
    values = ", ".join(f"{name}='x'" for name in "abcdefg")
    text = f"[tool_149({values}), tool_1({values})]"
    assert tokenfst.compile(made, ALL_BYTES).accepts(text)
    assert [call.name for call in made.parse(text)] == ["tool_149", "tool_1"]
