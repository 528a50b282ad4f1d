"""Grammars in Lark's syntax allow the texts that Lark parses, and where not, it is for a reason that is named here.

Lark's contextual lexer tries the terminals that its tables allow, in an order, and takes the first that matches. Here
the longest word counts, and the order among equals. So the languages are the same but for

    the order       a terminal that comes first in Lark's order hides a longer word of another one; and so does the
                    first alternative of a regular expression
    the context     LALR tables merge states, and so allow terminals that cannot stand there; then Lark reads these
    ignored words   Lark drops them even where a rule asks for one
    strings         one with the flag i comes before regular expressions that match the same; in Lark only before those
                    that match it as it is written
    look-ahead      sees only the word here; in Lark what follows as well
    stepping back   Lark takes a shorter word where a longer one has begun and comes to nothing; here, as in llguidance,
                    a word that can go on does
    ASCII           `\\w` and its like are Unicode in Lark, here only with the flag u

Only through the last two does Lark accept more.
"""

from __future__ import annotations

import re
import warnings
from contextlib import nullcontext
from dataclasses import replace
from itertools import product
from pathlib import Path

import lark
import llguidance
import pytest
from lark import Lark
from lark_cases import GRAMMARS, Texts, lark_accepts
from lark_reading import accepted, refused

from automata import (
    compile_expr,
    compile_grammar,
)
from automata import expressions as ex
from constraints.grammars.lark_reader import read_lark
from constraints.grammars.lark_reader.common import COMMON
from constraints.grammars.lark_reader.literals import LiteralMistake, regexp
from constraints.grammars.lark_reader.widths import widths


def compared(name: str, number: int = 150) -> list[tuple[str, bool, bool]]:
    """Texts, whether Lark accepts them, and whether we do."""
    reference = Lark(GRAMMARS[name], parser="lalr", lexer="contextual")
    automaton = compile_grammar(read_lark(GRAMMARS[name]))
    texts = Texts(reference, seed=7)
    found = []
    for _ in range(number):
        text = texts.text()
        found += [
            (candidate, lark_accepts(reference, candidate), automaton.accepts(candidate.encode()))
            for candidate in (text, texts.mutated(text))
        ]
    assert sum(theirs for _, theirs, _ in found) >= 40
    assert sum(not theirs for _, theirs, _ in found) >= 60
    return found


@pytest.mark.parametrize("name", [name for name in GRAMMARS if name != "priorities"])
def test_the_same_texts_as_lark(name: str) -> None:
    assert [text for text, theirs, ours in compared(name) if theirs != ours] == []


def test_lark_prefers_the_first_terminal_and_we_the_longest_word() -> None:
    found = compared("priorities")
    complete = Lark(GRAMMARS["priorities"], parser="earley", lexer="dynamic_complete")
    for text, theirs, ours in found:
        assert ours or not theirs
        assert not ours or lark_accepts(complete, text)
        if theirs != ours:  # what comes first in Lark's order has hidden a longer word
            assert re.search(r"(if|do)[a-z]|\d{4}", text)
    assert any(theirs != ours for _, theirs, ours in found)


BLOCKS = 'start: (NAME ";" | "do" block "end" | "if" block)*\nblock: "{" "}"\nNAME: /[a-z]+/\n%ignore " "'


DIFFERENCES = [
    ("the order of terminals", 'start: A B? | C\nA.2: "a"\nB: "b"\nC: /ab+/', "abb", False, True),
    ("the order in a regular expression", 'start: A B?\nA: /a|ab/\nB: "b"', "abb", False, True),
    ("ignored words", 'start: "a" " " "b"\n%ignore " "', "a b", False, True),
    ("ASCII", "start: /\\w+/", "é", True, False),
    ("ASCII", "start: /\\w+/u", "é", True, True),
    ("strings", 'start: A "1" | "AB"i "2"\nA: /[a-z]+/', "ab2", False, True),
    ("stepping back", 'start: INT ".." INT | FLOAT\nINT: /[0-9]+/\nFLOAT: /[0-9]+[.][0-9]+/', "1..2", True, False),
    ("stepping back", 'start: INT ".." INT | FLOAT\nINT: /[0-9]+/\nFLOAT: /[0-9]+[.][0-9]+/', "1 ..2", False, False),
    ("look-ahead", "start: A B\nA: /a(?!b)/\nB: /b/", "ab", False, True),
    ("escapes under x", "start: /a\\x20b/x", "a b", False, True),
    ("escapes under x", "start: /a\\nb/x", "ab", True, False),
    ("the context", BLOCKS, "do {} endx;", False, True),
    ("the context", BLOCKS, "do {} end x;", True, True),
]


