"""The comparison with other engines: each cell has a source, the versions are those that are installed, and what the
installed engines read is what the cells say.

What can only be read about is not tested; the tables of masks and keywords have tests of their own
(`tests/json_schema/test_keyword_table.py`), and times come from `benchmarks/`.
"""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path

import lmformatenforcer
import outlines_core
import pytest
import xgrammar
from interegular.patterns import Unsupported
from llguidance import LLMatcher

import constraints
from automata import compile_expr, parse

TEXT = (Path(__file__).resolve().parent.parent / "docs" / "comparison.md").read_text("utf-8")
SECTIONS = dict(part.split("\n", 1) for part in TEXT.split("\n## ")[1:])
LINK = re.compile(r"\]\[[\w-]+\]|\]\([\w./#-]+\)")
# A cell may say that nothing was found, or name another row.
WITHOUT = ("–", "as llguidance")


def table(section: str) -> dict[str, dict[str, str]]:
    """The first table of a section: its cells, by row and column."""
    lines = [line for line in SECTIONS[section].splitlines() if line.startswith("|")]
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0]: dict(zip(head[1:], row[1:], strict=True)) for row in rows}


@pytest.mark.parametrize("section", ["What each is", "What each reads", "Where each runs"])
def test_each_cell_has_a_source(section: str) -> None:
    for engine, cells in table(section).items():
        for column, cell in cells.items():
            assert column == "languages" or cell in WITHOUT or LINK.search(cell), (engine, column)


def test_links_are_defined_and_used() -> None:
    defined = set(re.findall(r"^\[([\w-]+)\]: https://\S+$", TEXT, re.MULTILINE))
    assert defined == set(re.findall(r"\]\[([\w-]+)\]", TEXT))


@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("llguidance", "llguidance"),
        ("XGrammar", "xgrammar"),
        ("outlines-core", "outlines-core"),
        ("lm-format-enforcer", "lm-format-enforcer"),
    ],
)
def test_versions_are_those_that_are_installed(name: str, package: str) -> None:
    assert f"{name} {version(package)}" in TEXT.split("\n## ")[0].replace("\n", " ")


READS = table("What each reads")


def test_patterns() -> None:
    assert "look-around included" in READS["tokenfst"]["patterns"]
    assert compile_expr(parse("(?=ab)a.")).accepts("ab")
    assert "no look-around" in READS["llguidance"]["patterns"]
    assert not LLMatcher.validate_grammar(LLMatcher.grammar_from_regex("[a-z]+"))
    for pattern in ("(?=ab)a.", "a(?!c).", "(?<=a)b"):
        assert "look-around" in LLMatcher.validate_grammar(LLMatcher.grammar_from_regex(pattern))
    assert READS["XGrammar"]["patterns"].startswith("yes")
    xgrammar.Grammar.from_regex("[a-z]+")
    assert READS["lm-format-enforcer"]["patterns"].startswith("a part of `re`")
    lmformatenforcer.RegexParser("[a-z]+")
    with pytest.raises(Unsupported):
        lmformatenforcer.RegexParser(r"\bfoo")


def test_grammars() -> None:
    for syntax in ("Lark", "GBNF", "EBNF"):
        assert syntax in READS["tokenfst"]["grammars"]
    constraints.grammar('start: "a" start | "b"', syntax="lark")
    constraints.grammar('root ::= "a" root | "b"', syntax="gbnf")
    constraints.grammar("root ::= 'a' root | 'b'", syntax="ebnf")
    assert "Lark" in READS["llguidance"]["grammars"]
    assert not LLMatcher.validate_grammar(LLMatcher.grammar_from_lark('start: "a" start | "b"'))
    assert "EBNF, Lark" in READS["XGrammar"]["grammars"]
    xgrammar.Grammar.from_ebnf('root ::= "a" root | "b"')
    xgrammar.Grammar.from_lark('start: "a" start | "b"')
    assert READS["lm-format-enforcer"]["grammars"] == "–"
    assert not any("grammar" in name.lower() or "cfg" in name.lower() for name in dir(lmformatenforcer))


def test_schemas() -> None:
    schema = '{"type": "array", "items": {"type": "integer"}}'
    assert not LLMatcher.validate_grammar(LLMatcher.grammar_from_json_schema(schema))
    xgrammar.Grammar.from_json_schema(schema)
    lmformatenforcer.JsonSchemaParser({"type": "array", "items": {"type": "integer"}})
    # Through a pattern: what `outlines_core` makes of a schema is one.
    assert "through a pattern" in READS["Outlines"]["JSON Schema"]
    pattern = outlines_core.json_schema.build_regex_from_schema(schema)
    assert re.fullmatch(pattern, "[1,2]") or re.fullmatch(pattern, "[1, 2]")


def test_the_tables_are_of_the_same_engines() -> None:
    assert list(table("What each reads")) == list(table("Where each runs"))
