"""SELECT statements: SQLite runs every one over these tables, and none over another's columns is accepted."""

from __future__ import annotations

import pickle
import sqlite3
from collections.abc import Iterator, Sequence

import pytest

from automata import ByteAutomaton, LimitExceeded, Limits, TextNotAllowed, compile_expr, random_strings
from automata.limits import Work
from constraints.values import sql_select
from constraints.values.sql import _KEYWORDS

TABLES = {
    "users": ["id", "name", "age"],
    "orders": ["id", "user_id", "total", "created at"],
    "order": ["group", 'quo"ted', "naïve", "2nd"],
}


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@pytest.fixture(scope="module")
def database() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    for table, columns in TABLES.items():
        connection.execute(f"CREATE TABLE {quoted(table)} ({', '.join(map(quoted, columns))})")
        connection.execute(f"INSERT INTO {quoted(table)} VALUES ({', '.join('1' for _ in columns)})")
    yield connection
    connection.close()


@pytest.fixture(scope="module")
def single() -> ByteAutomaton:
    return compile_expr(sql_select(TABLES).expr)


@pytest.fixture(scope="module")
def joined() -> ByteAutomaton:
    return compile_expr(sql_select({name: TABLES[name] for name in ("users", "orders")}, joins=True, depth=0).expr)


@pytest.mark.parametrize("which", ["single", "joined"])
def test_sqlite_runs_them(which: str, database: sqlite3.Connection, request: pytest.FixtureRequest) -> None:
    automaton = request.getfixturevalue(which)
    for length in (40, 120, 300):
        for text in random_strings(automaton, 150, seed=length, max_length=length):
            database.execute(text.decode()).fetchall()


def columns_in(database: sqlite3.Connection, statement: str) -> set[tuple[str, str]]:
    """The tables and columns that SQLite reads for a statement."""
    seen: set[tuple[str, str]] = set()

    def asked(action: int, table: str | None, column: str | None, *_: object) -> int:
        if action == sqlite3.SQLITE_READ and table and column:
            seen.add((table, column))
        return sqlite3.SQLITE_OK

    database.set_authorizer(asked)
    try:
        database.execute(statement)
    finally:
        database.set_authorizer(None)
    return seen


def test_only_columns_of_the_table(database: sqlite3.Connection, single: ByteAutomaton) -> None:
    """Every column with every table, in every clause, as SQLite sees it."""
    accepted = 0
    for table in TABLES:
        for column in sorted({column for columns in TABLES.values() for column in columns}):
            name, source = (quoted(text) if text not in PLAIN else text for text in (column, table))
            for statement in (
                f"SELECT {name} FROM {source}",
                f"SELECT {source}.{name} FROM {source}",
                f"SELECT * FROM {source} WHERE {name} = 1",
                f"SELECT * FROM {source} WHERE NOT ({name} > 'x' OR {name} IS NULL)",
                f"SELECT * FROM {source} ORDER BY {name} DESC",
                f"SELECT COUNT(*), MAX({name}) FROM {source}",
            ):
                own = column in TABLES[table]
                assert single.accepts(statement.encode()) == own, statement
                if own:
                    assert all(seen[0] == table for seen in columns_in(database, statement))
                    accepted += 1
    assert accepted == 6 * sum(map(len, TABLES.values()))


PLAIN = {"users", "orders", "id", "name", "age", "user_id", "total"}


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM users",
        "select name, age from users where age >= 18 and not name like 'A%' order by age desc, name limit 10 offset 5;",
        "SELECT DISTINCT users.name,users.age\nFROM users\nWHERE age BETWEEN 18 AND 30 OR name IN ('x', 'it''s')",
        'SELECT total, "created at" FROM orders WHERE (total < -1.5 OR user_id IS NOT NULL) AND id <> user_id',
        "SELECT COUNT(DISTINCT name), AVG(age) FROM users WHERE name != ''",
        'SELECT "2nd", "quo""ted" FROM "order" WHERE naïve = \'ü\''.replace("naïve", '"naïve"'),
    ],
)
def test_statements(text: str, single: ByteAutomaton, database: sqlite3.Connection) -> None:
    assert single.accepts(text.encode())
    assert sql_select(TABLES).parse(text) == text
    database.execute(text)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT total FROM users",
        "SELECT name, total FROM users",
        "SELECT name FROM orders",
        "SELECT password FROM users",
        "SELECT * FROM secrets",
        "SELECT name FROM users WHERE total = 1",
        "SELECT orders.id FROM users",
        "SELECT  id FROM users",
        "SELECT id FROM users; DROP TABLE users",
        "SELECT id FROM users -- x",
        "SELECT id FROM users WHERE 'a'='a",
        "DELETE FROM users",
        "SELECT id FROM users WHERE name = 'a'b'",
        "SELECT id FROM users WHERE ((id = 1))",
        "SELECT id FROM users LIMIT -1",
        "Select id FROM users",
        "SELECT id FROM order",
        "SELECT name, COUNT(*) FROM users",
        "SELECT COUNT(*) FROM users ORDER BY id",
        "SELECT id FROM users UNION SELECT id FROM orders",
    ],
)
def test_no_statements(text: str, single: ByteAutomaton) -> None:
    assert not single.accepts(text.encode())
    with pytest.raises(TextNotAllowed):
        sql_select(TABLES).parse(text)


