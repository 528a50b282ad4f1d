"""Constructor calls of `datetime`, `uuid` and `decimal`, as `repr` writes them.

    datetime.date(2024, 2, 29)
    datetime.time(12, 30, 15, 250000, tzinfo=datetime.timezone.utc, fold=1)
    datetime.datetime(2024, 2, 29, 12, 30, tzinfo=datetime.timezone(datetime.timedelta(seconds=3600)))
    datetime.timedelta(days=-1, seconds=86399, microseconds=5)          datetime.timedelta(0)
    UUID('12345678-1234-5678-1234-567812345678')                        Decimal('1.50')

Each may be written with or without its module's name. Only existing dates are allowed, in years 1 to 9999; time zones
are fixed offsets (`datetime.timezone`). Seconds, microseconds and `fold` of a time, which `repr` leaves out if they are
0, may also be written.
"""

from __future__ import annotations

from functools import cache

from automata.expressions import Expr, alternation, char_set, concat, repeat, strings
from constraints.types.literals import QUOTES, text

SPACE = repeat(" ", 0, 1)
COMMA = concat(",", SPACE)
DIGIT = char_set((0x30, 0x39))
_NONZERO = char_set((0x31, 0x39))
_HEXADECIMAL = char_set((0x30, 0x39), (0x41, 0x46), (0x61, 0x66))


def named(module: str, name: str, inside: Expr) -> Expr:
    """Return a call, with or without the name of its module."""
    return concat(repeat(f"{module}.", 0, 1), f"{name}(", inside, ")")


def _up_to(last: int, first: int = 0) -> Expr:
    return strings(map(str, range(first, last + 1)))


@cache
def _day() -> Expr:
    """Return year, month and day of a date that exists."""
    year = concat(_NONZERO, repeat(DIGIT, 0, 3))
    months = alternation(
        concat(_up_to(12, 1), COMMA, _up_to(28, 1)),
        concat(alternation("1", _up_to(12, 3)), COMMA, strings(["29", "30"])),
        concat(strings(["1", "3", "5", "7", "8", "10", "12"]), COMMA, "31"),
    )
    fourth = [str(number) for number in range(4, 100, 4)]
    leap = alternation(
        strings(fourth),
        concat(_NONZERO, repeat(DIGIT, 0, 1), strings([number.zfill(2) for number in fourth])),
        concat(strings(fourth), "00"),
    )
    return alternation(concat(year, COMMA, months), concat(leap, COMMA, "2", COMMA, "29"))


@cache
def _clock() -> Expr:
    """Return hour, minute, and optionally second and microsecond; a microsecond needs a second before it."""
    finer = concat(COMMA, _up_to(59), repeat(concat(COMMA, _microsecond()), 0, 1))
    return concat(_up_to(23), COMMA, _up_to(59), repeat(finer, 0, 1))


def _microsecond() -> Expr:
    return alternation("0", concat(_NONZERO, repeat(DIGIT, 0, 5)))


def _second_of_day() -> Expr:
    """Return the seconds of a day, from 1 to 86,399."""
    large = alternation(
        concat(char_set((0x31, 0x37)), repeat(DIGIT, 4, 4)),
        concat("8", char_set((0x30, 0x35)), repeat(DIGIT, 3, 3)),
        concat("86", char_set((0x30, 0x33)), repeat(DIGIT, 2, 2)),
    )
    return alternation(concat(_NONZERO, repeat(DIGIT, 0, 3)), large)


@cache
def _options(*, in_datetime: bool) -> Expr:
    """Return `fold` and `tzinfo`, in the order of `repr`."""
    fold = repeat(concat(COMMA, "fold=", char_set("01")), 0, 1)
    zone = repeat(concat(COMMA, "tzinfo=", _zone_expr()), 0, 1)
    return concat(fold, zone) if in_datetime else concat(zone, fold)


@cache
def _zone_expr() -> Expr:
    """Return a time zone: UTC, or a fixed offset of less than a day in either direction, optionally with a name."""
    fraction = concat("microseconds=", concat(_NONZERO, repeat(DIGIT, 0, 5)))
    within = alternation(
        concat("seconds=", _second_of_day(), repeat(concat(COMMA, fraction), 0, 1)),
        fraction,
    )
    offset = alternation("0", within, concat("days=-1", COMMA, within))
    name = repeat(concat(COMMA, text()), 0, 1)
    call = named("datetime", "timezone", concat(named("datetime", "timedelta", offset), name))
    return alternation(concat(repeat("datetime.", 0, 1), "timezone.utc"), call)


@cache
def _duration() -> Expr:
    days = concat("days=", repeat("-", 0, 1), _NONZERO, repeat(DIGIT, 0, 8))
    seconds = concat("seconds=", _second_of_day())
    fraction = concat("microseconds=", _NONZERO, repeat(DIGIT, 0, 5))
    after_days = concat(repeat(concat(COMMA, seconds), 0, 1), repeat(concat(COMMA, fraction), 0, 1))
    return alternation("0", concat(days, after_days), concat(seconds, repeat(concat(COMMA, fraction), 0, 1)), fraction)


@cache
def moment(kind: str) -> Expr:
    """Return a call of a class of `datetime`: "date", "time", "datetime" or "timedelta"."""
    match kind:
        case "date":
            inside = _day()
        case "time":
            inside = concat(_clock(), _options(in_datetime=False))
        case "datetime":
            inside = concat(_day(), repeat(concat(COMMA, _clock()), 0, 1), _options(in_datetime=True))
        case _:
            inside = _duration()
    return named("datetime", kind, inside)


@cache
def identifier() -> Expr:
    """Return the constructor call of a UUID, with hyphens."""
    groups = [repeat(_HEXADECIMAL, width, width) for width in (8, 4, 4, 4, 12)]
    written = concat(groups[0], *[concat("-", group) for group in groups[1:]])
    return named("uuid", "UUID", alternation(*[concat(quote, written, quote) for quote in QUOTES]))


def decimal(inside: Expr) -> Expr:
    """Return the constructor call of a Decimal; `inside` is its text."""
    return named("decimal", "Decimal", alternation(*[concat(quote, inside, quote) for quote in QUOTES]))
