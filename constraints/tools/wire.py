"""Wire formats: how models write tool calls.

    "llama"             {"name": "f", "parameters": {...}}                       several: "; " between them
    "llama-function"    <function=f>{...}</function>                             several: one after the other
    "qwen", "hermes"    <tool_call>⏎{"name": "f", "arguments": {...}}⏎</tool_call>      several: on lines of their own
    "mistral"           [TOOL_CALLS][{"name": "f", "arguments": {...}}]          several: in the array
    "mistral-args"      [TOOL_CALLS]f[ARGS]{...}                                 several: one after the other
    "openai"            [{"type": "function", "function": {"name": "f", "arguments": {...}}}]
    "openai-string"     the same, with the arguments as JSON in a string, as in OpenAI's API
    "pythonic"          [f(name=value), ...]                                     several: in the list

Arguments between tags, strings as they are and other values as JSON (`constraints.tools.tagged`):

    "qwen-coder"        <tool_call>⏎<function=f>⏎<parameter=name>⏎value⏎</parameter>⏎</function>⏎</tool_call>
    "glm"               <tool_call>f<arg_key>name</arg_key><arg_value>value</arg_value></tool_call>
    "minimax"           <invoke name="f">⏎<parameter name="name">value</parameter>⏎</invoke>, in <minimax:tool_call>
    "deepseek-v3.2"     <｜DSML｜invoke name="f">⏎<｜DSML｜parameter name="name" string="true">value
                        </｜DSML｜parameter>⏎</｜DSML｜invoke>, in <｜DSML｜function_calls>
    "deepseek-v4"       the same in <｜DSML｜tool_calls>

Sources:

    llama               Meta, "Llama 3.1 | Model Cards and Prompt formats", JSON based tool calling; several calls as
                        vLLM's `llama3_json` reader splits them
    llama-function      the same, user-defined custom tool calling
    qwen, hermes        the chat templates of Qwen2.5, Qwen3 and Hermes 2 Pro (NousResearch, "Hermes Function Calling")
    mistral             mistral-common, instruct tokenizers v2 and v3 (`_encode_tool_calls_in_assistant_message`)
    mistral-args        the same, v11 and v13
    pythonic            Meta, llama-models, `prompt_format.md` of Llama 3.2 and 3.3, zero shot function calling
    openai              OpenAI, "Chat Completions" reference, `message.tool_calls`; identifiers are the server's
    qwen-coder, glm, minimax, deepseek      see `constraints.tools.tagged`

A wire format defines the text before all calls, before the name, between name and arguments, after the arguments,
between calls, and after all calls. In its JSON, there is at most one space after colons and commas. Markers are texts
of the format for which models have tokens of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, TypeAlias, get_args

from constraints.json_schema.building.tags import Tags
from constraints.tools.tagged import DEEPSEEK, GLM, MINIMAX, QWEN

WireFormat: TypeAlias = Literal[
    "llama",
    "llama-function",
    "qwen",
    "hermes",
    "mistral",
    "mistral-args",
    "openai",
    "openai-string",
    "pythonic",
    "qwen-coder",
    "glm",
    "minimax",
    "deepseek-v3.2",
    "deepseek-v4",
]


@dataclass(frozen=True, slots=True)
class TokenText:
    """A text for which a model may have a token."""

    text: str


@dataclass(frozen=True, slots=True)
class Maybe:
    """A text that may be left out."""

    text: str


BLANK: Final = Maybe(" ")
LINE_BREAK: Final = Maybe("\n")
WirePart: TypeAlias = str | TokenText | Maybe
WireParts: TypeAlias = tuple[WirePart, ...]


@dataclass(frozen=True, slots=True)
class Wire:
    """A wire format: how calls are written.

    Attributes:
        before, after: the text before and after all calls.
        name: the text before the name.
        arguments: the text between the name and its arguments.
        end: the text after the arguments.
        between: the text between two calls.
        in_string: whether the arguments are JSON in a JSON string.
        tags: the tags between which the arguments stand, if they are not JSON.
    """

    before: WireParts = ()
    name: WireParts = ()
    arguments: WireParts = ()
    end: WireParts = ()
    between: WireParts = ()
    after: WireParts = ()
    in_string: bool = False
    tags: Tags | None = None


def _json(key: str) -> tuple[WireParts, WireParts]:
    """Return the text before the name, and the text between it and the arguments, in an object with both members."""
    return ('{"name":', BLANK, '"'), ('",', BLANK, f'"{key}":', BLANK)


_NAME, _ARGUMENTS = _json("arguments")
_COMMA: WireParts = (",", BLANK)
_HERMES = Wire(
    name=(TokenText("<tool_call>"), "\n", *_NAME),
    arguments=_ARGUMENTS,
    end=("}\n", TokenText("</tool_call>")),
    between=("\n",),
)
_OPENAI: WireParts = ('{"type":', BLANK, '"function",', BLANK, '"function":', BLANK, *_NAME)


def _deepseek(calls: str) -> Wire:
    """Return DeepSeek's wire format; `calls` is the name of the tag around all calls."""
    return Wire(
        before=(TokenText(f"<｜DSML｜{calls}>"), "\n"),
        name=('<｜DSML｜invoke name="',),
        arguments=('">\n',),
        end=("</｜DSML｜invoke>\n",),
        after=(TokenText(f"</｜DSML｜{calls}>"),),
        tags=DEEPSEEK,
    )


WIRES: Mapping[str, Wire] = MappingProxyType(
    {
        "llama": Wire(name=_json("parameters")[0], arguments=_json("parameters")[1], end=("}",), between=(";", BLANK)),
        "llama-function": Wire(name=("<function=",), arguments=(">",), end=("</function>",)),
        "qwen": _HERMES,
        "hermes": _HERMES,
        "mistral": Wire(
            before=(TokenText("[TOOL_CALLS]"), BLANK, "["),
            name=_NAME,
            arguments=_ARGUMENTS,
            end=("}",),
            between=_COMMA,
            after=("]",),
        ),
        "mistral-args": Wire(name=(TokenText("[TOOL_CALLS]"),), arguments=(TokenText("[ARGS]"),)),
        "openai": Wire(("[",), _OPENAI, _ARGUMENTS, ("}}",), _COMMA, ("]",)),
        "openai-string": Wire(("[",), _OPENAI, _ARGUMENTS, ("}}",), _COMMA, ("]",), in_string=True),
        "qwen-coder": Wire(
            name=(TokenText("<tool_call>"), "\n<function="),
            arguments=(">\n",),
            end=("</function>\n", TokenText("</tool_call>")),
            between=("\n",),
            tags=QWEN,
        ),
        "glm": Wire(
            name=(TokenText("<tool_call>"),), arguments=(LINE_BREAK,), end=(TokenText("</tool_call>"),), tags=GLM
        ),
        "minimax": Wire(
            before=(TokenText("<minimax:tool_call>"), "\n"),
            name=('<invoke name="',),
            arguments=('">\n',),
            end=("</invoke>\n",),
            after=(TokenText("</minimax:tool_call>"),),
            tags=MINIMAX,
        ),
        "deepseek-v3.2": _deepseek("function_calls"),
        "deepseek-v4": _deepseek("tool_calls"),
    }
)
# "pythonic" is read by `constraints.tools.pythonic`, because its calls are not JSON with text around it.
assert {*WIRES, "pythonic"} == set(get_args(WireFormat))
