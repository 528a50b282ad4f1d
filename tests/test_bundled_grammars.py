"""Bundled grammars accept and reject what they should, as bytes and as tokens of a real vocabulary, however cut.

The Earley oracle of `grammar_oracles.earley` judges every text, and other programs judge the oracle where they know the
language: `grammar_oracles.references`.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from random import Random

import pytest
from differential import Tokens
from grammar_oracles.corpus import ENOUGH, corpus
from grammar_oracles.references import REFERENCES, lark_accepts

import tokenfst
from automata import compile_grammar
from automata.pushdown.automaton import PushdownAutomaton
from constraints.grammars.bundled import BUNDLED, bundled, source
from tokenfst import from_tekken


@pytest.fixture(scope="module")
def tokens() -> Tokens:
    return Tokens(from_tekken(str(files("mistral_common") / "data" / "tekken_240911.json")))


@cache
def compiled(name: str) -> PushdownAutomaton:
    return compile_grammar(bundled(name))


@pytest.mark.parametrize("name", BUNDLED)
def test_there_are_enough_texts(name: str) -> None:
    texts = corpus(name)
    assert len(texts.accepted) >= ENOUGH
    assert len(texts.rejected) >= ENOUGH
    assert set(texts.real) <= set(texts.accepted)


@pytest.mark.parametrize("name", REFERENCES)
def test_the_oracle_agrees_with_other_programs(name: str) -> None:
    texts, reference = corpus(name), REFERENCES[name]
    if texts.recognizer.words and not reference.exact:
        # How a text is cut into words is for the grammar to say: words that touch, as in `1andx`, are taken apart.
        for text in texts.accepted:
            assert reference.agrees(b" ".join(texts.recognizer.cut(text)), True), text
    else:
        for text in texts.accepted:
            assert reference.agrees(text, True), text
        for text in texts.rejected:
            assert reference.agrees(text, False), text


@pytest.mark.parametrize("name", [name for name in BUNDLED if "%ignore" in source(name)])
def test_the_oracle_agrees_with_lark(name: str) -> None:
    """Lark's contextual lexer takes more words for possible than there are, and goes back to a shorter word where a
    longer one was begun in vain: so it is asked about words apart, and may accept more where words can be begun so."""
    texts = corpus(name)
    for text in texts.accepted:
        assert lark_accepts(name, b" ".join(texts.recognizer.cut(text)).decode()), text
    more = [text for text in texts.rejected if _is_text(text) and lark_accepts(name, text.decode())]
    assert (more != []) <= (name in BEGUN_IN_VAIN), more


# Among the words of the others none is longer than the beginning of another.
BEGUN_IN_VAIN = {"python_expression", "sql"}


@pytest.mark.parametrize("name", list(BUNDLED))
def test_bytes(name: str) -> None:
    automaton, texts = compiled(name), corpus(name)
    assert [text for text in texts.accepted if not automaton.accepts(text)] == []
    assert [text for text in texts.rejected if automaton.accepts(text)] == []


@pytest.mark.parametrize("name", list(BUNDLED))
def test_tokens(name: str, tokens: Tokens) -> None:
    automaton, texts, random = tokenfst.compile(compiled(name), tokens.vocabulary), corpus(name), Random(name)
    for text in texts.accepted:
        longest, _, any_ = tokens.cuts(text, random)
        assert automaton.accepts(longest), text
        assert automaton.accepts([*any_, tokens.vocabulary.eos_ids[0]]), text
    for text in texts.rejected:
        longest, _, any_ = tokens.cuts(text, random)
        assert not automaton.accepts(longest), text
        assert not automaton.accepts(any_), text


# Names beyond ASCII, white space and types as SQLite's tokenizer and parser read them.
SQL = [
    "SELECT é, aé, é1$ FROM naïve AS 表, \U0001f600",
    "SELECT selecté FROM fromé",
    "SELECT :é, @é, :1, :a$b",
    "SELECT\f1",
    "SELECT \v1",
    "SELECT CAST(a AS), CAST(b AS c é (1))",
]
NOT_SQL = ["SELECT\v1", "SELECT/**/\v1", "SELECT \ufeff", "SELECT CAST(a AS (1))", "SELECT :", "SELECT é é é"]
NOT_SQL += ["SELECT 1 indexed", "SELECT CAST(1 AS indexed)"]


@pytest.mark.parametrize(("text", "verdict"), [*((text, True) for text in SQL), *((text, False) for text in NOT_SQL)])
def test_sql_as_sqlite_reads_it(text: str, verdict: bool) -> None:
    assert REFERENCES["sql"].accepts(text) == verdict
    assert compiled("sql").accepts(text.encode()) == verdict


def test_a_name_that_nothing_has() -> None:
    with pytest.raises(ValueError, match="no bundled grammar is called 'perl'"):
        bundled("perl")


def _is_text(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True
