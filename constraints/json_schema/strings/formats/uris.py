"""URIs and IRIs: uri and uri-reference are the rules `URI` and `URI-reference` of RFC 3986, appendix A; iri and
iri-reference are `IRI` and `IRI-reference` of RFC 3987, section 2.2, which differ in the characters allowed.

    scheme ":" ("//" authority path | path) ["?" query] ["#" fragment]

A host that looks like an IPv4 address but is not one is a registered name, so only hosts in brackets are treated
separately.
"""

from __future__ import annotations

from typing import NamedTuple

from automata import expressions as ex
from automata.expressions import Expr
from automata.expressions.ranges import Ranges
from automata.pattern import parse
from constraints.json_schema.strings.formats import addresses

# RFC 3987, section 2.2: ucschar and iprivate.
BEYOND_ASCII: Ranges = (
    *((0xA0, 0xD7FF), (0xF900, 0xFDCF), (0xFDF0, 0xFFEF)),
    *((plane << 16 | (0x1000 if plane == 14 else 0), plane << 16 | 0xFFFD) for plane in range(1, 15)),
)
PRIVATE: Ranges = ((0xE000, 0xF8FF), (0xF0000, 0xFFFFD), (0x100000, 0x10FFFD))

PERCENT_ENCODED = parse("%[0-9a-fA-F]{2}")
_SUB_DELIMITERS = "!$&'()*+,;="


class _Parts(NamedTuple):
    """The parts of a URI or an IRI."""

    authority: Expr
    segment: Expr
    first_segment: Expr  # of a relative path: no colon
    character: Expr
    query: Expr
    fragment: Expr


def _parts(beyond: Ranges, private: Ranges) -> _Parts:
    def any_of(others: str, more: Ranges = beyond) -> Expr:
        plain = ex.char_set((0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A), "-._~", _SUB_DELIMITERS, others, *more)
        return plain | PERCENT_ENCODED

    future = parse("[vV][0-9a-fA-F]+") + "." + parse(r"[A-Za-z0-9._~!$&'()*+,;=:-]+")
    host = ex.concat("[", addresses.ipv6() | future, "]") | any_of("").star()
    character = any_of(":@")
    return _Parts(
        authority=(any_of(":").star() + "@").optional() + host + parse("(?::[0-9]*)?"),
        segment=character.star(),
        first_segment=any_of("@").plus(),
        character=character,
        query=any_of(":@/?", (*beyond, *private)).star(),
        fragment=any_of(":@/?").star(),
    )


def _absolute(parts: _Parts) -> Expr:
    return parse("[A-Za-z][A-Za-z0-9+.-]*:") + _hierarchy(parts, parts.character.plus()) + _rest(parts)


def _relative(parts: _Parts) -> Expr:
    return _hierarchy(parts, parts.first_segment) + _rest(parts)


def _hierarchy(parts: _Parts, first: Expr) -> Expr:
    """Return an authority and a path, or a path that does not begin with two slashes; it may begin with `first`."""
    segments = ("/" + parts.segment).star()
    rooted = "/" + (parts.character.plus() + segments).optional()
    return ex.alternation("//" + parts.authority + segments, rooted, first + segments, "")


def _rest(parts: _Parts) -> Expr:
    return ("?" + parts.query).optional() + ("#" + parts.fragment).optional()


def uri() -> Expr:
    return _absolute(_parts((), ()))


def uri_reference() -> Expr:
    parts = _parts((), ())
    return _absolute(parts) | _relative(parts)


def iri() -> Expr:
    return _absolute(_parts(BEYOND_ASCII, PRIVATE))


def iri_reference() -> Expr:
    parts = _parts(BEYOND_ASCII, PRIVATE)
    return _absolute(parts) | _relative(parts)