@pytest.mark.parametrize(("what", "text", "candidate", "theirs", "ours"), DIFFERENCES)
def test_where_lark_differs(what: str, text: str, candidate: str, theirs: bool, ours: bool) -> None:
    assert lark_accepts(Lark(text, parser="lalr", lexer="contextual"), candidate) == theirs
    assert accepted(text, candidate) == [ours]


def test_of_equal_words_the_one_that_lark_prefers() -> None:
    definitions = ["A: /[a-z]+/", 'A: "ab"', "A: /a[b]/", 'A.1: "ab"', "A.1: /ab?/", 'A: "a".."z"~2']
    definitions += ['A: "a" "b"~0..1', 'A: "a" "b"?', "A: /[ac][b]?/"]
    others = [definition.replace("A", "B", 1) for definition in definitions] + ["B.2: /../"]
    for first, second in product(definitions, others):
        if first[3:] == second[3:] and first.startswith('A: "'):
            continue  # the same string twice is a mistake in Lark
        text = f'start: A "1" | B "2"\n{first}\n{second}'
        reference = Lark(text, parser="lalr", lexer="contextual")
        expected = [lark_accepts(reference, candidate) for candidate in ("ab1", "ab2")]
        assert accepted(text, "ab1", "ab2") == expected, text


@pytest.mark.parametrize(
    "rules",
    [
        'start: /[a-f]+/ "!" | HEX "?"\nHEX: /[a-z]+/',
        'start: HEX "?" | /[a-f]+/ "!"\nHEX: /[a-z]+/',
        'start: /[b-z]+/ "!" | /[a-z]+/ "?"',
        'start: B B "!" | /(ab)+/ "?"\nB: /[ab]+/\n%ignore "c"',
        'start: /[ab]/ "!" | /[ba]/ "?"\n%ignore /[ca]/',
        'start: "ab" "!" | E "?"\nE: "ab"i',
        'start: "ab" "!" | "AB"i "?"',
        'start: "ab"i "?" | "ab" "!"',
        'start: AB "?" | "ab" "!"\nAB: "ab"i',
        'start: "+" "!" | P "?"\nP: /[+]/',
    ],
)
def test_literals_have_the_names_that_lark_gives_them(rules: str) -> None:
    reference = Lark(rules, parser="lalr", lexer="contextual")
    for word in ("a", "ab", "AB", "bb", "abab", "+", "aca"):
        for text in (f"{word}!", f"{word}?", f"{word}c{word}!"):
            assert accepted(rules, text) == [lark_accepts(reference, text)], text


@pytest.mark.parametrize("pattern", ["x # [\n a*? #]\n", "x # a*?\n a*", "x a*? # [ [\n", "(?# [)xa*?", "[x*?]a*"])
def test_lazy_quantifiers_are_not_sought_in_comments_and_sets(pattern: str) -> None:
    text = f'start: A "!"\nA: /{pattern}/x'
    reference = Lark(text, parser="lalr")
    candidates = ["x!", "xa!", "xaa!"]
    assert accepted(text, *candidates) == [lark_accepts(reference, candidate) for candidate in candidates]


EXTENDED = "ab{,1}", "[a]b??", "a(b)?", "(a)b??", "b|ab"


