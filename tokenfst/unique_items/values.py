"""JSON values as they are compared, and which of them a value under way may still become.

    Value       a string as `str`, anything else as a tuple that begins with its kind. Equal as JSON Schema has it: 1.0
                is 1, escapes and the order of members count for nothing, and `false` is not 0
    Text        a string under way: its characters so far, and an escape that is not complete
    bytes       a number or a word under way, as it is written

What a number may become is told by its digits without zeros at either end, which no exponent changes. Once a number or
a string cannot become a value any more, it cannot whatever follows.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

from automata.errors import LimitExceeded

Value: TypeAlias = Any

# The most digits of an exponent.
MAX_EXPONENT: Final = 1_000

_NUMBER: Final = re.compile(rb"(-?)(\d*)(?:\.(\d*))?(?:([eE])([+-]?)(\d*))?")
_WORDS: Final = {b"t"[0]: b"true", b"f"[0]: b"false", b"n"[0]: b"null"}
_BACKSLASH, _U = b"\\u"
_SHORT: Final = dict(zip(b'"\\/bfnrt', b'"\\/\b\f\n\r\t', strict=True))
# The letters of \u0041.
_LONG: Final = 6


class Text(NamedTuple):
    """A string under way.

    Attributes:
        done: its characters so far, in UTF-8; halves of surrogate pairs as Python's "surrogatepass" writes them.
        rest: the letters of an escape that is not complete, or that is a first half whose second one may follow.
    """

    done: bytes = b""
    rest: bytes = b""

    @property
    def escapes(self) -> bool:
        """Whether the next byte is part of an escape even if it is a quotation mark."""
        return self.rest.endswith(b"\\")

    def more(self, byte: int) -> Text:
        """Return the string with one more byte, which does not end it."""
        rest = self.rest + bytes([byte])
        match len(rest):
            case 1:
                return Text(self.done, rest) if byte == _BACKSLASH else Text(self.done + rest)
            case 2 if byte != _U:
                return Text(self.done + bytes([_SHORT[byte]]))
            case 6:
                return self._escaped(rest)
            case 7 if byte != _BACKSLASH:
                return self._ended().more(byte)
            case 8 if byte != _U:
                return Text(self._ended().done, b"\\").more(byte)
            case 12:
                second = _code(rest[_LONG:])
                if 0xDC00 <= second <= 0xDFFF:
                    code = 0x10000 + ((_code(rest) - 0xD800) << 10) + second - 0xDC00
                    return Text(self.done + chr(code).encode())
                return self._ended()._escaped(rest[_LONG:])
        return Text(self.done, rest)

    def may_be(self, text: str) -> bool:
        """Return whether it may become a string."""
        encoded = text.encode("utf-8", "surrogatepass")
        if not encoded.startswith(self.done) or not self.rest:
            return encoded.startswith(self.done)
        following = encoded[len(self.done) :].decode("utf-8", "surrogatepass")[:1]
        escapes = [
            _escape(following),
            *(b"\\" + bytes([short]) for short, byte in _SHORT.items() if following == chr(byte)),
        ]
        if following and any(escape.startswith(self.rest.lower()) for escape in escapes):
            return True
        # The first half may also be a character of its own, and what follows it another.
        return len(self.rest) > _LONG and Text(self._ended().done, self.rest[_LONG:]).may_be(text)

    def next_byte(self, text: str) -> bytes:
        """Return the byte that follows if it becomes a longer string, which is not written as an escape."""
        return text.encode("utf-8", "surrogatepass")[len(self.done) :][:1]

    def value(self) -> str:
        """Return the string that ends here."""
        return self._ended().done.decode("utf-8", "surrogatepass")

    def _escaped(self, escape: bytes) -> Text:
        """Return the string with a long escape, which waits if it is a first half."""
        code = _code(escape)
        return Text(self.done, escape) if 0xD800 <= code <= 0xDBFF else Text(self.done + _encoded(code))

    def _ended(self) -> Text:
        """Return the string with the half that waits, if one does, as a character of its own."""
        return Text(self.done + _encoded(_code(self.rest))) if len(self.rest) >= _LONG else self


def _escape(char: str) -> bytes:
    """Return the long escape of a character, with small letters."""
    halves = char.encode("utf-16-be", "surrogatepass").hex()
    return b"".join(b"\\u" + halves[at : at + 4].encode() for at in range(0, len(halves), 4))


def _code(escape: bytes) -> int:
    return int(escape[2:_LONG], 16)


def _encoded(code: int) -> bytes:
    return chr(code).encode("utf-8", "surrogatepass")


class _Number(NamedTuple):
    """A number as far as it is written.

    Attributes:
        is_negative: whether it begins with a minus.
        digits: its digits without zeros at the beginning.
        shift: the exponent of the last of them, without the exponent that is written.
        exponent: the sign and the digits of the exponent; None without one.
    """

    is_negative: bool
    digits: str
    shift: int
    exponent: tuple[str, str] | None


@lru_cache(4096)
def _number(written: bytes) -> _Number:
    found = _NUMBER.fullmatch(written)
    assert found is not None
    sign, whole, fraction, has_exponent, exponent_sign, exponent = [part.decode() for part in found.groups(b"")]
    digits = (whole + fraction).lstrip("0")
    return _Number(bool(sign), digits, -len(fraction), (exponent_sign, exponent) if has_exponent else None)


def scalar_value(written: bytes) -> Value:
    """Return the value of a number or a word.

    Raises:
        LimitExceeded: the exponent has more than `MAX_EXPONENT` digits.
    """
    if written[0] in _WORDS:
        return ("word", written)
    number = _number(written)
    digits = number.digits.rstrip("0")
    if not digits:
        return ("number", False, "", 0)
    sign, exponent = number.exponent or ("", "0")
    if len(exponent) > MAX_EXPONENT:
        raise LimitExceeded(f"an exponent has more than {MAX_EXPONENT:,} digits, in an array whose items must differ")
    shift = number.shift + len(number.digits) - len(digits) + int(sign + exponent)
    return ("number", number.is_negative, digits, shift)


def may_be(written: bytes, value: Value) -> bool:
    """Return whether a number or a word under way may become a value."""
    if written[0] in _WORDS:
        return bool(value[0] == "word" and value[1].startswith(written))
    if value[0] != "number":
        return False
    number, (_, is_negative, digits, shift) = _number(written), value
    own = number.digits.rstrip("0")
    if not digits:
        return not own
    if number.is_negative != is_negative:
        return False
    if number.exponent is None:
        return bool(digits.startswith(number.digits) if len(number.digits) <= len(digits) else own == digits)
    return own == digits and _may_shift(*number.exponent, shift - number.shift - len(number.digits) + len(own))


def _may_shift(sign: str, written: str, needed: int) -> bool:
    """Return whether an exponent under way may become a number."""
    if sign != "-" and needed < 0:
        return not sign and not written
    if sign == "-" and needed > 0:
        return False
    return (str(abs(needed)) if needed else "").startswith(written.lstrip("0"))


def reduced(written: bytes, most_zeros: int) -> bytes:
    """Return a number under way that goes on to a value in a set exactly if this one does, and that has no more than
    some zeros in a row; the exponent of zero is not kept."""
    if written[0] in _WORDS:
        return written
    number = _number(written)
    if number.exponent is not None and not number.digits:
        return b"0e" + number.exponent[0].encode() + (b"0" if number.exponent[1] else b"")
    return re.sub(rb"0{%d,}" % most_zeros, b"0" * most_zeros, written)
