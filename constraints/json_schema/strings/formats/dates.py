"""Dates and times: date-time, date and time are those of RFC 3339, section 5.6, duration that of its appendix A.

The Gregorian calendar is followed, with leap years; letters may be in either case. Those of durations are capitals: by
the grammar they need not be, but most readers insist on it, as ISO 8601 does. A leap second is the last one of a day in
UTC (section 5.7), so with an offset it stands at the minute of local time that is 23:59 in UTC. Offsets beside a leap
second are whole or half hours: with all of them the automaton would need a state for each minute of the day.
"""

from __future__ import annotations

from automata import expressions as ex
from automata.expressions import Expr
from automata.pattern import parse

_MINUTES = 24 * 60
_LONG, _SHORT = "(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])", "(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
_FEBRUARY = "02-(?:0[1-9]|1[0-9]|2[0-8])"
_LEAP_YEAR = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)"
_FRACTION = r"(?:\.[0-9]+)?"
_DAYS = "(?:[0-9]+D|[0-9]+M(?:[0-9]+D)?|[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?)"
_SECONDS = "T(?:[0-9]+S|[0-9]+M(?:[0-9]+S)?|[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?)"
_DURATION = f"P(?:{_DAYS}(?:{_SECONDS})?|{_SECONDS}|[0-9]+W)"


def date() -> Expr:
    return parse(f"[0-9]{{4}}-(?:{_LONG}|{_SHORT}|{_FEBRUARY})|{_LEAP_YEAR}-02-29")


def time() -> Expr:
    plain = parse(f"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]{_FRACTION}(?:[zZ]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])")
    return plain | _leap_seconds()


def time_at_most() -> Expr:
    """Return all times, and more: with leap seconds in any minute."""
    return parse(
        f"(?:[01][0-9]|2[0-3]):[0-5][0-9]:(?:[0-5][0-9]|60){_FRACTION}(?:[zZ]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
    )


def _leap_seconds() -> Expr:
    fraction, ways = parse(_FRACTION), []
    for local in range(29, _MINUTES, 30):
        east, west = (local - (_MINUTES - 1)) % _MINUTES, (_MINUTES - 1 - local) % _MINUTES
        offsets = ex.strings([f"+{_clock(east)}", f"-{_clock(west)}", *("zZ" if not east else "")])
        ways.append(ex.concat(f"{_clock(local)}:60", fraction, offsets))
    return ex.alternation(*ways)


def _clock(minutes: int) -> str:
    return f"{minutes // 60:02}:{minutes % 60:02}"


def date_time() -> Expr:
    return date() + parse("[tT]") + time()


def date_time_at_most() -> Expr:
    return date() + parse("[tT]") + time_at_most()


def duration() -> Expr:
    """Return the durations. In the date and in the time, parts may be left out only at the beginning or the end:
    between years and days there are months."""
    return parse(_DURATION)


def duration_at_most() -> Expr:
    """Return all durations, with letters in either case."""
    return parse(f"(?ai:{_DURATION})")
