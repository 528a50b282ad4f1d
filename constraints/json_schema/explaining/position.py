"""The position of the end of an incomplete JSON text: in which value it is, and at which part of the value.

position      a text -> JsonPosition
JsonPosition  the value, and where it and the values around it begin in the text
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Step: TypeAlias = str | int
# What is being written.
What: TypeAlias = Literal["value", "name", "colon", "after"]

_BLANKS: Final = re.compile(rb"[ \t\n\r]*")
_STRING: Final = re.compile(rb'"(?:[^"\\]|\\.)*("?)', re.DOTALL)
_SCALAR: Final = re.compile(rb"[^\s,:\[\]{}\"]+")
_WORDS: Final = (b"true", b"false", b"null")


@dataclass(frozen=True, slots=True)
class JsonPosition:
    """Where a text stops.

    Attributes:
        path: the names and indices that lead to the value; () for the whole.
        begins: where the whole, each value around this one, and this one begin, as far as they have begun.
        what: a value, which may have begun; the name of a member of the object; the colon after a name, whose value
            has not begun; or what comes after an item, a member or the whole.
        members: the names of the object's members so far.
    """

    path: tuple[Step, ...]
    begins: tuple[int, ...]
    what: What
    members: tuple[str, ...] = ()


@dataclass(slots=True)
class _Container:
    """An array or object that is open."""

    begin: int
    is_object: bool
    what: What
    step: Step
    members: list[str]


def position(text: bytes) -> JsonPosition:
    """Return where the beginning of a JSON text stops.

    A number at the end may continue, so it is the value that is being written; a complete word or string is not.
    """
    return _Reader(text).read()


class _Reader:
    """Reads the beginning of one text."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.open: list[_Container] = []
        self.is_over = False

    def read(self) -> JsonPosition:
        at, text = 0, self.text
        while True:
            blanks = _BLANKS.match(text, at)
            at = blanks.end() if blanks else at
            if at == len(text):
                return self.found()
            char = text[at : at + 1]
            if char in b"[{":
                is_object = char == b"{"
                self.open.append(_Container(at, is_object, "name" if is_object else "value", 0, []))
                at += 1
            elif char in b"]}":
                self.open.pop()
                self.finish()
                at += 1
            elif char in b",:":
                self.punctuate(char)
                at += 1
            else:
                begin, at = at, self.scalar(at)
                if at < 0:
                    return self.found(begin)

    def punctuate(self, char: bytes) -> None:
        """Continue after a comma or a colon."""
        inner = self.open[-1]
        inner.what = "value" if char == b":" or not inner.is_object else "name"
        if char == b"," and isinstance(inner.step, int):
            inner.step += 1

    def scalar(self, begin: int) -> int:
        """Read a name, a string, a number or a word; return its end, -1 if it may continue."""
        string = _STRING.match(self.text, begin)
        match = string or _SCALAR.match(self.text, begin)
        end = match.end() if match else len(self.text)
        if string and not string[1]:
            return -1
        if self.open and self.open[-1].what == "name":
            name = json.loads(self.text[begin:end])
            inner = self.open[-1]
            inner.step, inner.what = name, "colon"
            inner.members.append(name)
            return end
        if not string and end == len(self.text) and self.text[begin:] not in _WORDS:
            return -1
        self.finish()
        return end

    def finish(self) -> None:
        """Note that a value is whole."""
        if self.open:
            self.open[-1].what = "after"
        else:
            self.is_over = True

    def found(self, begin: int | None = None) -> JsonPosition:
        """Return where the text stops; `begin` is the beginning of a last scalar that may continue."""
        begins = [container.begin for container in self.open]
        steps = tuple(container.step for container in self.open)
        if not self.open:
            return JsonPosition((), () if begin is None else (begin,), "after" if self.is_over else "value")
        inner = self.open[-1]
        if inner.what in ("name", "after"):
            return JsonPosition(steps[:-1], tuple(begins), inner.what, tuple(inner.members))
        if begin is not None:
            begins.append(begin)
        return JsonPosition(steps, tuple(begins), inner.what, tuple(inner.members))


def written_path(path: tuple[Step, ...]) -> str:
    """Write a path as a JSONPath (RFC 9535).

    >>> written_path(("a", 0, "b c"))
    '$.a[0]["b c"]'
    """
    parts = []
    for step in path:
        if isinstance(step, int):
            parts.append(f"[{step}]")
        else:
            plain = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", step)
            parts.append(f".{step}" if plain else f"[{json.dumps(step, ensure_ascii=False)}]")
    return "$" + "".join(parts)
