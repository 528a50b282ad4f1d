"""A SQL SELECT over given tables: only their names occur, and with each table only its own columns.

    SELECT [DISTINCT] columns, or *, or aggregates
    FROM table [JOIN table ON column = column]
    [WHERE condition] [ORDER BY columns] [LIMIT n [OFFSET n]]

A statement names its columns before the table that they must belong to. So the language is a union of one kind of
statement for each table (and, with joins, each pair of tables), and the automaton narrows down the table as it reads:
after `SELECT title, `, all tables that have a title are possible. The language is regular, and exact. With independent
rules for `column` and `table`, as in common grammars for SQL, a model could ask a table for another table's columns.

The dialect is the one that SQLite, PostgreSQL and others have in common. There is one space or line break between
words; each keyword is in upper case or in lower case. Conditions nest in parentheses to a given depth.

Rejected: a grammar with a rule for nested conditions, which would also need one copy for each table, and would need a
stack for conditions that are rarely nested three deep.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from automata.byte_automaton import ByteAutomaton
from automata.compile.compiler import compile_expr
from automata.errors import LimitExceeded
from automata.expressions import Expr, alternation, char_set, concat, repeat
from automata.expressions.extensions import delimited_list
from automata.limits import Work, current_work
from constraints.values.digits import digit, naturals
from constraints.values.value import Value

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Names that some dialect accepts only in quotes: the keywords of SQLite, and the reserved words of SQL:2016.
_KEYWORD_LIST = """
    abort action add after all alter always analyze and any array as asc asymmetric attach authorization autoincrement
    before begin between binary both by cascade case cast check collate collation column commit concurrently conflict
    constraint create cross current current_catalog current_date current_role current_schema current_time
    current_timestamp current_user database default deferrable deferred delete desc detach distinct do drop each else
    end escape except exclude exclusive exists explain fail false fetch filter first following for foreign freeze from
    full generated glob grant group groups having if ignore ilike immediate in index indexed initially inner insert
    instead intersect into is isnull join key last lateral leading left like limit localtime localtimestamp match
    materialized natural no not nothing notnull null nulls of offset on only or order others outer over overlaps
    partition placing plan pragma preceding primary query raise range recursive references regexp reindex release
    rename replace restrict returning right rollback row rows savepoint select session_user similar some symmetric
    system_user table tablesample temp temporary then ties to trailing transaction trigger true unbounded union unique
    update user using vacuum values variadic verbose view virtual when where window with without