@pytest.mark.parametrize(
    ("text", "accepted"),
    [
        ("SELECT users.name, total FROM users JOIN orders ON users.id = orders.user_id WHERE total > 5", True),
        ("SELECT name FROM users LEFT JOIN orders ON orders.user_id=users.id ORDER BY orders.id", True),
        ("SELECT id FROM users JOIN orders ON users.id = orders.user_id", False),  # whose?
        ("SELECT users.total FROM users JOIN orders ON users.id = orders.user_id", False),
        ("SELECT users.name FROM orders", False),
        ("SELECT name FROM users JOIN users ON users.id = users.id", False),
        ("SELECT name FROM users JOIN orders ON users.id = users.id", False),
    ],
)
def test_joins(text: str, accepted: bool, joined: ByteAutomaton, database: sqlite3.Connection) -> None:
    assert joined.accepts(text.encode()) == accepted
    if accepted:
        database.execute(text)


def test_depth() -> None:
    for depth in range(3):
        automaton = compile_expr(sql_select({"t": ["a"]}, depth=depth).expr)
        for nested in range(4):
            condition = "(" * nested + "a = 1" + ")" * nested
            assert automaton.accepts(f"SELECT a FROM t WHERE {condition}".encode()) == (nested <= depth)


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({}, "needs a table"),
        ({"t": []}, "no columns"),
        ({"t": ["a", "A"]}, "same name"),
        ({"t": ["a"], "T": ["a"]}, "same name"),
        ({"": ["a"]}, "is not a name"),
        ({"t": ["a\n"]}, "is not a name"),
    ],
)
def test_bad_tables(tables: dict[str, Sequence[str]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sql_select(tables)


def test_every_keyword_of_sqlite_is_written_in_quotes(database: sqlite3.Connection) -> None:
    """What SQLite does not take as a name without quotes is among the keywords."""
    words = "".join(chr(code) for code in range(97, 123))
    for word in [*_KEYWORDS, *TABLES["users"], words]:
        try:
            database.execute(f"CREATE TEMP TABLE {word} ({word})")
            database.execute(f"SELECT {word} FROM {word}")
        except sqlite3.OperationalError:
            assert word in _KEYWORDS
        finally:
            database.execute(f"DROP TABLE IF EXISTS temp.{quoted(word)}")


def test_a_depth_of_any_size_is_made_and_names_are_text() -> None:
    assert sql_select({"t": ["a"]}, depth=3_000).expr.size > 100_000
    with pytest.raises(ValueError, match="among the columns of 't', is not a name"):
        sql_select({"t": ["a\ud800"]})


def test_too_many_joins_are_told_in_numbers() -> None:
    tables = {f"table{number}": [f"column{column}" for column in range(20)] for number in range(20)}
    joined = sql_select(tables, joins=True)
    message = (
        rf"^sql_select\(tables: 20, columns: 400, joins=True, depth=1\) has {joined.expr.size:,} leaves .* "
        r"more than 4,000,000 \(limit `arcs`\): .* joins=False"
    )
    with pytest.raises(LimitExceeded, match=message) as caught:
        joined.to_automaton()
    assert caught.value.limit == "arcs"
    few = sql_select({name: tables[name] for name in ("table0", "table1")}, joins=True)
    with pytest.raises(LimitExceeded, match="tables: 2, "):
        few.to_automaton(Work(Limits(arcs=few.expr.size - 1)))
    assert few.to_automaton(Work(Limits(arcs=few.expr.size))).accepts(b"SELECT column1 FROM table0")
    assert pickle.loads(pickle.dumps(few)) == few
