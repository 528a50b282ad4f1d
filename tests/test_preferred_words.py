"""Words by preference: where they end, against Python's `re` and against the patterns that Lark makes of terminals."""

from __future__ import annotations

import random
import re
from functools import cache
from itertools import product
from pathlib import Path

import lark
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lark import Lark
from lark.exceptions import LarkError
from lark_reading import accepted
from strategies import ATOMS, LAZY, up_to

from automata import (
    EPSILON,
    ByteAutomaton,
    ExpressionError,
    LimitExceeded,
    Limits,
    call,
    compile_expr,
    compile_grammar,
    equivalent,
    literal,
    parse,
)
from automata.limits import Work
from automata.pattern.ordered import ordered
from automata.preference import preferred
from automata.preference.nodes import Loop, unordered
from constraints import grammar
from constraints.grammars.lark_reader import read_lark

GRAMMARS = Path(lark.__file__).parent / "grammars"


@cache
def texts(alphabet: str, longest: int) -> list[str]:
    return ["".join(letters) for length in range(longest + 1) for letters in product(alphabet, repeat=length)]


def words_of(pattern: str) -> ByteAutomaton:
    return compile_expr(preferred(ordered(pattern)))


def check_words(pattern: str, automaton: ByteAutomaton, alphabet: str, longest: int) -> None:
    """Check that the words are the texts that `re` takes whole, and so where it ends in all texts."""
    compiled = re.compile(pattern)
    for text in texts(alphabet, longest):
        found = compiled.match(text)
        assert automaton.accepts(text.encode()) == (found is not None and found.end() == len(text)), (pattern, text)


# Against `re`


def test_all_small_patterns() -> None:
    for pattern in up_to(4, atoms=ATOMS, quantifiers=(*LAZY, "*", "?", "{1,2}")):
        check_words(pattern, words_of(pattern), "ab", 4)


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    mark = st.sampled_from([*LAZY, "*", "+", "?", "{2}", "{1,3}", "{2,}?", "{,2}?"])
    return st.one_of(
        st.lists(inner, min_size=2, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"(?:{'|'.join(parts)})"),
        st.tuples(inner, mark).map(lambda pair: f"(?:{pair[0]}){pair[1]}"),
    )


PLAIN = st.recursive(st.sampled_from(["a", "b", "[ab]", ".", "ab", ""]), _larger, max_leaves=8)
ASSERTIONS = ["(?=a)", "(?!b)", "(?<=b)", "(?<!a)", "(?=.b)", "(?!(?=a).b)", "$", r"\b", "^"]
ASSERTING = st.recursive(st.sampled_from(["a", "b", "[ab]", "", *ASSERTIONS]), _larger, max_leaves=8)


@given(PLAIN)
@settings(max_examples=75, deadline=None)
def test_the_match_in_a_text_is_its_longest_prefix_that_is_a_word(pattern: str) -> None:
    automaton, compiled = words_of(pattern), re.compile(pattern)
    for text in texts("abc", 6)[-200:] + texts("ab", 6)[-64:]:
        ends = [end for end in range(len(text) + 1) if automaton.accepts(text[:end].encode())]
        found = compiled.match(text)
        assert ends[-1:] == ([found.end()] if found else []), text


@given(ASSERTING)
@settings(max_examples=75, deadline=None)
def test_look_around_sees_the_word_alone(pattern: str) -> None:
    check_words(pattern, words_of(pattern), "ab", 5)


@pytest.mark.parametrize(
    ("pattern", "alphabet"),
    [
        (r'".*?(?<!\\)(\\\\)*?"', '"\\a'),
        (r'"(?!"").*?(?<!\\)(\\\\)*?"', '"\\a'),
        (r"'''.*?(?<!\\)(\\\\)*?'''", "'\\"),
        (r"\/(?!\/)(\\\/|\\\\|[^\/])*?\/[imslux]*", "/\\i"),
        (r"/\*(.|\n)*?\*/", "/*a"),
        (r".*?x(..)*?z", "xza"),
        (r"(?:a|ab)(?:c|bcd)*?(?:d*)", "abcd"),
        (r"(?:a??)*b{2,3}?", "ab"),
        (r"é*?[α-ω]{1,2}?b?", "éαb"),
    ],
)
def test_patterns_that_people_write(pattern: str, alphabet: str) -> None:
    longest = {2: 11, 3: 7, 4: 6}[len(alphabet)]
    check_words(pattern, words_of(pattern), alphabet, longest)


def test_greedy_patterns_have_an_order_too() -> None:
    assert equivalent(preferred(ordered("a|ab")), literal("a"))
    assert equivalent(preferred(ordered("(?:ab|a)b?")), parse("ab?b?"))
    assert equivalent(preferred(parse("a*b")), parse("a*b"))