"""
_KEYWORDS = frozenset(_KEYWORD_LIST.split())

_SPACE = char_set(" \n")
_OPTIONAL_SPACE = repeat(" ", 0, 1)
_COMMA = concat(",", _OPTIONAL_SPACE)


@dataclass(frozen=True, slots=True, repr=False)
class _Select(Value[str]):
    """The SELECT statements over some tables.

    Attributes:
        arguments: what they were made from, for messages.
    """

    arguments: str

    def to_automaton(self, work: Work | None = None) -> ByteAutomaton:
        """Return the automaton of the statements; see `Parsed`."""
        size, limit = self.expr.size, (work or current_work()).limits.arcs
        if size > limit:
            reason = f"has {size:,} leaves with its repetitions written out, more than {limit:,} (limit `arcs`)"
            remedy = "pass fewer tables or columns, a smaller `depth`, joins=False, or a higher limit"
            raise LimitExceeded(f"sql_select({self.arguments}) {reason}: {remedy}", limit="arcs")
        return compile_expr(self.expr, work)


def sql_select(tables: Mapping[str, Sequence[str]], *, joins: bool = False, depth: int = 1) -> Value[str]:
    """Return the constraint of a SELECT statement over the given tables.

    Args:
        tables: the columns of each table. Names that are keywords, or not plain identifiers, are written in quotes.
        joins: whether two tables may be joined. The expression has a statement for each pair of tables then, and 20
            tables with 20 columns each exceed the default limits of a compilation; see docs/values.md for sizes.
        depth: how deeply conditions may be nested in parentheses.

    Raises:
        TypeError: `tables` is not a dict, the columns of a table are not a list, a name is not a text, or `depth` is
            not a number.
        ValueError: there are no tables, a table has no columns, a name is empty or has a control character, a table or
            a column is given twice (case is ignored), or `depth` is negative.
    """
    _check(tables, depth)
    sources = [_single(table, columns) for table, columns in tables.items()]
    if joins:
        sources += [_joined(tables, left, right) for left in tables for right in tables if left != right]
    statements = alternation(*[_statement(source, columns, depth) for source, columns in sources])
    num_columns = sum(map(len, tables.values()))
    arguments = f"tables: {len(tables):,}, columns: {num_columns:,}, joins={joins}, depth={depth}"
    return _Select(statements, str, arguments)


def _check(tables: Mapping[str, Sequence[str]], depth: int) -> None:
    if not isinstance(tables, Mapping):
        raise TypeError(f"tables are a dict from each table to its columns, not {tables!r}")
    for table, columns in tables.items():
        if isinstance(columns, str) or not isinstance(columns, Sequence):
            raise TypeError(f"the columns of {table!r} are a list of names, not {columns!r}")
    if not isinstance(depth, int):
        raise TypeError(f"`depth` is a number, not {depth!r}")
    if not tables or depth < 0:
        raise ValueError("a SELECT needs a table" if not tables else "`depth` is not negative")
    for names, what in ((tables, "tables"), *((columns, f"columns of {table!r}") for table, columns in tables.items())):
        if not names:
            raise ValueError(f"there are no {what}")
        for name in names:
            if not isinstance(name, str):
                raise TypeError(f"{name!r}, among the {what}, is not a text")
        if len({name.lower() for name in names}) < len(names):
            raise ValueError(f"two {what} have the same name")
        for name in names:
            if not name or any(character < " " or "\ud800" <= character <= "\udfff" for character in name):
                raise ValueError(f"{name!r}, among the {what}, is not a name")


def _single(table: str, columns: Sequence[str]) -> tuple[Expr, Expr]:
    """Return one table, and its columns."""
    name = _name(table)
    return name, concat(repeat(concat(name, "."), 0, 1), alternation(*map(_name, columns)))


def _joined(tables: Mapping[str, Sequence[str]], left: str, right: str) -> tuple[Expr, Expr]:
    """Return two tables, and the columns of both; a column without its table is one that only one of them has."""
    both = {name.lower() for name in tables[left]} & {name.lower() for name in tables[right]}
    of_left, of_right = _qualified(left, tables[left]), _qualified(right, tables[right])
    alone = [_name(name) for table in (left, right) for name in tables[table] if name.lower() not in both]
    equal = concat(_OPTIONAL_SPACE, "=", _OPTIONAL_SPACE)
    source = concat(
        _name(left),
        _SPACE,
        repeat(concat(alternation(_word("INNER"), _word("LEFT")), _SPACE), 0, 1),
        *_words("JOIN"),
        _name(right),
        _SPACE,
        *_words("ON"),
        alternation(concat(of_left, equal, of_right), concat(of_right, equal, of_left)),
    )
    return source, alternation(of_left, of_right, *alone)


def _qualified(table: str, columns: Sequence[str]) -> Expr:
    return concat(_name(table), ".", alternation(*map(_name, columns)))


def _statement(source: Expr, column: Expr, depth: int) -> Expr:
    """Return a statement over a source with these columns."""
    ordered = concat(column, repeat(concat(_SPACE, alternation(_word("ASC"), _word("DESC"))), 0, 1))
    order = _optional(*_words("ORDER", "BY"), delimited_list(ordered, _COMMA))
    number = naturals(0, 10**18 - 1)
    limit = _optional(*_words("LIMIT"), number, _optional(*_words("OFFSET"), number))
    rows = concat(repeat(concat(*_words("DISTINCT")), 0, 1), alternation("*", delimited_list(column, _COMMA)))
    body = concat(_SPACE, *_words("FROM"), source, _optional(*_words("WHERE"), _condition(column, depth)))
    return concat(
        *_words("SELECT"),
        alternation(
            concat(rows, body, order, limit),
            concat(delimited_list(_aggregate(column), _COMMA), body),
        ),
        repeat(";", 0, 1),
    )


def _aggregate(column: Expr) -> Expr:
    count, others = _word("COUNT"), [_word(word) for word in ("SUM", "AVG", "MIN", "MAX")]
    distinct = repeat(concat(*_words("DISTINCT")), 0, 1)
    return alternation(
        concat(count, "(", alternation("*", concat(distinct, column)), ")"),
        concat(alternation(*others), "(", column, ")"),
    )


def _condition(column: Expr, depth: int) -> Expr:
    """Return predicates joined by AND and OR, in up to `depth` pairs of parentheses."""
    negated, predicate = repeat(concat(*_words("NOT")), 0, 1), _predicate(column)
    joining = concat(_SPACE, alternation(_word("AND"), _word("OR")), _SPACE)
    condition = delimited_list(concat(negated, predicate), joining)
    for _ in range(depth):
        unit = alternation(predicate, concat("(", condition, ")"))
        condition = delimited_list(concat(negated, unit), joining)
    return condition


def _predicate(column: Expr) -> Expr:
    """Return the comparisons of a column."""
    literal, negated = _literal(), repeat(concat(*_words("NOT")), 0, 1)
    operator = alternation("=", "<>", "!=", "<", "<=", ">", ">=")
    compared = concat(_OPTIONAL_SPACE, operator, _OPTIONAL_SPACE, alternation(literal, column))
    listed = concat(*_words("IN"), "(", delimited_list(literal, _COMMA), ")")
    between = concat(*_words("BETWEEN"), literal, _SPACE, *_words("AND"), literal)
    tests = alternation(listed, between, concat(*_words("LIKE"), _text()))
    is_null = concat(*_words("IS"), negated, _word("NULL"))
    return concat(column, alternation(compared, concat(_SPACE, alternation(concat(negated, tests), is_null))))


@cache
def _literal() -> Expr:
    number = concat(repeat("-", 0, 1), naturals(0, None), repeat(concat(".", repeat(digit(), 1)), 0, 1))
    return alternation(number, _text())


@cache
def _text() -> Expr:
    """Return a text in quotes; quotes in it are doubled, and it holds no control characters."""
    return concat("'", repeat(alternation("''", char_set("'", (0, 0x1F), negated=True)), 0), "'")


def _name(name: str) -> Expr:
    """Return a name as SQL writes it."""
    if _PLAIN_NAME.fullmatch(name) and name.lower() not in _KEYWORDS:
        return concat(name)
    doubled = name.replace('"', '""')
    return concat(f'"{doubled}"')


@cache
def _word(word: str) -> Expr:
    return alternation(word, word.lower())


def _words(*words: str) -> Iterable[Expr]:
    """Yield words, each with a space after it."""
    for word in words:
        yield from (_word(word), _SPACE)


def _optional(*parts: Expr) -> Expr:
    """Return the parts with a space before them, or nothing."""
    return repeat(concat(_SPACE, *parts), 0, 1)
