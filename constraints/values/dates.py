"""Calendar dates within a range, in ISO 8601, such as `2024-02-29`."""

from __future__ import annotations

import datetime
from functools import cache

from automata.expressions import Expr, alternation, concat, intersection
from constraints.values.digits import digit, same_length
from constraints.values.value import Value


def date(earliest: datetime.date | None = None, latest: datetime.date | None = None) -> Value[datetime.date]:
    """Return the constraint of a date of the Gregorian calendar, including both bounds; by default, from 0001-01-01 to
    9999-12-31.

    Raises:
        TypeError: a bound is not a date.
        ValueError: the latest date is before the earliest.
    """
    for bound in (earliest, latest):
        if isinstance(bound, datetime.datetime):
            raise TypeError(f"a bound is a date without a time: {bound!r}.date()?")
        if bound is not None and not isinstance(bound, datetime.date):
            hint = f": datetime.date.fromisoformat({bound!r})?" if isinstance(bound, str) else ""
            raise TypeError(f"a bound is a datetime.date, not {bound!r}{hint}")
    first, last = earliest or datetime.date.min, latest or datetime.date.max
    if first > last:
        raise ValueError(f"no date lies between {first} and {last}")
    if first.year == last.year:
        return Value(_within_year(first, last), datetime.date.fromisoformat)
    begins, ends = first, last
    parts: list[Expr] = []
    if (first.month, first.day) != (1, 1):
        parts.append(_within_year(first, datetime.date(first.year, 12, 31)))
        begins = datetime.date(first.year + 1, 1, 1)
    if (last.month, last.day) != (12, 31):
        parts.append(_within_year(datetime.date(last.year, 1, 1), last))
        ends = datetime.date(last.year - 1, 12, 31)
    if begins <= ends:
        years = same_length(f"{begins.year:04}", f"{ends.year:04}")
        parts += [concat(years, "-", _days_of_all_years()), concat(intersection(years, _leap_years()), "-02-29")]
    return Value(alternation(*parts), datetime.date.fromisoformat)


def _within_year(first: datetime.date, last: datetime.date) -> Expr:
    months = [
        concat(
            f"{month:02}-",
            same_length(
                f"{first.day if month == first.month else 1:02}",
                f"{last.day if month == last.month else _days_in(first.year, month):02}",
            ),
        )
        for month in range(first.month, last.month + 1)
    ]
    return concat(f"{first.year:04}-", alternation(*months))


def _days_in(year: int, month: int) -> int:
    following = datetime.date(year, month + 1, 1) if month < 12 else None
    return (following - datetime.date(year, month, 1)).days if following else 31


@cache
def _days_of_all_years() -> Expr:
    by_length: dict[int, list[str]] = {}
    for month in range(1, 13):
        by_length.setdefault(_days_in(2001, month), []).append(f"{month:02}-")
    return alternation(
        *[concat(alternation(*months), same_length("01", str(days))) for days, months in by_length.items()]
    )


@cache
def _leap_years() -> Expr:
    """Return the leap years: the years divisible by 4, except centuries that are not divisible by 400."""
    fours = [f"{number:02}" for number in range(4, 100, 4)]
    return alternation(concat(digit(), digit(), alternation(*fours)), concat(alternation("00", *fours), "00"))
