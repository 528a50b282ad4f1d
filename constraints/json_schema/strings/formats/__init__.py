"""Formats: what the keyword `format` says of a string, each as a regular language over its characters.

    dates           date-time, date, time, duration                RFC 3339
    mail            email, idn-email                               RFC 5321, RFC 6531
    addresses       ipv4, ipv6                                     RFC 2673, RFC 4291
    identifiers     uuid                                           RFC 4122

An automaton is compiled when its format is first asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from automata.byte_automaton import ByteAutomaton
from automata.compile import compile_expr
from automata.expr import Expr
from constraints.json_schema.strings.formats import (
    addresses,
    dates,
    identifiers,
    mail,
    pointers,
    regexes,
    templates,
    uris,
)

_LANGUAGES: Mapping[str, Callable[[], Expr]] = {
    "date-time": dates.date_time,
    "date": dates.date,
    "time": dates.time,
    "duration": dates.duration,
    "email": mail.email,
    "ipv4": addresses.ipv4,
    "ipv6": addresses.ipv6,
    "uri": uris.uri,
    "uri-reference": uris.uri_reference,
    "iri": uris.iri,
    "iri-reference": uris.iri_reference,
    "uri-template": templates.uri_template,
    "json-pointer": pointers.json_pointer,
    "relative-json-pointer": pointers.relative_json_pointer,
    "regex": regexes.regex,
    "uuid": identifiers.uuid,
}

KNOWN_FORMATS: frozenset[str] = frozenset(_LANGUAGES)


@cache
def format_automaton(name: str) -> ByteAutomaton:
    """The automaton of a format, over the characters of a string in UTF-8.

    Raises:
        KeyError: nobody defines the format.
    """
    return compile_expr(_LANGUAGES[name]())
