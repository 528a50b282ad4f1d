"""Regular expressions in ECMA-262 syntax for the texts that Python and Pydantic read.

    DATE, TIME, ...         the strings that `datetime`, `UUID` and Decimal read and write

Only existing dates are allowed, in the years of `datetime`. Seconds are at most 59, fractions have at most six digits
(further digits would be lost), and offsets are less than a day.
"""

from __future__ import annotations

import re
from typing import Final

_LEAP: Final = (
    r"(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)"  # divisible by 4, but 100s by 400
)
_YEAR: Final = r"(?:\d{3}[1-9]|\d\d[1-9]\d|\d[1-9]\d\d|[1-9]\d{3})"  # 0001 to 9999
_MONTH_DAY: Final = r"(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
DATE: Final = rf"(?:{_YEAR}-{_MONTH_DAY}|{_LEAP}-02-29)"
_CLOCK: Final = r"(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?"
ZONE: Final = r"(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)"
TIME: Final = _CLOCK
DATETIME: Final = rf"{DATE}T{_CLOCK}"
UUID: Final = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
# A timedelta of up to 999,999,999 days, as days or as years of 365 days and days. A negative one of that many days has
# no hours, since it would be too long.
_PART: Final = r"(?:\d|1\d|2[0-3])H"
_MINUTES: Final = r"[1-5]?\dM"
_SECONDS: Final = r"[1-5]?\d(?:\.\d{1,6})?S"
_HOURS: Final = rf"T(?:{_PART}(?:{_MINUTES})?(?:{_SECONDS})?|{_MINUTES}(?:{_SECONDS})?|{_SECONDS})"
_YEARS: Final = r"(?:[1-9]\d{0,5}|1\d{6}|2[0-6]\d{5}|27[0-2]\d{4}|273[0-8]\d{3}|2739[0-6]\d\d|27397[01]\d|273972[0-5])Y"
_YEAR_DAYS: Final = r"(?:[1-9]\d?|[12]\d\d|3[0-5]\d|36[0-4])D"
_DAYS: Final = rf"(?:\d{{1,8}}D|{_YEARS}(?:{_YEAR_DAYS})?)"
_MOST: Final = "2739726Y"
DURATION: Final = (
    rf"(?:-?P(?:{_DAYS}(?:{_HOURS})?|{_HOURS}|{_MOST}(?:[1-8]D)?(?:{_HOURS})?|{_MOST}9D)|P{_MOST}9D{_HOURS})"
)
INTEGER: Final = r"-?(?:0|[1-9]\d*)"
# The finite numbers that `float` writes and reads.
NUMBER: Final = rf"{INTEGER}(?:\.\d+)?(?:[eE][+-]?\d+)?"
# Decimals as `str` writes them; exponents of up to 17 digits, since some of 18 are out of range.
DECIMAL: Final = rf"{INTEGER}(?:\.\d+)?(?:[eE][+-]?\d{{1,17}})?"
ZERO: Final = r"-?0(?:\.0+)?[eE][+-]?\d{1,17}"
# Zeros with a negative exponent.
SMALL_ZERO: Final = r"-?0(?:\.0+)?[eE]-[1-9]\d{0,16}"
NOT_FINITE: Final = r"-?(?:Infinity|NaN)"


def anchored(pattern: str) -> str:
    """Return a pattern that matches whole texts only."""
    return f"^(?:{pattern})$"


def quoted(text: str) -> str:
    """Return the pattern that matches one text."""
    return re.sub(r"[\^$\\.*+?()\[\]{}|/]", r"\\\g<0>", text)
