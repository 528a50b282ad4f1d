"""Pointers: json-pointer is that of RFC 6901, section 5; relative-json-pointer is that of
draft-bhutton-relative-json-pointer-00, section 3, without the index manipulation (`0+1`) that earlier drafts lack.
"""

from __future__ import annotations

from automata.expressions import Expr
from automata.pattern import parse

_POINTER = "(?:/(?:[^~/]|~[01])*)*"


def json_pointer() -> Expr:
    return parse(_POINTER)


def relative_json_pointer() -> Expr:
    return parse(f"(?:0|[1-9][0-9]*)(?:#|{_POINTER})")


def relative_json_pointer_at_most() -> Expr:
    """Return all relative pointers, also those with index manipulation."""
    return parse(rf"(?:0|[1-9][0-9]*)(?:[+-][1-9][0-9]*)?(?:#|{_POINTER})")
