"""Values: ready-made constraints whose texts stand for Python values.

    integer(low, high)          an integer                              numeric
    decimal(low, high)          a decimal number                        numeric (digits: ranges as expressions)
    date(earliest, latest)      a calendar date, in ISO 8601            dates
    email(), url(schemes)       addresses                               addresses
    sql_select(tables)          a SELECT over tables and columns        sql

Each returns a `Value`: `tokenfst.compile` takes it, `expr` is its language for use in larger expressions, and `parse`
returns the value of a text.
"""

from constraints.values.addresses import email, url
from constraints.values.dates import date
from constraints.values.numeric import decimal, integer
from constraints.values.sql import sql_select
from constraints.values.value import Value

__all__ = ["Value", "date", "decimal", "email", "integer", "sql_select", "url"]
