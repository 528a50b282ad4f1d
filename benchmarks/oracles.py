"""Decide whether a text is valid, with programs that share no code with any engine, and only if it is beyond doubt.

    schema     `jsonschema`, with exact numbers
    pattern    Python's `re`
    grammar    Lark's Earley parser, which tries every way to cut a text into terminals

A verdict is None wherever two readings differ that an engine may choose between, so True and False hold under both:
drafts (see `_drafts`), formats as assertions or as annotations, `1.0` as an integer in draft 4, characters beyond ASCII
and ends of lines under a pattern, members that occur twice, halves of surrogate pairs, very large exponents. A string
with a format is valid beyond doubt only if it is of the plainest kind (`_PLAINEST`). A text that is not JSON, or not
UTF-8, is invalid under any reading.

Rejected: V8 in addition to `re`, which would settle some texts that are left out here, because anyone should be able to
check a witness with two packages from PyPI.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from math import isfinite
from typing import Any, Final, Literal

import jsonschema_specifications
from jsonschema import (
    Draft4Validator,
    Draft6Validator,
    Draft7Validator,
    Draft201909Validator,
    Draft202012Validator,
)
from jsonschema.exceptions import SchemaError, ValidationError
from jsonschema.validators import extend

Kind = Literal["schema", "pattern", "grammar"]
# Returns the verdict on a text: True, False, or None for no verdict.
Oracle = Callable[[bytes], bool | None]

MAX_DIGITS: Final = 400
_VALIDATORS: Final[dict[str, Any]] = {
    "draft4": Draft4Validator,
    "draft6": Draft6Validator,
    "draft7": Draft7Validator,
    "draft2019-09": Draft201909Validator,
    "draft2020-12": Draft202012Validator,
}
# What Python's `re` reads differently from ECMA-262, or ECMA-262 does not have.
_PYTHON_ONLY = re.compile(r"\\[AZaUN]|\(\?P|\(\?[a-zA-Z#(>]|[*+?}]\+|\{,\d")
_DAY = r"[12]\d{3}-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])"
_TIME = r"([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,6})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)"
_HOST = r"[a-z][a-z0-9]{0,30}(\.[a-z][a-z0-9]{1,30}){1,3}"
# Patterns of strings that every reading of a format allows.
_PLAINEST: Final = {
    "date": _DAY,
    "time": _TIME,
    "date-time": f"{_DAY}T{_TIME}",
    "email": rf"[a-z][a-z0-9]{{0,30}}(\.[a-z0-9]{{1,30}})?@{_HOST}",
    "hostname": _HOST,
    "ipv4": r"(([1-9]?\d|1\d\d|2[0-4]\d|25[0-5])\.){3}([1-9]?\d|1\d\d|2[0-4]\d|25[0-5])",
    "ipv6": r"([1-9a-f][0-9a-f]{0,3}:){7}[1-9a-f][0-9a-f]{0,3}",
    "uri": rf"https?://{_HOST}(/[A-Za-z0-9_-]+)*",
    "uuid": r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
}
_LINE_ENDS = re.compile("[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_SEES_LINE_ENDS = re.compile(r"(?<!\\)(?:\\\\)*(?:[.$]|(?<!\[)\^)|\\[sSZAbB]")


class TooLarge(ValueError):
    """A number whose exponent is too large to write the number out."""


def oracle(kind: Kind, source: Any) -> Oracle:
    """Return the oracle of a schema, a pattern, or a grammar `{"lark": ..., ...}`."""
    if kind == "schema":
        return _schema_oracle(source)
    return _pattern_oracle(source) if kind == "pattern" else _grammar_oracle(source["lark"])


# Values


def number(text: str) -> Fraction:
    """Return the number that a text denotes.

    Raises:
        TooLarge: the exponent is beyond `MAX_DIGITS`, in either direction.
    """
    exponent = text.lower().partition("e")[2].lstrip("+-").lstrip("0")
    if exponent and int(exponent[:10]) > MAX_DIGITS:
        raise TooLarge(text)
    return Fraction(text)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def read(text: str | bytes, pairs: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """Return the value of a JSON text, with numbers that have a fraction or an exponent as `Fraction`.

    Args:
        text: the text.
        pairs: makes an object of its members; by default the last of several members with one name counts.

    Raises:
        TooLarge: the exponent of a number is too large.
        ValueError: the text is not JSON.
    """
    return json.loads(text, parse_float=number, parse_constant=_no_constant, object_pairs_hook=pairs)


def exact(value: Any) -> Any:
    """Return a value with finite floats as fractions, by their shortest decimal notation."""
    if isinstance(value, float):
        return Fraction(str(value)) if isfinite(value) else value
    if isinstance(value, list):
        return [exact(part) for part in value]
    if isinstance(value, dict):
        return {name: exact(part) for name, part in value.items()}
    return value


def strings_of(value: Any) -> Iterator[str]:
    """Yield all strings in a value, including the names of members."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for part in value:
            yield from strings_of(part)
    elif isinstance(value, dict):
        yield from value
        for part in value.values():
            yield from strings_of(part)


# Schemas


@cache
def validator_class(draft: str, lenient: bool = False) -> Any:
    """Return the package's validator of a draft, for exact values and without formats.

    Args:
        draft: a key of `_VALIDATORS`.
        lenient: whether `1.0` is an integer in draft 4 too, as it is in all later drafts.
    """
    original = _VALIDATORS[draft]
    takes_whole = lenient or draft != "draft4"

    def is_integer(_: Any, value: Any) -> bool:
        if isinstance(value, bool):
            return False
        return isinstance(value, int) or (takes_whole and isinstance(value, Fraction) and value.denominator == 1)

    types = original.TYPE_CHECKER.redefine("integer", is_integer)
    own = {"uniqueItems": _unique_items}
    if draft == "draft2019-09":  # its own counts keywords in `additionalProperties` as properties
        own["unevaluatedProperties"] = Draft202012Validator.VALIDATORS["unevaluatedProperties"]
    return extend(original, own, type_checker=types)


