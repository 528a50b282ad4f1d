"""The symbols of a grammar in Lark's syntax, in order.

    scan_lark    a text -> its symbols, with the kind and the place of each

A line end is a symbol, because it ends a definition. Several line ends with only comments between them are one symbol,
and a line end before a `|` is dropped. The kind of punctuation is its own text. JSON after `%json`, `%regex` and
`%llguidance` is read here too, because only its own syntax shows where it ends.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from constraints.grammars.line_index import LineIndex

_SYMBOL = re.compile(
    r"""
    (?P<space> [ \t\f]+ | \\[ ]*\r?\n | (?://|\#)[^\r\n]* )
  | (?P<line_end> \r\n? | \n )
  | (?P<rule> _?[a-z](?:[_a-z0-9]|-(?!>))* (?![A-Za-z0-9_]) )
  | (?P<terminal> _?[A-Z](?:[_A-Z0-9]|-(?!>))* (?![A-Za-z0-9_]) )
  | (?P<string> "(?:\\[^\r\n]|[^"\\\r\n])*"i? )
  | (?P<regexp> /(?:\\(?s:.)|[^/\\])+/[imslux]* )
  | (?P<token> <[^<>\s]+> )
  | (?P<number> [+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)? )
  | (?P<parametric> :: )
  | (?P<mark> \.\. | -> | [:,.()\[\]{}~|&=!?*+] )
  | (?P<directive> %[a-z]+ )
  | (?P<reference> @[A-Za-z0-9_-]+ )
  | (?P<name> [A-Za-z_][A-Za-z0-9_]* )
  | (?P<open_string> " )
  | (?P<open_regexp> / )
  | (?P<single_quote> ' )
  | (?P<semicolon> ; )
  | (?P<unknown> (?s:.) )
    """,
    re.VERBOSE,
)
_MISTAKES = {
    "name": "a name is written in small letters (a rule) or in capitals (a terminal), with at most one _ before them",
    "parametric": ":: of rules with numbers for parameters is not supported",
    "open_string": "a string is opened and not closed on its line",
    "open_regexp": "a regular expression is opened and never closed, or empty",
    "single_quote": "a string has double quotes in Lark's syntax",
    "semicolon": "a rule ends with its line in Lark's syntax, without a semicolon",
    "unknown": "the character {text!r} is not expected here",
}
_WITH_JSON = ("%json", "%regex", "%llguidance")
_JSON = json.JSONDecoder()
_SPACE = re.compile(r"\s*")


class LarkSymbol(NamedTuple):
    """A symbol: its kind, its text, its position, and the JSON value that follows it, if there is one."""

    kind: str
    text: str
    position: int
    value: Any = None


def scan_lark(text: str, lines: LineIndex) -> list[LarkSymbol]:
    """Return the symbols of a text; the last two are a line end and one of kind "end".

    Raises:
        GrammarError: the text contains something that is not a symbol.
    """
    symbols = [LarkSymbol("line_end", "", 0)]
    match = _SYMBOL.match
    position, length = 0, len(text)
    while position < length:
        found = match(text, position)
        assert found  # the last kind takes any character
        assert found.lastgroup
        kind, start, position = found.lastgroup, position, found.end()
        if kind == "space" or (kind == "line_end" and symbols[-1].kind == kind):
            continue
        written = found.group()
        if kind in _MISTAKES:
            raise lines.error(_MISTAKES[kind].format(text=written), start, None)
        if kind == "mark":
            kind = written
            if kind == "|" and symbols[-1].kind == "line_end" and len(symbols) > 1:
                del symbols[-1]
        value = None
        if written in _WITH_JSON:
            value, position = _json_value(text, position, lines)
        symbols.append(LarkSymbol(kind, written, start, value))
    return [*symbols[1:], LarkSymbol("line_end", "", length), LarkSymbol("end", "", length)]


def _json_value(text: str, position: int, lines: LineIndex) -> tuple[Any, int]:
    """Return the JSON value that follows a position, and where it ends."""
    space = _SPACE.match(text, position)
    start = space.end() if space else position
    try:
        return _JSON.raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise lines.error(f"this is not JSON: {error.msg}", min(error.pos, len(text)), None) from None
    except RecursionError:
        raise lines.error("this JSON is nested too deeply", start, None) from None
    except ValueError:
        # Python bounds the digits of integers, and does not say where the number is.
        raise lines.error("this JSON has a number with too many digits", start, None) from None
