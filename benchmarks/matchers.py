"""Independent matchers: what a pattern means according to engines that share no code with this project.

    Case        a pattern, its dialect, and whether a text must match as a whole or only somewhere
    matcher     the verdict on a text, by another engine

Python's dialect is judged by `re`, with ASCII classes unless the pattern sets the flag u, as this project reads it; what
`re` lacks (properties, POSIX classes, lookbehinds of any length, set operations by look-around) by the package `regex`.
ECMA-262 is judged by `regress`, an engine in Rust, under the flag u; a pattern that only the older grammar without
that flag reads is judged by that grammar.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

import regex
import regress

from automata import Expr, parse

Matcher = Callable[[str], bool]
Dialect = Literal["python", "ecma"]

_FLAGS = re.compile(r"\(\?([a-zA-Z]+)\)")
_PROPERTY = re.compile(r"\\[pP]")
_POSIX = re.compile(r"\[:")
_CLASS_ESCAPE = re.compile(r"\\[dDwWsSbB]")
_VERSIONED = re.compile(r"\\[pP]|\(\?[a-z]*[iu]|\[:")


class Unreadable(ValueError):
    """The other engine refuses the pattern."""


@dataclass(frozen=True, slots=True)
class Case:
    """A pattern to check.

    Attributes:
        pattern: as this project reads it.
        dialect: how to read it.
        search: whether a match anywhere in a text is enough.
        reference: the pattern as the other engine spells it, where that differs.
    """

    pattern: str
    dialect: Dialect = "python"
    search: bool = False
    reference: str | None = None

    def expr(self) -> Expr:
        """The language, as this project reads the pattern."""
        return parse(self.pattern, dialect=self.dialect, search=self.search)

    @property
    def depends_on_unicode_version(self) -> bool:
        """Whether engines with other versions of Unicode may differ on characters that one of them does not know."""
        return _VERSIONED.search(self.pattern) is not None


def matcher(case: Case) -> Matcher:
    """The verdict of the other engine.

    Raises:
        Unreadable: it refuses the pattern, or cannot be asked for this meaning.
    """
    pattern = case.pattern if case.reference is None else case.reference
    return _ecma(pattern, case.search) if case.dialect == "ecma" else _python(pattern, case.search)


def _ecma(pattern: str, search: bool) -> Matcher:
    whole = pattern if search else f"^(?:{pattern})$"
    for flags in ("u", ""):
        try:
            find = regress.Regex(whole, flags).find
        except regress.RegressError as error:
            refusal = str(error)
            continue
        return lambda text: find(text) is not None
    raise Unreadable(refusal)


def _python(pattern: str, search: bool) -> Matcher:
    leading = _FLAGS.match(pattern)
    flags = leading[1] if leading else ""
    unset = "u" not in flags and "a" not in flags
    # Properties and case are Unicode's, which both packages grant only to patterns whose classes are Unicode's as well.
    unicode = unset and ("i" in flags or _PROPERTY.search(pattern) is not None)
    if unicode and (_CLASS_ESCAPE.search(pattern) or _POSIX.search(pattern)):
        raise Unreadable("ASCII classes beside Unicode case or properties: set the flag u or a")
    compiled = _compiled(pattern, ascii_only=unset and not unicode)
    find = compiled.search if search else compiled.fullmatch
    return lambda text: find(text) is not None


def _compiled(pattern: str, *, ascii_only: bool) -> re.Pattern[str] | regex.Pattern[str]:
    if not (_PROPERTY.search(pattern) or _POSIX.search(pattern)):
        with suppress(re.error), warnings.catch_warnings():
            # A set that looks as if it held another set means what it says.
            warnings.simplefilter("ignore", FutureWarning)
            return re.compile(pattern, re.ASCII if ascii_only else 0)
    try:
        return regex.compile(pattern, regex.ASCII if ascii_only else 0)
    except regex.error as error:
        raise Unreadable(str(error)) from None
