"""Independent matchers: what a pattern means according to engines that share no code with this project.

    Case        a pattern, its dialect, and whether a text must match as a whole or only somewhere
    matcher     the verdicts of another engine on texts

`re` judges Python's dialect, with ASCII classes unless the pattern sets the flag u, as this project reads it. The
package `regex` judges patterns that `re` cannot read (properties, POSIX classes, lookbehinds of any length). V8, from
PyPI's mini-racer, judges ECMA-262 with the flag u. A pattern that is valid only without that flag is judged without it.
V8 then reads a character above U+FFFF as two characters, so there is no verdict on texts with such characters.

V8 departs from the specification in two places. It finds an empty match between the two halves of a character above
U+FFFF, so the match in a text with such characters is tried from the beginning of each character. And in a group
`(?i: )` it does not fold U+017F, U+1E9E and U+212A unless they are in a set. All these engines backtrack, so texts have
to be short if repetitions are nested; V8 has a time limit of a few seconds.

Rejected: regress, an engine in Rust that is quicker to ask, but whose `^((a{1,2}){1,2}){1,2}$` matches nine letters.
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

# Returns a verdict for each text, or None for no verdict.
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
    """The other engine refuses the pattern, or cannot judge it."""


@dataclass(frozen=True, slots=True)
class Case:
    """A pattern to check.

    Attributes:
        pattern: the pattern that this project reads.
        dialect: the dialect in which it is read.
        search: whether a match anywhere in a text is enough.
        reference: the same pattern in the other engine's notation, if that differs.
    """

    pattern: str
    dialect: Dialect = "python"
    search: bool = False
    reference: str | None = None

    def expr(self) -> Expr:
        """Return the language of the pattern, as this project reads it."""
        return parse(self.pattern, dialect=self.dialect, search=self.search)

    @property
    def depends_on_unicode_version(self) -> bool:
        """Whether engines with different versions of Unicode may disagree on characters that one of them lacks."""
        return _VERSIONED.search(self.pattern) is not None


def matcher(case: Case) -> Matcher:
    """Return the matcher of the other engine for a case.

    Raises:
        Unreadable: the engine refuses the pattern, or has no way to read it with this meaning. For ECMA-262, the
            matcher raises it when it is called, also if V8 takes too long.
    """
    pattern = case.pattern if case.reference is None else case.reference
    return _ecma(pattern, case.search) if case.dialect == "ecma" else _python(pattern, case.search)


def tables_differ(case: Case, text: str) -> bool:
    """Return whether V8 and the package `regex` disagree on a property of the pattern for a character of a text.

    They may have different versions of Unicode, and this project takes its properties from `regex`.
    """
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
            raise Unreadable("V8 refuses the pattern") from None
        return [_VERDICTS[verdict] for verdict in str(answer)]

    return verdicts


@cache
def _v8() -> MiniRacer:
    engine = MiniRacer()
    # If the interpreter closes it at exit, it may wait forever for a thread that has ended.
    atexit.register(engine.close)
    engine.eval(_TEST)
    return engine


def _python(pattern: str, search: bool) -> Matcher:
    leading = _FLAGS.match(pattern)
    flags = leading[1] if leading else ""
    unset = "u" not in flags and "a" not in flags
    # Both packages apply Unicode's properties and case only to patterns whose classes are Unicode's, too.
    unicode = unset and bool(_IGNORES_CASE.search(pattern) or _PROPERTY.search(pattern))
    if unicode and (_CLASS_ESCAPE.search(pattern) or _POSIX.search(pattern)):
        raise Unreadable("ASCII classes together with Unicode case or properties: set the flag u or a")
    # Before Python 3.14, neither `\b` nor `\B` matches in the empty text.
    pattern = _ESCAPE.sub(lambda match: r"(?!\b)" if match[1] == "B" else match[0], pattern)
    compiled = _compiled(pattern, ascii_only=unset and not unicode)
    find = compiled.search if search else compiled.fullmatch
    return lambda texts: [find(text) is not None for text in texts]


def _compiled(pattern: str, *, ascii_only: bool) -> re.Pattern[str] | regex.Pattern[str]:
    if not (_PROPERTY.search(pattern) or _POSIX.search(pattern)):
        with suppress(re.error), warnings.catch_warnings():
            # Ignore the warning about sets that look nested; `re` reads their characters literally.
            warnings.simplefilter("ignore", FutureWarning)
            return re.compile(pattern, re.ASCII if ascii_only else 0)
    try:
        return regex.compile(pattern, regex.ASCII if ascii_only else 0)
    except regex.error as error:
        raise Unreadable(str(error)) from None
