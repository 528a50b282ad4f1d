"""TaggedArguments: arguments between tags as a constraint, and reading them.

    QWEN, GLM, ...      the tags of models
    TaggedArguments     the texts of an object that a schema or a type describes, between tags

A text is read as the servers of these models read it. The text between two tags is a string, without the line breaks
that belong to the tags, or JSON. If the tags do not say which, it is read as JSON if it is the JSON of a kind of value,
other than a string, that the name may have (`constraints.json_schema.building.tagged`).

Sources: vLLM 0.32's readers (`vllm/parser`) and XGrammar 0.2.8's structural tags (`builtin_structural_tag.py`), which
follow the models' chat templates:

    QWEN            Qwen3-Coder and Qwen 3.5
    QWEN_COMPACT    MiMo, which writes the same without line breaks
    GLM             GLM-4.5 to 5; the first one breaks lines between tags
    MINIMAX         MiniMax-M2
    DEEPSEEK        DeepSeek-V3.2 and V4
    DEEPSEEK_41     DeepSeek-V4.1
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
    close="</parameter>",
    own=r"<\s*/?\s*(?:parameter|function|tool_call)\s*[=>]",
    is_padded=True,
)
QWEN_COMPACT: Final = QWEN._replace(is_padded=False)
GLM: Final = Tags(
    name="<arg_key>",
    text=r"</arg_key>\n?<arg_value>",
    close="</arg_value>",
    own="</?(?:arg_key|arg_value|tool_call)>",
)
MINIMAX: Final = Tags(
    name='<parameter name="',
    text='">',
    close="</parameter>",
    own=r"<\s*/?\s*(?:parameter|invoke|minimax:tool_call)[\s>]",
)
DEEPSEEK: Final = Tags(
    name='<｜DSML｜parameter name="',
    text='" string="true">',
    close="</｜DSML｜parameter>",
    own="</?｜DSML｜",
    value='" string="false">',
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
    """The objects of a schema or a type, written between tags. Immutable.

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
        self._made = schema_grammar(values.layout._replace(tags=tags))

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
        try:
            arguments, _ = self.to_json(text, 0)
        except (ValueError, RecursionError) as error:
            raise TextNotAllowed(str(error), text) from None
        return self.values.value(arguments)

    def to_json(self, text: str, start: int) -> tuple[str, int]:
        """Return the JSON of arguments that begin at a place in a text, and the place where the last tag ends.

        Raises:
            ValueError, RecursionError: Python cannot read a number of more than 4,300 digits, or a value that is nested
                too deeply.
        """
        members = []
        while begun := self._begin.match(text, start):
            name, is_text = begun["name"], begun["text"] is not None
            value, start = self._value(text, begun.end(), self._kinds_of(name, is_text))
            members.append(f"{json.dumps(name)}: {value}")
        return "{" + ", ".join(members) + "}", start

    def _kinds_of(self, name: str, is_text: bool) -> frozenset[Kind]:
        """Return the kinds of values, other than strings, that a member's value may be read as."""
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
            kind, end = _json_at(text, begin)
            closed = self._close.match(text, _end(_BLANKS.match(text, end)))
            if closed and kind in kinds:
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
        value = "" if tags.value is None else f"|{tags.value}"
        return re.compile(f"{BREAK}{tags.name}(?P<name>[^<>\"']*)(?:(?P<text>{tags.text}){value})")

    @cached_property
    def _close(self) -> re.Pattern[str]:
        return re.compile(self.tags.close)


def _json_at(text: str, begin: int) -> tuple[Kind | None, int]:
    """Return the kind of the JSON value that begins at a place, and where it ends. The kind is None for a string, or if
    there is no value."""
    try:
        value, end = _DECODER.raw_decode(text, begin)
    except json.JSONDecodeError:
        return None, begin
    return _KINDS.get(type(value)), end


def _refuse(constant: str) -> NoReturn:
    raise json.JSONDecodeError("not JSON", constant, 0)


_DECODER: Final[Any] = json.JSONDecoder(parse_constant=_refuse)


def _end(found: re.Match[str] | None) -> int:
    assert found
    return found.end()
