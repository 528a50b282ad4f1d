"""Independent matchers: what a pattern means according to engines that share no code with this project.

    Case        a pattern, its dialect, and whether a text must match as a whole or only somewhere
    matcher     the verdict on a text, by another engine

Python's dialect is judged by `re`, with ASCII classes unless the pattern sets the flag u, as this project reads it;
what `re` lacks (properties, POSIX classes, lookbehinds of any length) by the package `regex`. ECMA-262 is judged by V8,
which PyPI's mini-racer carries, under the flag u; a pattern that only the older grammar without that flag reads is
judged by that grammar, which takes a character above U+FFFF for two, so there is no verdict on those.

V8 departs from the specification in two places. It finds an empty match between the two halves of such a character, so
texts with one are matched from each character on. And in a group `(?i: )` it forgets to fold U+017F, U+1E9E and U+212A
unless they stand in a set. All engines backtrack, so texts have to be short where repetitions are nested; V8 is given
some seconds.

Rejected: regress, an engine in Rust that is quicker to ask, but takes nine letters for `^((a{1,2}){1,2}){1,2}$`.
"""

from __future__ import annotations

import atexit
import json
import re
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Literal

import regex
from py_mini_racer import JSEvalException, JSTimeoutException, MiniRacer

from automata import Expr, parse

# The verdicts on some texts; None is none.
Matcher = Callable[[Sequence[str]], list[bool | None]]
_VERDICTS = {"0": False, "1": True, "-": None}
Dialect = Literal["python", "ecma"]

_FLAGS = re.compile(r"\(\?([a-zA-Z]+)\)")
_IGNORES_CASE = re.compile(r"\(\?[a-zA-Z]*i[a-zA-Z]*[-:)]")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_PROPERTY = re.compile(r"\\[pP](?:\{[^}]*\})?")
_POSIX = re.compile(r"\[:")
_CLASS_ESCAPE = re.compile(r"\\[dDwWsSbB]")
_SECONDS = 5.0
_TEST = r"""
const above = /[\ud800-\udbff]/;
function compiled(pattern, flags) {
  try { return new RegExp(pattern, "u" + flags) } catch { return new RegExp(pattern) }
}
function anywhere(sticky, text) {
  for (let place = 0; place <= text.length; place += text.codePointAt(place) > 0xffff ? 2 : 1) {
    sticky.lastIndex = place;
    if (sticky.test(text)) return true;
  }
  return false;
}
function test(pattern, texts) {
  const plain = compiled(pattern, ""), sticky = compiled(pattern, "y");
  const verdict = text => !above.test(text) ? plain.test(text) : plain.unicode ? anywhere(sticky, text) : null;
  return texts.map(text => { const v = verdict(text); return v === null ? "-" : v ? "1" : "0" }).join("");
}
"""
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


def tables_differ(case: Case, text: str) -> bool:
    """Whether V8 has other tables of Unicode than the package `regex`, from which this project takes properties, for a
    character of a text and a property of the pattern: they are of different versions."""
    if case.dialect != "ecma":
        return False
    characters = list(text)
    return any(
        _ecma(name, search=True)(characters) != [regex.match(name, char) is not None for char in characters]
        for name in _PROPERTY.findall(case.pattern)
    )


def _ecma(pattern: str, search: bool) -> Matcher:
    whole = json.dumps(pattern if search else f"^(?:{pattern})$")

    def verdicts(texts: Sequence[str]) -> list[bool | None]:
        try:
            answer = _v8().eval(f"test({whole}, {json.dumps(texts)})", timeout_sec=_SECONDS)
        except JSTimeoutException:
            raise Unreadable("V8 takes too long") from None
        except JSEvalException:
            raise Unreadable("V8 does not read it") from None
        return [_VERDICTS[verdict] for verdict in str(answer)]

    return verdicts


@cache
def _v8() -> MiniRacer:
    engine = MiniRacer()
    # Left to the end of the interpreter, it may wait for ever for a thread that is gone.
    atexit.register(engine.close)
    engine.eval(_TEST)
    return engine


def _python(pattern: str, search: bool) -> Matcher:
    leading = _FLAGS.match(pattern)
    flags = leading[1] if leading else ""
    unset = "u" not in flags and "a" not in flags
    # Properties and case are Unicode's, which both packages grant only to patterns whose classes are Unicode's as well.
    unicode = unset and bool(_IGNORES_CASE.search(pattern) or _PROPERTY.search(pattern))
    if unicode and (_CLASS_ESCAPE.search(pattern) or _POSIX.search(pattern)):
        raise Unreadable("ASCII classes beside Unicode case or properties: set the flag u or a")
    # Before Python 3.14 the empty text has neither `\\b` nor `\\B`.
    pattern = _ESCAPE.sub(lambda match: r"(?!\b)" if match[1] == "B" else match[0], pattern)
    compiled = _compiled(pattern, ascii_only=unset and not unicode)
    find = compiled.search if search else compiled.fullmatch
    return lambda texts: [find(text) is not None for text in texts]


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