@pytest.mark.parametrize("first", EXTENDED)
def test_extensions_are_tried_as_in_lark(first: str) -> None:
    for second, third in product(EXTENDED, EXTENDED):
        text = f'start: A "!"\nA: /{first}/ | "c"\n%extend A: /{second}/\n%extend A: /{third}/ | /[a]b?/'
        reference = Lark(text, parser="lalr")
        candidates = ["a!", "ab!", "b!", "c!", "abb!"]
        assert accepted(text, *candidates) == [lark_accepts(reference, candidate) for candidate in candidates], text


ALPHABETS = {"ESCAPED_STRING": '"\\a\n', "C_COMMENT": "/*a\n", "_STRING_INNER": "a\n", "NEWLINE": "\r\n a"}


@pytest.mark.parametrize("name", [name for name in COMMON if not name.startswith("_STRING")])
def test_common_terminals_have_the_words_that_they_have_in_lark(name: str) -> None:
    reference = Lark(f"start: {name}\n%import common.{name}\n", parser="lalr")
    (terminal,) = [terminal for terminal in reference.terminals if terminal.name == name]
    pattern = re.compile(terminal.pattern.to_regexp())
    automaton = compile_expr(read_lark(f"start: {name}\n%import common.{name}").lexical[name].expr)
    assert len(terminal.pattern.value) == COMMON[name].length
    for letters in (ALPHABETS.get(name, "1e.+"), "aZ_0", "-/#*\n", " \t\r\f"):
        for text in map("".join, (word for size in range(6) for word in product(letters, repeat=size))):
            # What Lark matches first; a longer match of the rest is what a longer word is.
            found = pattern.match(text)
            whole = pattern.fullmatch(text) if "*?" not in terminal.pattern.value else found
            assert automaton.accepts(text.encode()) == (whole is not None and whole.end() == len(text)), text


@pytest.mark.parametrize("name", ["common", "lark", "python", "unicode"])
def test_grammars_that_come_with_lark(name: str) -> None:
    text = (Path(lark.__file__).parent / "grammars" / f"{name}.lark").read_text("utf-8")
    if name == "lark":
        automaton = compile_grammar(read_lark(text))
        assert automaton.accepts(b'start: (a | "b"i)+ -> c\n?a.2: A~1..3\nA:/x+/i\n%ignore " "\n%import common.WS')
        assert not automaton.accepts(b'start: (a | "b"i+ -> c\n')
    else:
        assert "no rule is named 'start'" in refused(text).reason
        read_lark(text + f"\nstart: {'STRING' if name == 'python' else 'WS_INLINE'}\n")


# Against llguidance, whose words are read as ours are


def llguidance_accepts(text: str, candidate: str) -> bool:
    matcher = llguidance.LLMatcher(llguidance.LLTokenizer("byte"), llguidance.LLMatcher.grammar_from_lark(text))
    assert not matcher.is_error(), matcher.get_error()
    data = list(candidate.encode())
    return matcher.try_consume_tokens(data) == len(data) and matcher.is_accepting()


@pytest.mark.parametrize("name", ["expressions", "json", "statements", "comments", "calls"])
def test_the_same_texts_as_llguidance(name: str) -> None:
    texts = Texts(Lark(GRAMMARS[name], parser="lalr"), seed=3)
    automaton = compile_grammar(read_lark(GRAMMARS[name]))
    candidates = [text.strip() for text in (texts.text() for _ in range(40)) for text in (text, texts.mutated(text))]
    ours = [automaton.accepts(candidate.encode()) for candidate in candidates]
    assert 20 < sum(ours) < 70
    assert [llguidance_accepts(GRAMMARS[name], candidate) for candidate in candidates] == ours


CALLS_IN_TEXT = r"""
start: (call | other)* end
end: TEXT
call: begin "=add>" /[0-9]+/ "</function>"
other: first "=now></function>"
begin[lazy]: TEXT "<function"
first[lazy]: TEXT "<function"
TEXT: /(.|\n)*/
"""


