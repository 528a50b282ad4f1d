"""Formats: the strings that have a format, as regular languages over their characters.

    dates           date-time, date, time, duration                          RFC 3339
    mail            email, idn-email                                         RFC 5321, RFC 6531
    hostnames       hostname                                                 RFC 1123
    international   idn-hostname                                             RFC 5890 to 5893
    addresses       ipv4, ipv6                                               RFC 2673, RFC 4291
    uris            uri, uri-reference, iri, iri-reference                   RFC 3986, RFC 3987
    templates       uri-template                                             RFC 6570
    pointers        json-pointer, relative-json-pointer                      RFC 6901
    regexes         regex                                                    ECMA-262
    identifiers     uuid                                                     RFC 4122

A few formats are not regular, or need very large automata, or have spellings that their grammars allow and readers
refuse. These have two languages: one with only valid strings, and one with all valid strings and more (`at_most`),
which a negation excludes. So a string between the two neither has the format nor lacks it, and no invalid string is
accepted.

The automaton of a format is compiled when it is first needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from automata.byte_automaton import ByteAutomaton
from automata.compile.compiler import compile_expr
from automata.expressions import ANY_TEXT, Expr
from constraints.json_schema.strings.formats import (
    addresses,
    dates,
    hostnames,
    identifiers,
    international,
    mail,
    pointers,
    regexes,
    templates,
    uris,
)

_LANGUAGES: Mapping[str, Callable[[], Expr | ByteAutomaton]] = {
    "date-time": dates.date_time,
    "date": dates.date,
    "time": dates.time,
    "duration": dates.duration,
    "email": mail.email,
    "idn-email": mail.idn_email,
    "hostname": hostnames.hostname,
    "idn-hostname": international.idn_hostname,
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
# Of the formats that are not exact, all valid strings and more.
_AT_MOST: Mapping[str, Callable[[], Expr]] = {
    "date-time": dates.date_time_at_most,
    "time": dates.time_at_most,
    "duration": dates.duration_at_most,
    "email": mail.email_at_most,
    "idn-email": mail.idn_email_at_most,
    "hostname": hostnames.hostname_at_most,
    "idn-hostname": international.idn_hostname_at_most,
    "relative-json-pointer": pointers.relative_json_pointer_at_most,
    "regex": lambda: ANY_TEXT,
}

KNOWN_FORMATS: frozenset[str] = frozenset(_LANGUAGES)
INEXACT_FORMATS: frozenset[str] = frozenset(_AT_MOST)


@cache
def format_automaton(name: str, *, at_most: bool = False) -> ByteAutomaton:
    """Return the automaton of a format, over the characters of a string in UTF-8.

    Args:
        name: one of `KNOWN_FORMATS`.
        at_most: take all valid strings and more, in place of valid strings alone; for `INEXACT_FORMATS` only.

    Raises:
        KeyError: no draft defines the format.
    """
    language = (_AT_MOST if at_most else _LANGUAGES)[name]()
    return language if isinstance(language, ByteAutomaton) else compile_expr(language)
