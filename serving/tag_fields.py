"""Fields of structural tags: what they may contain. Errors begin with the place of what is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

_MAX_SHOWN: Final = 60
# The fields of each type of format besides `type`, and of the older form of whole tags.
_FIELDS: Final[Mapping[str, Sequence[str]]] = {
    "const_string": ["value"],
    "json_schema": ["json_schema", "style", "any_order", "max_whitespace_cnt"],
    "qwen_xml_parameter": ["json_schema", "any_order", "max_whitespace_cnt"],
    "regex": ["pattern"],
    "grammar": ["grammar"],
    "any_text": ["excludes"],
    "token": ["token"],
    "exclude_token": ["exclude_tokens"],
    "any_tokens": ["exclude_tokens", "max_tokens"],
    "sequence": ["elements"],
    "or": ["elements"],
    "optional": ["content"],
    "star": ["content"],
    "plus": ["content"],
    "repeat": ["content", "min", "max"],
    "tag": ["begin", "content", "end"],
    "triggered_tags": ["triggers", "tags", "at_least_one", "stop_after_first", "excludes"],
    "structural_tag": ["format"],
    "structures": ["structures", "triggers", "at_least_one", "stop_after_first"],
    "structure": ["begin", "schema", "end"],
    "tags_with_separator": ["tags", "separator", "at_least_one", "stop_after_first"],
}


class Malformed(ValueError):
    """A part of a request that cannot be honoured; the message begins with the place."""


def texts_in(value: Any, where: str) -> list[str]:
    """Check that a value is a list of at least one text, and return it.

    Raises:
        ValueError: it is something else; the message begins with the place.
    """
    if not isinstance(value, list) or not value or not all(isinstance(each, str) for each in value):
        raise Malformed(f"{where} are a list of texts, not {shown(value)}")
    for number, each in enumerate(value):
        check_characters(each, f"{where}[{number}]")
    return value


def check_characters(text: str, where: str) -> None:
    """Raise Malformed if a text has half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        half = ascii(text[error.start])
        raise Malformed(f"{where}: half of a surrogate pair, {half}, is not a character") from None


def shown(value: Any) -> str:
    """Return a value as it appears in messages."""
    text = repr(value)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."


def field(value: Any, name: str, where: str) -> Any:
    """Return the value of a required field."""
    if not isinstance(value, Mapping) or name not in value:
        raise Malformed(f"{where} has no {name!r}")
    return value[name]


def check_fields(value: Mapping[str, Any], kind: str, where: str) -> None:
    """Refuse fields that formats of this type do not have, except empty ones, which engines write for other types."""
    for name in value.keys() - {"type", *_FIELDS[kind]}:
        # The number 0, which equals False, is a bound, and the tightest one.
        if value[name] is not False and value[name] not in (None, "", [], {}):
            place = f"{where}.{name}" if where else name
            raise Malformed(f"{place} is not supported: {shown(value[name])}")


def flag(value: Mapping[str, Any], name: str, where: str) -> bool:
    """Return the value of a field that is true or false; false if it is missing or null."""
    found = value.get(name)
    if not isinstance(found, bool | None):
        raise Malformed(f"{where}.{name} is true or false, not {shown(found)}")
    return bool(found)


def count(value: Any, where: str) -> int:
    """Return the value of a field that is a count, an integer from 0 on."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise Malformed(f"{where} is a number from 0, not {shown(value)}")
    return value
