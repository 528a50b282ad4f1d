"""TaggedArguments: arguments between tags, as a constraint, and reading them.

    QWEN, GLM, ...      the tags of models
    TaggedArguments     the texts of an object that a schema or a type describes, between tags

A text is read as the servers of these models read it. What stands between two tags is a string, without the line
breaks that belong to the tags, or JSON. Where the tags do not say which, it is JSON if it is that of a value that may
stand under the name and is not a string (`constraints.json_schema.building.tagged`).

Sources:

    QWEN        Qwen3-Coder, chat template, and the reader `qwen3coder_tool_parser.py` in its repository; MiMo writes
                the same without line breaks
    GLM         GLM-4.5 to 5, chat templates; the first one breaks lines between tags
    MINIMAX     MiniMax-M2, chat template and tool calling guide
    DEEPSEEK    DeepSeek-V3.2, `encoding_dsv32.py` in its repository; V4 as vLLM 0.32 reads it
    DEEPSEEK_41 DeepSeek-V4.1, as XGrammar 0.2.8 describes it (`deepseek_v4_1_xml`)
"""

from __future__ import annotations

import json
import re
from functools import cached_property
from typing import Any, Final, NoReturn, TypeVar

from automata.errors import TextNotAllowed
from constraints.composing.parsed import Parsed
from constraints.composing.rules import ByRules, Rules
from constraints.json_schema.alternatives import JsonTexts
from constraints.json_schema.building.schema_grammar import schema_grammar
from constraints.json_schema.building.tags import BREAK, Tags
from constraints.json_schema.formulas.statements import Kind
from constraints.json_schema.strings.content import string_matches

T_co = TypeVar("T_co", covariant=True)

QWEN: Final = Tags(
    name="<parameter=",
    text=">",
    value=">",
    close="</parameter>",
    own=r"<\s*/?\s*(?:parameter|function|tool_call)\s*[=>]",
    is_padded=True,
)
QWEN_COMPACT: Final = QWEN._replace(is_padded=False)
GLM: Final = Tags(
    name="<arg_key>",
    text=r"</arg_key>\n?<arg_value>",
    value=r"</arg_key>\n?<arg_value>",
    close="</arg_value>",
    own="</?(?:arg_key|arg_value|tool_call)>",
)
MINIMAX: Final = Tags(
    name='<parameter name="',
    text='">',
    value='">',
    close="</parameter>",
    own=r"<\s*/?\s*(?:parameter|invoke|minimax:tool_call)[\s>]",
)
DEEPSEEK: Final = Tags(
    name='<｜DSML｜parameter name="',
    text='" string="true">',
    value='" string="false">',
    close="</｜DSML｜parameter>",
    own="</?｜DSML｜",
)
DEEPSEEK_41: Final = DEEPSEEK._replace(name='<｜DSML｜ parameter name="', close="</｜DSML｜ parameter>")

_KINDS: Final = {
    type(None): Kind.NULL,
    bool: Kind.BOOLEAN,
    int: Kind.NUMBER,
    float: Kind.NUMBER,
    list: Kind.ARRAY,
    dict: Kind.OBJECT,
}
_BLANKS: Final = re.compile(r"[ \t\n\r]*")


class TaggedArguments(ByRules, Parsed[T_co]):
    """The texts between tags of the values of a schema or a type; objects alone. Immutable.

    Attributes:
        values: the values, as JSON.
        tags: the tags.
    """

    def __init__(self, values: JsonTexts[T_co], tags: Tags) -> None:
        """Make the constraint.

        Raises:
            UnsatisfiableSchema: no object can be written between these tags.
            UnsupportedSchema: a name cannot stand in a tag.
            LimitExceeded: the schema needs too many states.
        """
        self.values = values
        self.tags = tags
        self._made = schema_grammar(*values.layout._replace(tags=tags))

    def __repr__(self) -> str:
        return f"<TaggedArguments of {self.values!r}>"

    @property
    def rules(self) -> Rules:
        """The rules that read a text."""
        return self._made.unique_arrays() or self._made.rules

    def parse(self, text: str) -> T_co:
        """Return the value of a text.

        Raises:
            TextNotAllowed: the constraint does not allow the text; or functions of a type refuse its value.
        """
        if not self.allows(text):
            raise TextNotAllowed("these are not arguments between these tags", text)
        return self.values.value(self.to_json(text, 0)[0])

    def to_json(self, text: str, start: int) -> tuple[str, int]:
        """Return the JSON of arguments that begin at a place in a text, and the place of the last tag's end."""
        members = []
        while begun := self._begin.match(text, start):
            name, is_text = begun["name"], begun["text"] is not None
            value, start = self._value(text, begun.end(), self._kinds_of(name, is_text))
            members.append(f"{json.dumps(name)}: {value}")
        return "{" + ", ".join(members) + "}", start

    def _kinds_of(self, name: str, is_text: bool) -> frozenset[Kind]:
        """Return as which values other than strings a value may be read."""
        if is_text and self.tags.marks_strings:
            return frozenset()
        known = self._made.member_kinds
        found = known.get(name)
        if found is not None:
            return found
        others = ((names, kinds) for names, kinds in known.items() if not isinstance(names, str))
        return frozenset().union(*(kinds for names, kinds in others if string_matches(names, name)))

    def _value(self, text: str, start: int, kinds: frozenset[Kind]) -> tuple[str, int]:
        """Return the JSON of the value that begins at a place, and the place after the tag that closes it."""
        if kinds:
            begin = _end(_BLANKS.match(text, start))
            try:
                value, end = _DECODER.raw_decode(text, begin)
            except (ValueError, RecursionError):
                value, end = "", begin
            closed = self._close.match(text, _end(_BLANKS.match(text, end)))
            if closed and _KINDS.get(type(value)) in kinds:
                return text[begin:end], closed.end()
        closed = self._close.search(text, start)
        assert closed
        found = text[start : closed.start()]
        if self.tags.is_padded:
            found = found.removeprefix("\n").removesuffix("\n")
        return json.dumps(found), closed.end()

    @cached_property
    def _begin(self) -> re.Pattern[str]:
        tags = self.tags
        return re.compile(f"{BREAK}{tags.name}(?P<name>[^<>\"']*)(?:(?P<text>{tags.text})|{tags.value})")

    @cached_property
    def _close(self) -> re.Pattern[str]:
        return re.compile(self.tags.close)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


_DECODER: Final[Any] = json.JSONDecoder(parse_constant=_refuse)


def _end(found: re.Match[str] | None) -> int:
    assert found
    return found.end()
