"""GBNF and EBNF: what grammars mean, against `re`, brute force and XGrammar."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product

import pytest
import xgrammar
import xgrammar.testing
from grammar_syntax_cases import ARITHMETIC, BOTH, CHESS, KANA, LIST, A, all_texts, body
from networks import language

from automata import (
    LimitExceeded,
    alternation,
    call,
    compile_expr,
    concat,
    difference,
)
from automata.pushdown.compile import compile_grammar
from constraints import grammar
from constraints.grammars import Syntax

SETS = [
    ("[a-c]", "[a-c]"),
    ("[^a-c]", "[^a-c]"),
    ("[-a]", "[-a]"),
    ("[a-]", "[a-]"),
    ("[^-]", "[^-]"),
    (r"[\]]", r"[\]]"),
    (r"[^\]\\]", r"[^\]\\]"),
    (r"[\n]", r"[\n]"),
    (r"[^\n]", r"[^\n]"),
    (r"[\\-\]]", r"[\\-\]]"),
    ("[^^]", r"[^^]"),
    ("[a^]", r"[a^]"),
    ("[é-ü]", "[é-ü]"),
    ("[^é]", "[^é]"),
]


REGULAR = [
    ('"a" [b-c]* | "b"+', "a[bc]*|b+"),
    ('("a" | "b" "c")* "a"', "(a|bc)*a"),
    ('"a"{2} "b"{,2} ("c" | "a"){1,}', "a{2}b{0,2}[ca]+"),
    ('("a" ("b" ("c")?)?)?', "(a(b(c)?)?)?"),
    ('("a"{1,2}){2}', "(a{1,2}){2}"),
    ('("a" | )("b" | "")', "a?b?"),
    ('"ab"* "a"', "(ab)*a"),
    ('[^a]* "a"', "[^a]*a"),
]


@BOTH
@pytest.mark.parametrize(("text", "pattern"), SETS + REGULAR)
def test_regular_bodies_match_as_patterns_do(text: str, pattern: str, syntax: Syntax) -> None:
    automaton = compile_expr(body(text, syntax))
    alphabet = "ab\\]^-\né\n" if text.startswith("[") else "abc"
    candidates = ["".join(chars) for length in range(5) for chars in product(sorted(set(alphabet)), repeat=length)]
    for candidate in candidates:
        assert automaton.accepts(candidate.encode()) == bool(re.fullmatch(pattern, candidate)), candidate


def balanced(text: str) -> bool:
    while "()" in text:
        text = text.replace("()", "")
    return not text


def summed(text: str) -> bool:
    return re.fullmatch(r"\(*a\)*([+*]\(*a\)*)*", text) is not None and balanced(re.sub("[^()]", "", text))


RECURSIVE = [
    ('root ::= ("(" root ")")*', "()", 8, balanced),
    ('root ::= | "(" root ")" root', "()", 8, balanced),
    ('root ::= root root | "(" root ")" | ""', "()", 8, balanced),
    ('root ::= "a" root "a" | "b" root "b" | [ab]?', "ab", 7, lambda text: text == text[::-1]),
    ('root ::= list\nlist ::= "a" | list "b" "a"', "ab", 7, lambda text: re.fullmatch("a(ba)*", text) is not None),
    ('root ::= "a" root "b" | ""', "ab", 8, lambda text: text == "a" * (len(text) // 2) + "b" * (len(text) // 2)),
    (
        'root ::= sum\nsum ::= term ("+" term)*\nterm ::= atom | term "*" atom\natom ::= "a" | "(" sum ")"',
        "a+*()",
        6,
        summed,
    ),
    ('root ::= a{2,3}\na ::= "a" | "(" root ")"', "a()", 6, None),
]


@BOTH
@pytest.mark.parametrize(("text", "alphabet", "length", "oracle"), RECURSIVE[:-1])
def test_recursive_grammars_by_brute_force(
    text: str, alphabet: str, length: int, oracle: Callable[[str], bool], syntax: Syntax
) -> None:
    expected = {candidate.encode() for candidate in all_texts(alphabet, length) if oracle(candidate)}
    assert len(expected) > 3
    assert language(grammar(text, syntax=syntax), length) == expected


def test_exclusion_sees_through_calls() -> None:
    text = """
        root ::= '<?' (name - ((X | 'x') [Mm])) (#x20 (any* - (any* '?>' any*)))? '?>'
        name ::= [a-zA-Z]+
        X ::= 'X' - 'Y'
        any ::= [^]
    """
    automaton = compile_expr(grammar(text).rules["root"])  # no calls are left
    for accepted in ("<?a?>", "<?xml?>", "<?php b?>", "<?a ? > ??>", "<?x ?>"):
        assert automaton.accepts(accepted.encode()), accepted
    for refused in ("<?xm?>", "<?XM a?>", "<?a b?>?>", "<??>", "<?a"):
        assert not automaton.accepts(refused.encode()), refused


@pytest.mark.parametrize("pair", ["x{} x{}", "('a' | x{}) x{}", "x{}{{3,5}} x{}"])
def test_exclusion_of_rules_that_double(pair: str) -> None:
    def doubled(levels: int) -> str:
        rules = [f"x{i + 1} ::= {pair.format(i, i)}" for i in range(levels)]
        return "\n".join(["x0 ::= 'b'", *rules, f"root ::= x{levels} - 'b'"])

    assert grammar(doubled(3), syntax="ebnf").rules["root"].size > 3
    with pytest.raises(LimitExceeded, match=r"in rule 'root', written out.*limit `arcs`"):
        grammar(doubled(60), syntax="ebnf")


def test_exclusion_keeps_other_calls() -> None:
    made = grammar("root ::= (a - 'aa') root 'b' | c\na ::= ('a' | d)*\nd ::= 'd' - c\nc ::= 'c' | 'd'")
    a = (A | difference("d", alternation("c", "d"))).star()
    assert made.rules["root"] == alternation(concat(difference(a, "aa"), call("root"), "b"), call("c"))
    assert made.rules["a"] == (A | call("d")).star()


# Grammars as they are written in the wild: the constructs of llama.cpp's own examples.


EXAMPLES = [
    (ARITHMETIC, ["1=2\n", "a +b_1*( c)= 3 \n4=x\n"], ["1", "1=2", "=2\n", "(1=2\n", "A=1\n"]),
    (
        CHESS,
        ["1. e4 e5\n2. Nf3 Nc6\n", "1. O-O O-O-O+\n10. exd8=Q# Nbd7\n"],
        ["1. e4 e5\n", "1. e4 e9\n2. a1 a1\n", "1. e4 e5\n0. a1 a1\n"],
    ),
    (LIST, ["- a\n", "- a b\n- é\n"], ["", "- \n", "- a", "- a\x0b\n"]),
    (KANA, ["ひらがな", "漢字、カタカナ。", "漢"], ["", "漢字漢字", "a", "。"]),
]


@pytest.mark.parametrize(("text", "accepted", "refused"), EXAMPLES)
@pytest.mark.parametrize("syntax", ["gbnf", "auto"])
def test_examples(text: str, accepted: list[str], refused: list[str], syntax: Syntax) -> None:
    automaton = compile_grammar(grammar(text, syntax=syntax))
    for candidate in accepted + refused:
        assert automaton.accepts(candidate.encode()) == (candidate in accepted), candidate


def test_xgrammar_reads_the_same() -> None:
    """XGrammar is the reference of its dialect; each text is one that both read."""
    accepts = xgrammar.testing._is_grammar_accept_string
    for text, alphabet, _, _ in RECURSIVE:
        reference = xgrammar.Grammar.from_ebnf(text.replace("::= |", '::= "" |'))
        ours = language(grammar(text, syntax="ebnf"), 4)
        for candidate in all_texts(alphabet, 4):
            assert accepts(reference, candidate) == (candidate.encode() in ours), (text, candidate)
    for text, _ in SETS + REGULAR:
        if "| )" in text or "{,2}" in text:
            continue  # XGrammar has neither
        reference = xgrammar.Grammar.from_ebnf(f"root ::= {text}")
        automaton = compile_expr(body(text, "ebnf"))
        for candidate in all_texts("abc\\]^-\né", 2):
            assert accepts(reference, candidate) == automaton.accepts(candidate.encode()), (text, candidate)
    for escape in (r"\x1F600", r"\x41g", r"\u00e9", r"\U0001F600", r"\e", r"\0", r"\?", r"\'"):
        [found] = language(grammar(f'root ::= "{escape}"', syntax="ebnf"), 4)
        assert accepts(xgrammar.Grammar.from_ebnf(f'root ::= "{escape}"'), found.decode())
