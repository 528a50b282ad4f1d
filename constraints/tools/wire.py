"""Wire formats: how models write tool calls.

    "llama"             {"name": "f", "parameters": {...}}                       several: "; " between them
    "llama-function"    <function=f>{...}</function>                             several: one after the other
    "qwen", "hermes"    <tool_call>⏎{"name": "f", "arguments": {...}}⏎</tool_call>      several: on lines of their own
    "mistral"           [TOOL_CALLS][{"name": "f", "arguments": {...}}]          several: in the array
    "mistral-args"      [TOOL_CALLS]f[ARGS]{...}                                 several: one after the other
    "openai"            [{"type": "function", "function": {"name": "f", "arguments": {...}}}]
    "pythonic"          [f(name=value), ...]                                     several: in the list
    "openai-string"     the same, with the arguments as JSON in a string, as in OpenAI's API

Sources:

    llama               Meta, "Llama 3.1 | Model Cards and Prompt formats", JSON based tool calling; several calls as
                        vLLM's `llama3_json` reader splits them
    llama-function      the same, user-defined custom tool calling
    qwen, hermes        the chat templates of Qwen2.5, Qwen3 and Hermes 2 Pro (NousResearch, "Hermes Function Calling")
    mistral             mistral-common, instruct tokenizers v2 and v3 (`_encode_tool_calls_in_assistant_message`)
    mistral-args        the same, v11 and v13
    pythonic            Meta, llama-models, `prompt_format.md` of Llama 3.2 and 3.3, zero shot function calling
    openai              OpenAI, "Chat Completions" reference, `message.tool_calls`; identifiers are the server's

A wire format defines the text before all calls, before the name, between name and arguments, after the arguments,
between calls, and after all calls. In its JSON, there is at most one space after colons and commas. Markers are texts
of the format for which models have tokens of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, TypeAlias, get_args

WireFormat: TypeAlias = Literal[
    "llama", "llama-function", "qwen", "hermes", "mistral", "mistral-args", "openai", "openai-string", "pythonic"
]


@dataclass(frozen=True, slots=True)
class TokenText:
    """A text for which a model may have a token."""

    text: str


# WireParts of a format: text, markers, and a blank or none.
BLANK: Final = None
WirePart: TypeAlias = str | TokenText | None
WireParts: TypeAlias = tuple[WirePart, ...]


@dataclass(frozen=True, slots=True)
class Wire:
    """How calls are written.

    Attributes:
        before, behind: the text before and after all calls.
        name: the text before the name.
        arguments: the text between the name and its arguments.
        end: the text after the arguments.
        between: the text between two calls.
        in_string: whether the arguments are JSON in a JSON string.
    """

    before: WireParts = ()
    name: WireParts = ()
    arguments: WireParts = ()
    end: WireParts = ()
    between: WireParts = ()
    behind: WireParts = ()
    in_string: bool = False


def _json(key: str) -> tuple[WireParts, WireParts]:
    """Return what stands before the name, and between it and the arguments, in an object of the two."""
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
            behind=("]",),
        ),
        "mistral-args": Wire(name=(TokenText("[TOOL_CALLS]"),), arguments=(TokenText("[ARGS]"),)),
        "openai": Wire(("[",), _OPENAI, _ARGUMENTS, ("}}",), _COMMA, ("]",)),
        "openai-string": Wire(("[",), _OPENAI, _ARGUMENTS, ("}}",), _COMMA, ("]",), in_string=True),
    }
)
# Calls as Python writes them are not valid JSON with text around it (`constraints.tools.pythonic`).
assert {*WIRES, "pythonic"} == set(get_args(WireFormat))