@cache
def _strict_class(draft: str) -> Any:
    return extend(validator_class(draft), {"format": _plainest})


def _plainest(checker: Any, name: Any, value: Any, _: Any) -> Iterator[ValidationError]:
    if checker.is_type(value, "string") and not re.fullmatch(_PLAINEST.get(name, "(?!)"), value):
        yield ValidationError("a reading of the format may refuse it")


def _unique_items(checker: Any, wanted: bool, value: Any, _: Any) -> Iterator[ValidationError]:
    """Compare items by their canonical forms.

    The package's own check sorts the items, and is wrong if they have true in one and 1 in another, deep inside.
    """
    if wanted and checker.is_type(value, "array"):
        kept = [json.dumps(_canonical(item)) for item in value]
        if len(set(kept)) < len(kept):
            yield ValidationError("two items are equal")


def _canonical(value: Any) -> Any:
    """Return a form that two values share exactly if they are equal, even if one has 1 and the other `1.0`."""
    if isinstance(value, list):
        return ["array", *map(_canonical, value)]
    if isinstance(value, dict):
        return {name: _canonical(part) for name, part in sorted(value.items())}
    if isinstance(value, int | Fraction) and not isinstance(value, bool):
        return ["number", str(Fraction(value))]
    return value


def _drafts(schema: Any) -> list[str]:
    """Return the drafts under which an engine may read a schema: the named one, by default draft 7, and draft 2020-12.

    A draft whose metaschema the schema does not satisfy is left out. If that leaves none, draft 4 is tried.
    """
    named = str(schema.get("$schema", "")) if isinstance(schema, dict) else ""
    found = re.search(r"draft[-/](0[467]|2019-09|2020-12)", named)
    asked = [f"draft{found[1].lstrip('0')}"] if found else ["draft7"]
    readable = [draft for draft in dict.fromkeys([*asked, "draft2020-12"]) if _is_readable(schema, draft)]
    return readable or [draft for draft in ("draft4",) if _is_readable(schema, draft)]


def _is_readable(schema: Any, draft: str) -> bool:
    try:
        _VALIDATORS[draft].check_schema(schema)
    except (SchemaError, RecursionError):
        return False
    return True


def patterns_of(schema: Any) -> Iterator[str]:
    """Yield all patterns in a schema, of values and of names."""
    if isinstance(schema, list):
        for part in schema:
            yield from patterns_of(part)
    elif isinstance(schema, dict):
        for name, part in schema.items():
            if name == "pattern" and isinstance(part, str):
                yield part
            elif name == "patternProperties" and isinstance(part, dict):
                yield from part
            yield from patterns_of(part)


def is_common(pattern: str) -> bool:
    """Return whether Python reads a pattern, with the meaning that ECMA-262 gives it on plain texts."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern)
    except (re.error, RecursionError, OverflowError):
        return False
    return _PYTHON_ONLY.search(pattern) is None


def _is_plain(text: str) -> bool:
    return text.isascii() and all(" " <= char < "\x7f" for char in text)


def _schema_oracle(schema: Any) -> Oracle:
    patterns = list(patterns_of(schema))
    drafts = _drafts(schema) if all(map(is_common, patterns)) else []
    own, registry = exact(schema), jsonschema_specifications.REGISTRY
    lenient = [validator_class(draft, lenient=True)(own, registry=registry) for draft in drafts]
    strict = [*(_strict_class(draft)(own, registry=registry) for draft in drafts), *lenient]

    def of_value(value: Any) -> bool | None:
        texts = list(strings_of(value))
        if any("\ud800" <= char <= "\udfff" for text in texts for char in text):
            return None
        if not drafts or (patterns and not all(map(_is_plain, texts))):
            return None
        try:
            if all(each.is_valid(value) for each in strict):
                return True
            return None if any(each.is_valid(value) for each in lenient) else False
        # A reference may lack a target or never end, and each package raises its own errors then.
        except Exception:
            return None

    def verdict(text: bytes) -> bool | None:
        try:
            values = [read(text.decode()), read(text.decode(), _first_wins)]
        except (TooLarge, RecursionError):
            return None
        except ValueError:
            return False
        first, last = map(of_value, values)
        return first if first == last else None

    return verdict


def _first_wins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object with the first of several members of one name, as some readers do; Python keeps the last."""
    return dict(reversed(pairs))


# Patterns and grammars


def _pattern_oracle(pattern: str) -> Oracle:
    compiled = [re.compile(pattern, flag) for flag in (re.ASCII, re.UNICODE)]
    sees_line_ends = _SEES_LINE_ENDS.search(pattern) is not None

    def verdict(text: bytes) -> bool | None:
        try:
            string = text.decode()
        except UnicodeDecodeError:
            return False
        if sees_line_ends and _LINE_ENDS.search(string):
            return None
        found = {each.fullmatch(string) is not None for each in compiled}
        return found.pop() if len(found) == 1 else None

    return verdict


def _grammar_oracle(source: str) -> Oracle:
    import lark

    parser = lark.Lark(source, parser="earley", lexer="dynamic_complete", ambiguity="resolve")

    def verdict(text: bytes) -> bool | None:
        try:
            parser.parse(text.decode())
        except (lark.exceptions.UnexpectedInput, UnicodeDecodeError):
            return False
        return True

    return verdict