SAME_OR_NOT = [
    (CALLS_IN_TEXT, "Hello!", True, True),
    (CALLS_IN_TEXT, "It is <function=now></function> o'clock", True, True),
    (CALLS_IN_TEXT, "It is <function=add>12</function><function=now></function>", True, True),
    (CALLS_IN_TEXT, "<function=add>x</function>", False, False),
    (CALLS_IN_TEXT, "A <function", False, False),
    (CALLS_IN_TEXT, "A <functio", True, True),
    ('start: a "b"\na[suffix="<end>"]: /.*/', "foo<end>b", True, True),
    ('start: a "b"\na[suffix="<end>"]: /.*/', "foo<end>bar<end>b", False, False),
    ('start: A B\nA: /a|ab/\nB: "b"', "abb", True, True),
    ('start: A B\nA: /a|ab/\nB: "b"', "ab", False, False),
    ('start: INT ".." INT | FLOAT\nINT: /[0-9]+/\nFLOAT: /[0-9]+[.][0-9]+/', "1..2", False, False),
    ('start: A "1" | B "2"\nA: /x/\nB: /x/', "x2", True, False),  # it means both
    ('start: "a"\n%ignore " "', " a", False, True),
    ('start: "set(" %json {} ")"\n%ignore " "', "set([1] )", True, True),
    ('start: "set(" %json {} ")"\n%ignore " "', "set( [1])", False, True),
    ('start: "set(" %json {"type": "boolean"} ")"\n%ignore " "', "set(true )", True, True),
    ('start: "a"\n%ignore " "', "a ", False, True),
    ('start: "a" " " "b"\n%ignore " "', "a b", False, True),
    ("start: /\\w/", "é", True, False),
    ("start: /\\d/", "٣", True, False),
    ("start: /\\s/", "\xa0", True, False),
    ("start: /a{ 2}/", "aa", True, False),
    ("start: /a{ 2}/", "a{ 2}", False, True),
    ("start: /[a b]/x", " ", False, True),
    ("start: /[a[b]]/", "b", True, False),
    ("start: /[a[b]]/", "[]", False, True),
    ('start: a "b"\na[lazy]: /a*/', "b", True, True),
    ('start: a "b"\na[lazy]: /a*/', "ab", True, False),
    ('start: T "c"\nT: ""', "c", True, True),
    ('start: "c"\n%ignore ""', "c", True, True),
    ('start: a- A--B\na-: "a"\nA--B: "b"', "ab", True, True),
    ('start: a\na[capture,]: "a"', "a", True, True),
    ('start: a\na[]: "a"', "a", True, True),
]


@pytest.mark.parametrize(("text", "candidate", "theirs", "ours"), SAME_OR_NOT, ids=range(len(SAME_OR_NOT)))
def test_where_llguidance_differs(text: str, candidate: str, theirs: bool, ours: bool) -> None:
    assert accepted(text, candidate) == [ours]
    assert llguidance_accepts(text, candidate) == theirs


def test_sets_of_which_python_warns_are_refused() -> None:
    re.purge()  # patterns that are known already give no warning
    number = {True: 0, False: 0}
    for members in map("".join, (word for size in range(1, 6) for word in product("[]&-~a\\", repeat=size))):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                re.compile(f"[{members}]")
            except re.error:
                continue
        assert [message.category for message in caught] == [FutureWarning] * len(caught)
        with pytest.raises(LiteralMistake, match="Lark and llguidance read") if caught else nullcontext():
            regexp(f"/[{members}]/")
        number[bool(caught)] += 1
    assert min(number.values()) > 1_000


def test_lazy_words_side_by_side() -> None:
    automaton = compile_grammar(replace(read_lark(CALLS_IN_TEXT), ambiguity="parallel"))
    cases = [(candidate, ours) for text, candidate, _, ours in SAME_OR_NOT if text == CALLS_IN_TEXT]
    assert [automaton.accepts(candidate.encode()) for candidate, _ in cases] == [ours for _, ours in cases]


def test_lists_of_strings_are_measured_in_characters() -> None:
    texts = ["ä", "öü", "a", "€€€"]
    assert widths(ex.strings(texts)) == widths(ex.alternation(*texts)) == (1, 3)
