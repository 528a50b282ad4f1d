"""What a request asks for, as a constraint.

Engines hand over text: a JSON Schema, a pattern, a list of choices, a grammar, or a structural tag, which is JSON that
says where in free text constraints begin and end. Two forms of structural tags are in use, that of vLLM's first
versions (`structures` and `triggers`) and XGrammar's (`format`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, TypeAlias

from automata import expressions as ex
from automata.errors import SchemaError
from automata.expressions import ANY_TEXT, Expr
from automata.limits import DEFAULT_LIMITS, Limits
from automata.pattern import parse
from constraints import choice, free_text, grammar, json_schema, sequence, triggered
from constraints.composing.parsed import composed
from constraints.composing.part import Composable, Part, concatenated, either, part_of, repeated

Kind: TypeAlias = Literal["json", "json_object", "regex", "choice", "grammar", "structural_tag"]
Blanks: TypeAlias = Literal["default", "compact"]

# The most digits in a row of a JSON number, where its schema sets no bound: all 64-bit integers have fewer.
MAX_DIGITS: Final = 20

_MAX_SHOWN: Final = 60


def constraint_of(kind: Kind, text: str, *, blanks: Blanks = "default", limits: Limits = DEFAULT_LIMITS) -> Composable:
    """Return the constraint of a request.

    Args:
        kind: what the text is.
        text: a JSON Schema, a pattern, a JSON array of texts, a grammar, or a structural tag.
        blanks: where blanks may stand in JSON: as `json.dumps` writes them, or nowhere. White space is bounded, and
            numbers have at most `MAX_DIGITS` digits in a row, so that no model writes either without end.
        limits: how much time and memory reading a schema may take.

    Raises:
        ValueError: it cannot be honoured; the message says where and why. All errors of constraints are of this kind.
        LimitExceeded: it is too large.
    """
    if kind == "json":
        return _schema(_json(text, "the JSON Schema"), blanks, limits)
    if kind == "json_object":
        return _schema({"type": "object"}, blanks, limits)
    if kind == "regex":
        return parse(text)
    if kind == "choice":
        return choice(_texts(_json(text, "the choices"), "the choices"))
    if kind == "grammar":
        return grammar(text)
    return _structural_tag(_json(text, "the structural tag"), blanks, limits)


def _schema(schema: Any, blanks: Blanks, limits: Limits) -> Composable:
    return json_schema(schema, whitespace=blanks, max_digits=MAX_DIGITS, limits=limits)


def _json(text: str, what: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{what} is not JSON: {error}") from None


def _texts(value: Any, where: str) -> list[str]:
    if not isinstance(value, list) or not value or not all(isinstance(each, str) for each in value):
        raise ValueError(f"{where} are a list of texts, not {_shown(value)}")
    return value


def _shown(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= _MAX_SHOWN else f"{shown[:_MAX_SHOWN]}..."


def _structural_tag(tag: Any, blanks: Blanks, limits: Limits) -> Composable:
    """Return the constraint of a structural tag, in either form."""
    if not isinstance(tag, dict):
        raise ValueError(f"a structural tag is an object, not {_shown(tag)}")
    if "format" in tag:
        return _Formats(blanks, limits).constraint(tag["format"], "format")
    structures, triggers = tag.get("structures"), tag.get("triggers")
    if not isinstance(structures, list) or not isinstance(triggers, list):
        raise ValueError("a structural tag has `format`, or `structures` and `triggers`")
    tags = []
    for number, each in enumerate(structures):
        where = f"structures[{number}]"
        content = {"type": "json_schema", "json_schema": _field(each, "schema", where)}
        begin, end = _field(each, "begin", where), each.get("end", "")
        tags.append({"type": "tag", "begin": begin, "content": content, "end": end})
    whole = {"type": "triggered_tags", "triggers": triggers, "tags": tags}
    return _Formats(blanks, limits).constraint(whole, "structures")


def _field(value: Any, name: str, where: str) -> Any:
    if not isinstance(value, Mapping) or name not in value:
        raise ValueError(f"{where} has no {name!r}")
    return value[name]


class _Formats:
    """Reads the formats of XGrammar's structural tags."""

    def __init__(self, blanks: Blanks, limits: Limits) -> None:
        self.blanks: Blanks = blanks
        self.limits = limits

    def constraint(self, value: Any, where: str) -> Composable:
        """Return the constraint of a format.

        Raises:
            ValueError: it is none, or of a type that is not known.
        """
        kind = _field(value, "type", where)
        known: dict[str, Callable[[], Composable]] = {
            "const_string": lambda: ex.literal(self._text(value, "value", where)),
            "json_schema": lambda: self._schema(value, where),
            "regex": lambda: parse(self._text(value, "pattern", where)),
            "grammar": lambda: grammar(self._text(value, "grammar", where)),
            "any_text": lambda: self._any_text(value, where),
            "sequence": lambda: sequence(*self._several(value, "elements", where)),
            "or": lambda: self._either(value, where),
            "tag": lambda: sequence(*self._tag(value, where)),
            "triggered_tags": lambda: self._triggered(value, where),
            "tags_with_separator": lambda: self._separated(value, where),
        }
        read = known.get(kind) if isinstance(kind, str) else None
        if read is None:
            raise ValueError(f"{where}: a structural tag of type {kind!r} is not supported")
        return read()

    def _text(self, value: Any, name: str, where: str) -> str:
        text = _field(value, name, where)
        if not isinstance(text, str):
            raise ValueError(f"{where}.{name} is text, not {_shown(text)}")
        return text

    def _several(self, value: Any, name: str, where: str) -> list[Composable]:
        elements = _field(value, name, where)
        if not isinstance(elements, list) or not elements:
            raise ValueError(f"{where}.{name} is a list of formats, not {_shown(elements)}")
        return [self.constraint(each, f"{where}.{name}[{number}]") for number, each in enumerate(elements)]

    def _schema(self, value: Any, where: str) -> Composable:
        try:
            return _schema(_field(value, "json_schema", where), self.blanks, self.limits)
        except SchemaError as error:
            raise ValueError(f"{where}: {error}") from None

    def _any_text(self, value: Any, where: str) -> Expr:
        without = value.get("excludes", [])
        return free_text(*_texts(without, f"{where}.excludes")) if without else ANY_TEXT

    def _either(self, value: Any, where: str) -> Composable:
        first, *others = self._several(value, "elements", where)
        for other in others:
            first = _or(first, other)
        return first

    def _tag(self, value: Any, where: str) -> tuple[Composable, ...]:
        begin, end = self._text(value, "begin", where), value.get("end", "")
        content = self.constraint(_field(value, "content", where), f"{where}.content")
        ends = [end] if isinstance(end, str) else _texts(end, f"{where}.end")
        return ex.literal(begin), content, ex.alternation(*map(ex.literal, ends))

    def _separated(self, value: Any, where: str) -> Composable:
        """Return tags with a separator between them: one, or any number."""
        tags = _field(value, "tags", where)
        if not isinstance(tags, list) or not tags:
            raise ValueError(f"{where}.tags is a list of tags, not {_shown(tags)}")
        parts = [part_of(sequence(*self._tag(tag, f"{where}.tags[{at}]"))) for at, tag in enumerate(tags)]
        tag, separator = either(parts), Part(ex.literal(self._text(value, "separator", where)))
        more = repeated(concatenated([separator, tag]), 0, None)
        once = tag if value.get("stop_after_first") else concatenated([tag, more])
        return composed(once if value.get("at_least_one") else repeated(once, 0, 1), str)

    def _triggered(self, value: Any, where: str) -> Composable:
        triggers = _texts(_field(value, "triggers", where), f"{where}.triggers")
        tags = _field(value, "tags", where)
        if not isinstance(tags, list) or not tags:
            raise ValueError(f"{where}.tags is a list of tags, not {_shown(tags)}")
        switched: dict[str, Composable] = {}
        for number, tag in enumerate(tags):
            _, content, end = self._tag(tag, f"{where}.tags[{number}]")
            text = self._text(tag, "begin", f"{where}.tags[{number}]")
            trigger = next((each for each in triggers if each and text.startswith(each)), None)
            if trigger is None:
                raise ValueError(f"{where}.tags[{number}] begins with {text!r}, which no trigger begins")
            rest = sequence(ex.literal(text[len(trigger) :]), content, end)
            switched[trigger] = _or(switched[trigger], rest) if trigger in switched else rest
        at_least = 1 if value.get("at_least_one") else 0
        return triggered(switched, at_least=at_least, at_most=1 if value.get("stop_after_first") else None)


def _or(left: Composable, right: Composable) -> Composable:
    if isinstance(left, Expr) and isinstance(right, Expr):
        return left | right
    return sequence(left) | sequence(right)