def test_what_is_always_empty_is_one_text() -> None:
    assert preferred(ordered("(?:ab)*?")) == EPSILON
    assert equivalent(preferred(ordered("(?!)a*?")), parse("(?!)"))


@pytest.mark.parametrize("pattern", ["(?:a|b)*?c{1,2}?", "(?=a*?)b", "(?P<AND>(?:a|b)(?:b))??", "x|(?i:y)+?|"])
def test_without_an_order_a_pattern_is_what_it_is(pattern: str) -> None:
    assert equivalent(unordered(ordered(pattern)), parse(pattern))


def test_what_has_no_order_is_refused() -> None:
    for expr in (parse("(?P<NOT>a)"), parse("(?P<TOKEN>t)"), parse("(?P<BYTES>[\x80-\xff])a"), literal(b"\xff")):
        with pytest.raises(ExpressionError):
            preferred(expr)


def test_limits_hold() -> None:
    few_states = Work(Limits(states=2_000))
    with few_states.current(), pytest.raises(LimitExceeded, match=r"finding the preferred matches of .* states"):
        preferred(ordered("(?:a|b)*?a(?:a|b){14}c"))
    nested = literal("a")
    for _ in range(5_000):
        nested = Loop(nested, 1, 2, True)
    with pytest.raises(LimitExceeded, match="nested too deeply"):
        preferred(nested)


# In Lark's grammars


TERMINALS = [
    r'A: /".*?"/ "i"?',
    'A: "ab" /c*?/ | "a" /b+?/ | /b{1,3}?a/',
    "A: B~1..2 B*\nB: /a+?b??/",
    'A: ("a" | /ab*?/) ("b" | /b[ab]+?/)?',
    "A: /a.*?/i B?\nB: /B/i | /ab/",
    'A: B | C\nB: /a{1,2}?/ "b"\nC: /a+?/',
    'A: "b"* /(ab|a)b*?a??/ | /(?<!a)b{,2}?a/',
    'A: /[ab]*?/ ("b" | "ab" | "ba")',
]


@pytest.mark.parametrize("text", TERMINALS)
def test_terminals_of_several_parts_are_tried_as_lark_does(text: str) -> None:
    (terminal,) = (found for found in Lark(f"start: A\n{text}\n").terminals if found.name == "A")
    words = compile_expr(read_lark(f"start: A\n{text}\n").lexical["A"].expr)
    check_words(terminal.pattern.to_regexp(), words, 'ab"i' if '"i"' in text else "ab", 6)


def test_words_that_may_be_empty_may_be_missing() -> None:
    read = read_lark("start: A B\nA: /(?:a*|b+)*?/\nB: /(?:a|)b??/")
    assert read.rules["start"] == call("B").optional()


def test_a_word_of_a_lazy_terminal_goes_on_where_the_match_does() -> None:
    assert accepted(r'start: /".*?"i?/ "x"?', '""', '""i', '""x', '""ix', '"""x') == [True, True, True, True, False]
    assert accepted('start: A "b"\nA: /(ab|a)b*?/', "ab", "abb", "aba") == [False, True, False]


def _strings() -> str:
    text = (GRAMMARS / "python.lark").read_text()
    return "\n".join(line for line in text.splitlines() if line.startswith(("STRING:", "LONG_STRING:")))


def test_the_strings_of_larks_python() -> None:
    text = f'start: (STRING | LONG_STRING | "x")+\n{_strings()}'
    automaton, reader = compile_grammar(grammar(text, syntax="lark")), Lark(text, parser="lalr")
    draw = random.Random(5)
    numbers = [0, 0]
    for _ in range(3_000):
        candidate = "".join(draw.choices(['"', "'", '"""', "'''", "\\", "x", "r", "\n"], k=draw.randrange(1, 9)))
        try:
            reader.parse(candidate)
            expected = True
        except LarkError:
            expected = False
        numbers[expected] += 1
        if automaton.accepts(candidate.encode()):
            # Two quotes and a third one are the beginning of a long string here, and never taken back.
            assert expected, candidate
        elif expected:
            assert '"""' in candidate or "'''" in candidate, candidate
    assert min(numbers) > 100


def test_larks_own_grammar_reads_larks_grammars() -> None:
    text = (GRAMMARS / "lark.lark").read_text()
    compile_grammar(grammar(text, syntax="lark"))
    # A comment that begins with whitespace takes that from the words before it, which Lark's steps back from.
    automaton = compile_grammar(grammar(text.replace('/\\s*/ "', '"'), syntax="lark"))
    for path in sorted(GRAMMARS.glob("*.lark")):
        content = path.read_bytes()
        assert automaton.accepts(content), path.name
        assert not automaton.accepts(content + b"\nx: (")
