"""From the specification in a request to a constraint.

Engines pass text: a JSON Schema, a pattern, a list of choices, a grammar, or a structural tag.

    json_texts          JSON without endless whitespace or digits
    structural_tags     structural tags -> constraints
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias, get_args

from automata.errors import TokenfstError
from automata.limits import DEFAULT_LIMITS, Limits, Work
from automata.pattern import parse
from constraints import choice, grammar
from constraints.composing.part import Composable
from serving.json_texts import Blanks, schema_texts
from serving.structural_tags import structural_tag
from serving.tag_fields import texts_in

Kind: TypeAlias = Literal["json", "json_object", "regex", "choice", "grammar", "structural_tag"]

# What reading or compiling a constraint may raise because of the request. The engine then refuses the request; none of
# these errors may end the engine.
REFUSED: Final = (TokenfstError, ValueError, TypeError, KeyError, RecursionError)


def constraint_of(kind: Kind, text: str, *, blanks: Blanks = "default", limits: Limits = DEFAULT_LIMITS) -> Composable:
    """Return the constraint of a request.

    Args:
        kind: the kind of the specification.
        text: a JSON Schema, a pattern, a JSON array of texts, a grammar, or a structural tag.
        blanks: the whitespace allowed in JSON: as in `json.dumps`, none, or as the caller says (`json_texts`).
        limits: the time and memory that reading may take.

    Raises:
        ValueError: the specification cannot be honoured; the message says where and why. All errors of constraints are
            subclasses.
        LimitExceeded: the specification is too large.
    """

    def read() -> Composable:
        with Work(limits).current():
            return _constraint(kind, text, blanks, limits)

    return _within_depth(read)


def _constraint(kind: Kind, text: str, blanks: Blanks, limits: Limits) -> Composable:
    if kind == "json":
        return schema_texts(_json(text, "the JSON Schema"), blanks, limits)
    if kind == "json_object":
        return schema_texts({"type": "object"}, blanks, limits)
    if kind == "regex":
        return parse(text)
    if kind == "choice":
        return choice(texts_in(_json(text, "the list of choices"), "the choices"))
    if kind == "grammar":
        return grammar(text)
    if kind == "structural_tag":
        return structural_tag(_json(text, "the structural tag"), blanks, limits)
    raise ValueError(f"the kind of a specification is one of {', '.join(get_args(Kind))}, not {kind!r}")


def framed(tag: Any, content: Composable) -> Composable:
    """Return a constraint in a frame.

    Args:
        tag: a structural tag, in which the constraint replaces every format of type "content".
        content: the constraint.

    Raises:
        ValueError: the tag cannot be honoured; the message says where and why.
    """
    return _within_depth(lambda: structural_tag(tag, "default", DEFAULT_LIMITS, content))


def refusal(error: Exception) -> str:
    """Return the message that an engine sends to the client for an error in `REFUSED`."""
    return str(error) or type(error).__name__


def _within_depth(read: Callable[[], Composable]) -> Composable:
    try:
        return read()
    except RecursionError:
        raise ValueError("the constraint is nested too deeply to be read") from None


def _json(text: str, what: str) -> Any:
    if not isinstance(text, str):
        raise TypeError(f"{what} is given as text, not {type(text).__name__}: pass json.dumps(...)")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{what} is not JSON: {error}") from None
