"""Identifiers: uuid (RFC 4122, section 3: groups of hexadecimal digits, in either case; any version and variant)."""

from __future__ import annotations

from automata.expressions import Expr
from automata.pattern import parse


def uuid() -> Expr:
    return parse("[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
