"""E-mail addresses and URLs, as in forms and links.

    email    a valid e-mail address by WHATWG's HTML Standard, as in a form's field, without those that mail servers
             refuse: with dots at the ends of a name or side by side, or with a host without a domain
    url      an absolute URL of RFC 3986 whose host is a DNS name or four decimal numbers, optionally with a port

Quoted addresses, names that are not ASCII, and user names in URLs are not allowed: they are rarely intended and often
misleading.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from automata.expressions import Expr, alternation, char_set, concat, literal, repeat
from constraints.values.digits import naturals
from constraints.values.value import Value

_LETTERS = ((0x41, 0x5A), (0x61, 0x7A))
_ALNUM = char_set("0123456789", *_LETTERS)
_NAME = char_set("0123456789!#$%&'*+/=?^_`{|}~-", *_LETTERS)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")


@cache
def _label() -> Expr:
    """Return one part of a host's name (RFC 1123, section 2.1): up to 63 characters."""
    inner = repeat(char_set("0123456789-", *_LETTERS), 0, 61)
    return concat(_ALNUM, repeat(concat(inner, _ALNUM), 0, 1))


@cache
def _top_level() -> Expr:
    """Return the last part of a host's name, which is not a number: at least two letters, or an encoded name."""
    encoded = concat(repeat(char_set("0123456789-", *_LETTERS), 0, 58), _ALNUM)
    return alternation(repeat(char_set(*_LETTERS), 2, 63), concat("xn--", encoded))


def email() -> Value[str]:
    """Return the constraint of an e-mail address: a name of up to 64 characters, "@" and a domain (WHATWG HTML,
    4.10.5.1.5; RFC 5321, 4.5.3.1)."""
    return Value(_email(), str)


@cache
def _email() -> Expr:
    name = concat(repeat(_NAME, 1), repeat(concat(".", repeat(_NAME, 1)), 0))
    short = repeat(alternation(_NAME, "."), 1, 64)
    return concat(name & short, "@", repeat(concat(_label(), "."), 1), _top_level())


def url(schemes: Sequence[str] = ("https", "http")) -> Value[str]:
    """Return the constraint of an absolute URL with a host: `scheme://host`, and optionally port, path, query and
    fragment (RFC 3986, section 3).

    Args:
        schemes: the schemes, as they are written.

    Raises:
        TypeError: `schemes` is not a list.
        ValueError: there are no schemes, or RFC 3986 does not allow one of them.
    """
    if isinstance(schemes, str) or not isinstance(schemes, Sequence):
        raise TypeError(f"schemes are a list: [{schemes!r}]?")
    if not schemes:
        raise ValueError("a URL needs a scheme")
    for scheme in schemes:
        if not isinstance(scheme, str) or not _SCHEME.fullmatch(scheme):
            raise ValueError(f"{scheme!r} is not a scheme (RFC 3986, section 3.1)")
    return Value(concat(alternation(*map(literal, schemes)), "://", _behind_scheme()), str)


@cache
def _behind_scheme() -> Expr:
    hexadecimal = char_set("0123456789ABCDEFabcdef")
    plain = char_set("0123456789-._~!$&'()*+,;=:@", *_LETTERS)
    character = alternation(plain, concat("%", hexadecimal, hexadecimal))
    octet = naturals(0, 255)
    name = concat(repeat(concat(_label(), "."), 0), _top_level())
    host = alternation(name, concat(octet, ".", octet, ".", octet, ".", octet))
    query = repeat(alternation(character, char_set("/?")), 0)
    return concat(
        host,
        repeat(concat(":", naturals(0, 65535)), 0, 1),
        repeat(concat("/", repeat(character, 0)), 0),
        repeat(concat("?", query), 0, 1),
        repeat(concat("#", query), 0, 1),
    )
