"""PartialJson: the value of a JSON text that is still being written.

    {"name": "Zo        {"name": "Zo"}
    {"name": "Zoe", "a  {"name": "Zoe"}
    [1, 2.              [1, 2]

The value so far is that of the longest prefix of the text that becomes complete by closing its strings, arrays and
objects. A string grows while it is written, and so does a number, digit by digit. A name without a value is left out,
and so is half of a literal name (such as `true`), of an escape or of a surrogate pair.

Each character is read once, and containers are changed in place: a returned value grows with the text.

Rejected: completing the text and reading it again each time (quadratic); leaving numbers out until they are complete
(the value of a prefix would depend on what follows); recursion (texts may be nested without bound).
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any, Final

from automata.errors import TextNotAllowed

# What may come next.
_VALUE, _FIRST_VALUE, _NAME, _FIRST_NAME, _COLON, _NEXT, _OVER, _STRING, _WORD = range(9)

_SPACE = re.compile(r"[ \t\n\r]*")
_PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
_WORDS = re.compile(r"[-+.0-9A-Za-z]*")
# As much as can be read; an unfinished fraction or exponent is left out.
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_HEXADECIMAL = re.compile(r"[0-9a-fA-F]{4}")
_ESCAPES: Final = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_LITERALS: Final = {"true": True, "false": False, "null": None}


class _Open:
    """An array or object that is open, and the name in it that was read last."""

    __slots__ = ("name", "value")

    def __init__(self, value: list[Any] | dict[str, Any]) -> None:
        self.value = value
        self.name = ""

    def add(self, value: Any) -> None:
        if isinstance(self.value, list):
            self.value.append(value)
        else:
            self.value[self.name] = value

    def replace(self, value: Any) -> None:
        if isinstance(self.value, list):
            self.value[-1] = value
        else:
            self.value[self.name] = value

    def place(self, *, is_new: bool = False) -> str:
        """Return the part of a JSON pointer for the last item, or for the one after it if `is_new`."""
        if isinstance(self.value, list):
            return str(len(self.value) if is_new else len(self.value) - 1)
        return self.name.replace("~", "~0").replace("/", "~1")


class PartialJson:
    """Reads a JSON text (RFC 8259) piece by piece."""

    def __init__(self) -> None:
        self._read: list[str] = []
        # The end of the text read so far, if it is an incomplete escape.
        self._rest = ""
        self._outside: list[Any] = []
        self._open = [_Open(self._outside)]
        self._next = _VALUE
        # Of the string or word that is being read: its text so far, whether its value is in its container yet, whether
        # it is a name, and the first half of a surrogate pair.
        self._text, self._is_there, self._is_name, self._half = "", False, False, ""

    @property
    def has_begun(self) -> bool:
        """Whether there is a value yet."""
        return bool(self._outside)

    @property
    def value(self) -> Any:
        """The value so far; None if there is none yet. Arrays and objects in it grow with the text."""
        return self._outside[0] if self.has_begun else None

    @property
    def pointer(self) -> str:
        """The JSON pointer (RFC 6901) of the innermost incomplete value; between values, that of their container."""
        inside = self._next in (_COLON, _VALUE, _WORD) or (self._next == _STRING and not self._is_name)
        is_there = self._next in (_WORD, _STRING) and self._is_there
        steps = [one.place() for one in self._open[1:-1]]
        if inside and len(self._open) > 1:
            steps.append(self._open[-1].place(is_new=not is_there))
        return "".join(f"/{step}" for step in steps)

    def feed(self, text: str) -> Any:
        """Read more of the text.

        Returns:
            The value so far.

        Raises:
            TextNotAllowed: no JSON text begins with the text so far; numbers and literals are checked when they are
                complete.
        """
        self._read.append(text)
        text, self._rest = self._rest + text, ""
        at = 0
        while at < len(text):
            if self._next == _STRING:
                at = self._read_string(text, at)
            elif self._next == _WORD:
                at = self._read_word(text, at)
            else:
                found = _SPACE.match(text, at)
                assert found is not None
                at = found.end()
                if at < len(text):
                    at = self._read_mark(text[at], at)
        self._show()
        return self.value

    def finish(self) -> Any:
        """Return the value of the whole text.

        Raises:
            TextNotAllowed: the text is not complete.
        """
        if self._next == _WORD:
            self._end_word()
        if self._next != _OVER:
            raise self._refused("the JSON text is not complete")
        return self.value

    # Marks

    def _read_mark(self, char: str, at: int) -> int:
        """Read the first character of a value or mark; return where to continue."""
        expected = self._next
        if expected in (_VALUE, _FIRST_VALUE) and (char in '"{[-' or char.isalnum()):
            return self._begin(char, at)
        if char == '"' and expected in (_NAME, _FIRST_NAME):
            self._next, self._text, self._is_name = _STRING, "", True
        elif char == ":" and expected == _COLON:
            self._next = _VALUE
        elif char == "," and expected == _NEXT:
            self._next = _VALUE if isinstance(self._open[-1].value, list) else _NAME
        elif char in "]}" and expected in (_NEXT, _FIRST_VALUE if char == "]" else _FIRST_NAME):
            if isinstance(self._open[-1].value, list) != (char == "]"):
                raise self._refused(f"a {char!r} closes what it did not open")
            self._open.pop()
            self._value_over()
        else:
            raise self._refused(f"no JSON text continues with {char!r}")
        return at + 1

    def _begin(self, char: str, at: int) -> int:
        self._text, self._is_there, self._is_name = "", False, False
        if char in "{[":
            value: list[Any] | dict[str, Any] = [] if char == "[" else {}
            self._open[-1].add(value)
            self._open.append(_Open(value))
            self._next = _FIRST_VALUE if char == "[" else _FIRST_NAME
            return at + 1
        self._next = _STRING if char == '"' else _WORD
        return at + 1 if char == '"' else at

    def _value_over(self) -> None:
        self._next = _OVER if len(self._open) == 1 else _NEXT

    # Strings

    def _read_string(self, text: str, at: int) -> int:
        """Read plain characters of a string, and the escape or the end after them; return where to continue."""
        found = _PLAIN.match(text, at)
        assert found is not None
        if found.end() > at:
            self._text += self._half + found[0]
            self._half, at = "", found.end()
        if at == len(text):
            return at
        if text[at] == "\\":
            return self._read_escape(text, at)
        if text[at] != '"':
            raise self._refused(f"a string has the character {text[at]!r} unescaped")
        self._text += self._half
        self._half = ""
        if self._is_name:
            self._open[-1].name, self._next = self._text, _COLON
        else:
            self._put(self._text)
            self._value_over()
        return at + 1

    def _read_escape(self, text: str, at: int) -> int:
        kind = text[at + 1 : at + 2]
        if not kind or (kind == "u" and len(text) < at + 6):
            self._rest = text[at:]
            if kind and not re.fullmatch("[0-9a-fA-F]*", text[at + 2 :]):
                raise self._refused("an escape is not made of four hexadecimal digits")
            return len(text)
        if kind != "u":
            if kind not in _ESCAPES:
                raise self._refused(f"there is no escape \\{kind}")
            self._text += self._half + _ESCAPES[kind]
            self._half = ""
            return at + 2
        if not _HEXADECIMAL.fullmatch(text, at + 2, at + 6):
            raise self._refused("an escape is not made of four hexadecimal digits")
        self._read_unit(int(text[at + 2 : at + 6], 16))
        return at + 6

    def _read_unit(self, unit: int) -> None:
        """Read a unit of UTF-16, which may be half of a character."""
        if self._half and 0xDC00 <= unit < 0xE000:
            self._text += chr(0x10000 + ((ord(self._half) - 0xD800) << 10) + unit - 0xDC00)
            self._half = ""
            return
        self._text += self._half
        self._half = chr(unit) if 0xD800 <= unit < 0xDC00 else ""
        self._text += "" if self._half else chr(unit)

    # Numbers and literals

    def _read_word(self, text: str, at: int) -> int:
        found = _WORDS.match(text, at)
        assert found is not None
        self._text += found[0]
        if found.end() < len(text):
            self._end_word()
        return found.end()

    def _end_word(self) -> None:
        number = _NUMBER.fullmatch(self._text)
        if number is None and self._text not in _LITERALS:
            raise self._refused(f"{self._text!r} is not a value")
        try:
            self._put(_LITERALS[self._text] if number is None else _read_number(number))
        except ValueError:
            raise self._refused("a number has more digits than Python reads") from None
        self._value_over()

    # Values

    def _show(self) -> None:
        """Put the value of an incomplete string or word into its container."""
        if self._next == _STRING and not self._is_name:
            self._put(self._text)
        elif self._next == _WORD and self._text in _LITERALS:
            self._put(_LITERALS[self._text])
        elif self._next == _WORD and (number := _NUMBER.match(self._text)):
            with suppress(ValueError):  # it may become a float, which may have any number of digits
                self._put(_read_number(number))

    def _put(self, value: Any) -> None:
        if self._is_there:
            self._open[-1].replace(value)
        else:
            self._open[-1].add(value)
        self._is_there = True

    def _refused(self, reason: str) -> TextNotAllowed:
        return TextNotAllowed(reason, "".join(self._read))


def _read_number(number: re.Match[str]) -> int | float:
    """Return the number that `_NUMBER` matched.

    Raises:
        ValueError: an integer has more digits than Python reads.
    """
    return float(number[0]) if number[1] or number[2] else int(number[0])
