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

import json
import random
import re
from dataclasses import replace
from itertools import product
from pathlib import Path

import jsonschema
import lark
import llguidance
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lark import Lark
from lark_cases import GRAMMARS, Texts, lark_accepts

from automata import (
    EPSILON,
    Grammar,
    GrammarError,
    LexicalRule,
    call,
    compile_expr,
    compile_grammar,
    concat,
    equivalent,
    parse,
    repeat,
)
from automata.expressions import Label
from constraints.grammars.lark_reader import read_lark
from constraints.grammars.lark_reader.common import COMMON
from constraints.grammars.lark_reader.laziness import finds_shortest, shortest


def accepted(text: str, *texts: str) -> list[bool]:
    automaton = compile_grammar(read_lark(text))
    return [automaton.accepts(text.encode()) for text in texts]


def accepts_and_refuses(text: str, good: list[str], bad: list[str]) -> None:
    assert accepted(text, *good, *bad) == [True] * len(good) + [False] * len(bad)


def refused(text: str) -> GrammarError:
    with pytest.raises(GrammarError) as caught:
        read_lark(text)
    return caught.value


# Against Lark


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
    ("the context", BLOCKS, "do {} endx;", False, True),
    ("the context", BLOCKS, "do {} end x;", True, True),
]


@pytest.mark.parametrize(("what", "text", "candidate", "theirs", "ours"), DIFFERENCES)
def test_where_lark_differs(what: str, text: str, candidate: str, theirs: bool, ours: bool) -> None:
    assert lark_accepts(Lark(text, parser="lalr", lexer="contextual"), candidate) == theirs
    assert accepted(text, candidate) == [ours]


def test_of_equal_words_the_one_that_lark_prefers() -> None:
    definitions = ["A: /[a-z]+/", 'A: "ab"', "A: /a[b]/", 'A.1: "ab"', "A.1: /ab?/", 'A: "a".."z"~2']
    others = [definition.replace("A", "B", 1) for definition in definitions] + ["B.2: /../"]
    for first, second in product(definitions, others):
        if first[3:] == second[3:] and first.startswith('A: "'):
            continue  # the same string twice is a mistake in Lark
        text = f'start: A "1" | B "2"\n{first}\n{second}'
        reference = Lark(text, parser="lalr", lexer="contextual")
        expected = [lark_accepts(reference, candidate) for candidate in ("ab1", "ab2")]
        assert accepted(text, "ab1", "ab2") == expected, text


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
        assert "lazy quantifiers" in refused(text).reason
        automaton = compile_grammar(read_lark(text.replace("|[^\\/])*?", "|[^\\/\\\\])*")))
        assert automaton.accepts(b'start: (a | "b"i)+ -> c\n?a.2: A~1..3\nA:/x+/i\n%ignore " "\n%import common.WS')
        assert not automaton.accepts(b'start: (a | "b"i+ -> c\n')
    elif name == "python":  # indentation is declared, which no vocabulary knows, and strings have lazy quantifiers
        assert "lazy" in refused(text).reason
    else:
        assert "no rule is named 'start'" in refused(text).reason
        read_lark(text + "\nstart: WS_INLINE\n")


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
    ('start: "a"\n%ignore " "', "a ", False, True),
    ('start: "a" " " "b"\n%ignore " "', "a b", False, True),
]


@pytest.mark.parametrize(("text", "candidate", "theirs", "ours"), SAME_OR_NOT, ids=range(len(SAME_OR_NOT)))
def test_where_llguidance_differs(text: str, candidate: str, theirs: bool, ours: bool) -> None:
    assert accepted(text, candidate) == [ours]
    assert llguidance_accepts(text, candidate) == theirs


def test_lazy_words_side_by_side() -> None:
    automaton = compile_grammar(replace(read_lark(CALLS_IN_TEXT), ambiguity="parallel"))
    cases = [(candidate, ours) for text, candidate, _, ours in SAME_OR_NOT if text == CALLS_IN_TEXT]
    assert [automaton.accepts(candidate.encode()) for candidate, _ in cases] == [ours for _, ours in cases]


# Constructs

CONSTRUCTS = [
    # Rules
    ('start: "a" b | c -> name\nb: "x"\n c: "y"', ["ax", "y"], ["a", "x", "axy"]),
    ('?start: _a\n!_a: "x"\n', ["x"], ["", "xx"]),
    ('start.5: "a"\n  | "b" // comment\n\n  # another\n  | "c"\n', ["a", "b", "c"], ["ab"]),
    ('start: "a" \\\n "b"\r\n\r\n', ["ab"], ["a"]),
    ('start:', [""], ["a"]),
    ('start: | "a" ()', ["", "a"], ["aa"]),
    ('start: ["a" "b"] ("c" | "d")', ["abc", "d"], ["ad", "ab"]),
    ('start: "a"? "b"* "c"+', ["c", "abbcc"], ["aac", "ab"]),
    ('start: "a"~2 "b"~1..2', ["aab", "aabb"], ["ab", "aa", "aabbb"]),
    ('start: "a"{2} "b"{1,2} "c"{2,} "d"{,1}', ["aabcc", "aabbcccd"], ["aabc", "aabbbcc", "aabccdd"]),
    ('start: ("a" | "b" "c"){2}', ["abc", "bcbc"], ["a", "bc"]),
    ('start: my-rule\nmy-rule: MY-NAME->x\nMY-NAME: "a"', ["a"], ["b"]),
    ('start: "(" start ")" | "x"', ["x", "((x))"], ["(x", "x)"]),
    ('start: start "+" X | X\nX: "x"', ["x", "x+x+x"], ["x+", "+x"]),
    # Terminals
    ('start: A\nA.3: B ["x"] | "c"~2..3\nB: "b"+', ["b", "bbx", "cc", "ccc"], ["x", "c", "cccc"]),
    ('start: A "1"\nA: /a/ ("b" | "c")?\n%ignore " "', ["ab 1", " a1"], ["a b1"]),
    ('start: A\nA: /[a-z]*/ & ~/.*bad.*/', ["", "ba"], ["bad", "xbady"]),
    ('start: A\nA: ~"a"+ & /[ab]{2}/ | "c"', ["ab", "bb", "aa", "c"], ["a", "cc"]),
    ('start: A B\nA: /a*/\nB: /b?/', ["", "a", "b", "aab"], ["ba", "bb"]),
    ('start: "if" NAME | NAME\nNAME: /[a-z]+/\n%ignore " "', ["if x", "ifx", "x"], ["if x y"]),
    ('start: NAME "if"\nNAME: /[a-z]+/\n%ignore " "', ["x if", "if if"], ["xif"]),
    # Literals
    ('start: "\\n\\t\\\\\\"\\x41\\u00e9\\U0001F600\\d"', ["\n\t\\\"Aé😀\\d"], ["n"]),
    ('start: "\\ud83d\\ude00"', ["😀"], []),
    ('start: "Straße"i', ["STRAßE", "straße"], ["strasse"]),
    ('start: /a.c/s /x  y/x /B/i', ["a\ncxyb", "abcxyB"], ["abcx  yb"]),
    ('start: /^b$/m', ["b"], ["a"]),
    ('start: /a # one\n b/x', ["ab"], ["a b"]),
    ('start: /\\/\\\\[/\\]]/'.replace("[/", "["), ["/\\]"], ["/"]),
    ('start: "a".."c" "\\x41".."Z"', ["aA", "cZ"], ["dA", "a"]),
    ('start: ""', [""], ["a"]),
    ('start: A\nA: ("a".."c")+ DIGIT\n%import common.DIGIT', ["abc1"], ["1", "ad1"]),
    # Assertions see the word and nothing else
    ('start: A "b"\nA: /a(?=$)/', ["ab"], ["a"]),
    ('start: A\nA: /[a-z]+/ /(?<!x)/ "1"', ["ab1"], ["ax1"]),
    # Templates
    ('start: t{"a", /b/}\nt{x, y}: x y | "(" t{y, x} ")"', ["ab", "(ba)", "((ab))"], ["ba", "(ab)"]),
    ('start: twice{pair, "a"}\ntwice{f, x}: f{x, "b"} f{x, x}\npair{x, y}: x y', ["abaa"], ["aaab"]),
    ('start: u{u{"a"}} \nu{x}: x "!"', ["a!!"], ["a!"]),
    ('start: t{<|a|>, %regex {"substring_chars": "xy"}} | B\nB: "b"\nt{x, y}: x y', ["b"], ["xy"]),
    # Directives
    ('start: "a" "b"\n%ignore /[ ]+/\n%ignore "-" | "+"', ["a b", "a -+b", " ab "], ["a/b"]),
    ('start: NAME "=" INT WS\n%import common (INT, WS)\n%import common.CNAME -> NAME', ["x1=1 "], ["x1 "]),
    ('start: A\n%override A: "b"\n%import common.INT -> A', ["b"], ["1"]),
    ('start: A b\nA: "a"\nb: "b"\n%extend A: "c"\n%extend b: "d" | "e"', ["ab", "ce", "cd"], ["ad ", "a"]),
    ('%llguidance {"no_forcing": true, "allow_initial_skip": true}\nstart: "a"', ["a"], []),
    # Substrings and JSON
    ('start: %regex {"substring_chars": "abcd"} "!"', ["!", "bc!", "abcd!"], ["bd!", "ac!"]),
    ('start: A\nA: "<" %regex {"substring_words": "one two, three"} ">"', ["<>", "<two, >", "< >"], ["<wo>"]),
    ('start: %regex {"substring_chunks": ["ab", "c", "de"]}', ["", "ab", "cde", "abcde"], ["b", "abde"]),
    ('start: "call(" arg ")"\narg: %json {} | %json true', ['call({"a": [1]})', "call(1)"], ["call()", "call([)"]),
    # Attributes
    ('start: a[capture]\n'.replace("[capture]", "") + 'a[capture="x", temperature=0.7]: "a"', ["a"], ["b"]),
    ('start: a "1"\na[lazy]: /[0-9]+/', ["11", "01"], ["1", "001"]),
    ('start: a "b"\na[lazy, capture]: /.*/', ["b"], ["ab"]),
    ('start: a "b"\na[capture, suffix="<end>"]: /.*/', ["x<end>b", "<end>b"], ["xb", "<end><end>b"]),
    ('start: (f | g)* TEXT\nf: head "f" /[0-9]/\ng: hd "g"\nhead[lazy]: TEXT "<"\nhd[suffix=OPEN]: TEXT\nOPEN: "<"\n'
     "TEXT: /(.|\\n)*/", ["", "text", "a<f1b<g", "<g"], ["<", "a<f", "a<fx", "<h"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "good", "bad"), CONSTRUCTS, ids=range(len(CONSTRUCTS)))
def test_constructs(text: str, good: list[str], bad: list[str]) -> None:
    accepts_and_refuses(text, good, bad)


def test_names_and_places() -> None:
    grammar = read_lark(
        'start: "if" _l{NAME, /,/} ["x"i] END\n_l{x, sep}: x (sep x)*\nNAME.2: /[a-z]+/\nEND: "end"\n'
        'other: "end" | "if" | NUMBERS\nNUMBERS: DIGIT+\nDIGIT: "0".."9"\n%ignore /[ ]/\n%ignore NAME\n'
    )
    assert list(grammar.rules) == ["start", "_l{NAME, /,/}", "other"]
    assert list(grammar.lexical) == ['"if"', '"x"i', "/,/", "/[ ]/", "END", "NAME", "NUMBERS"]
    assert grammar.ignored == ("/[ ]/", "NAME")
    assert grammar.rules["start"] == concat(
        call('"if"'), call("_l{NAME, /,/}"), repeat(call('"x"i'), 0, 1), call("END")
    )
    assert grammar.rules["_l{NAME, /,/}"] == concat(call("NAME"), repeat(concat(call("/,/"), call("NAME")), 0))
    assert {name: (place.line, place.column) for name, place in grammar.places.items()} == {
        "start": (1, 1),
        "_l{NAME, /,/}": (2, 1),
        "other": (5, 1),
        '"if"': (1, 8),
        '"x"i': (1, 28),
        "/,/": (1, 22),
        "/[ ]/": (8, 9),
        "END": (4, 1),
        "NAME": (3, 1),
        "NUMBERS": (6, 1),
    }


def test_strings_that_are_written_in_two_ways_are_one_word() -> None:
    grammar = read_lark('start: "A" "\\x41" "a"i /A/ A | "\\n" NL B\nA: "A"\nNL: /\\n/\nB: ("A")\n')
    assert sorted(grammar.lexical) == ['"\\n"', '"a"i', "/A/", "A", "B", "NL"]
    assert grammar.rules["start"].operands()[0].operands()[:2] == (call("B"), call("B"))  # the last one, as in Lark


def test_equal_lists_of_substrings_are_one_word() -> None:
    grammar = read_lark(
        'start: %regex {"substring_chars": "ab"} "1" | %regex  { "substring_chars": "ab"} "2"'
        f' | %regex {{"substring_chars": "{"b" * 200}"}}'
    )
    assert list(grammar.lexical) == ['"1"', '"2"', "%regex at 87", '%regex {"substring_chars": "ab"}']


def test_tokens_are_labels() -> None:
    grammar = read_lark("start: <|a|> TOOL (<think> | <[12,20-29]>)\n%declare TOOL OTHER\n")
    found, stack = [], [grammar.rules["start"]]
    while stack:
        node = stack.pop()
        stack += node.operands()
        found += [node.name] if isinstance(node, Label) else []
    assert sorted(found) == ["<[12,20-29]>", "<think>", "<|a|>", "TOOL"]


def test_the_start_may_be_any_rule() -> None:
    assert read_lark('a: "x"\nb: "y"', "b").start == "b"
    assert read_lark('start: "x"').start == "start"


def test_words_that_may_be_empty_may_be_missing() -> None:
    grammar = read_lark("start: A B C\nA: /a*/\nB: /b+/\nC: /(?:)/")
    assert grammar.rules["start"] == concat(repeat(call("A"), 0, 1), call("B"))
    assert read_lark("start: a\na[lazy]: /.*/").rules["a"] == EPSILON


def test_lazy_rules_with_the_same_words_share_one() -> None:
    grammar = read_lark('start: a "1" | b "2"\na[lazy]: /x*y/\nb[suffix="y"]: /x*/\nc: "c"')
    assert grammar.rules["a"] == grammar.rules["b"] == call("a[lazy]")
    assert grammar.lexical["a[lazy]"] == LexicalRule(parse("x*y"), lazy=True)


MISTAKES = [
    ("", "no rule is named 'start'", None, None, None),
    ('a: "x"', "rules are a", None, None, None),
    ("start: a", "the rule a is not defined", 1, 8, "start"),
    ("start: A", "the terminal A is not defined", 1, 8, "start"),
    ("start: WS", "%import common.WS", 1, 8, "start"),
    ('start: A\nA: "a" B', "the terminal B is not defined", 2, 8, "A"),
    ('start: "a"\n start: "b"', "the rule start is defined more than once", 2, 2, "start"),
    ('start: A\nA: "a"\nA: "b"', "the terminal A is defined more than once", 3, 1, "A"),
    ('start: INT\nINT: "a"\n%import common.INT', "the terminal INT is defined more than once", 2, 1, "INT"),
    ("start: A\nA: B\nB: C\nC: A", "the terminal A is made of itself", 4, 4, "C"),
    ("start: A\nA: start", "a terminal cannot be made of the rule start", 2, 4, "A"),
    ('start: A\nA: "a" -> b', "a terminal's alternatives have no names", 2, 8, "A"),
    ("start: A\nA: <|x|>", "a token is not made of characters", 2, 4, "A"),
    ("start: A\n%declare B\nA: B", "a token is not made of characters", 3, 4, "A"),
    ("start: A\nA: %json {}", "%json stands for a rule", 2, 4, "A"),
    ("start: A\nA: t{A}\nt{x}: x", "a terminal cannot use a template", 2, 4, "A"),
    ("start: A\nA[lazy]: /a/", "attributes are for rules", 2, 3, "A"),
    ("start: A\nA{x}: /a/", "a terminal has no parameters", 2, 3, "A"),
    # Templates
    ("start: t{start}\nt{x, y}: x y", "t takes 2 arguments, not 1", 1, 8, "start"),
    ("start: t\nt{x}: x", "the template t is used without arguments", 1, 8, "start"),
    ("start: t{u}\nt{x}: x\nu{x}: x", "the template u is used without arguments", 2, 7, "t{u}"),
    ("start: start{start}", "no template is named start", 1, 8, "start"),
    ("start: t{start}\nt{f}: f{f}", "no template is named start", 2, 7, "t{start}"),
    ("start: t{start}\nt{x, x}: x", "the parameter x is there twice", 2, 6, "t"),
    ("start: t{start}\nt{start}: start", "the parameter start has the name of a rule", 2, 1, "t"),
    ('start: t{"a" "b"}\nt{x}: x', "expected , or }", 1, 14, "start"),
    ('start: t{("a")}\nt{x}: x', "expected an argument", 1, 10, "start"),
    ('start: t{"a"}\nt{x}: x t{t{x}}', "t needs templates within templates without end", 2, 9, None),
    ("start: start\nt{x}: x y", "the rule y is not defined", 2, 9, "t"),
    ("start: start\nt{x}: x{WS}", "the terminal WS is not defined", 2, 9, "t"),
    # Syntax
    ('start: ("a"', "( is not closed on its line", 1, 8, "start"),
    ('start: ["a"\n"b"]', "[ is not closed on its line", 1, 8, "start"),
    ('start: "a")', "expected a value, | or the end of the line, found )", 1, 11, "start"),
    ('start: ("a"]', "expected a value, | or )", 1, 12, "start"),
    ('start: "a"??', "expected a value, | or the end of the line, found ?", 1, 12, "start"),
    ("start: *", "expected a value", 1, 8, "start"),
    ('start "a"', "expected :, found", 1, 7, "start"),
    ('start: "a" : "b"', "found :", 1, 12, "start"),
    ('"a": "b"', "expected a rule, a terminal or a directive", 1, 1, None),
    ("Start: A", "a name is written in small letters", 1, 1, None),
    ("__start: A", "a name is written in small letters", 1, 1, None),
    ('start: "a', "a string is opened and not closed", 1, 8, None),
    ("start: /a", "a regular expression is opened and never closed", 1, 8, None),
    ('start: "a" ; "b"', "nothing begins with the character ';'", 1, 12, None),
    ('start: a -> "b"\na: "a"', "expected a name in small letters", 1, 13, "start"),
    ('start: a -> b "c"\na: "a"', "expected | or the end of the alternative", 1, 15, "start"),
    ('start: "a" & "b"', "& is for terminals", 1, 12, "start"),
    ('start: ~"a"', "~ is for terminals", 1, 8, "start"),
    ("start: A\nA: ~ | /a/", "expected what ~ is before", 2, 6, "A"),
    ('start: "a"~3..2', "no number of repetitions lies between 3 and 2", 1, 11, "start"),
    ('start: "a"{2,1}', "no number of repetitions lies between 2 and 1", 1, 11, "start"),
    ('start: "a"{}', "expected a number or a comma, found }", 1, 12, "start"),
    ('start: "a"~-1', "a number of repetitions lies between 0", 1, 12, "start"),
    ('start: "a"~99999999999999', "a number of repetitions lies between 0", 1, 12, "start"),
    ('start.x: "a"', "expected a number, the priority", 1, 7, "start"),
    ('start.1.5: "a"', "a priority is a whole number", 1, 7, "start"),
    # Literals
    ("start: /a(?P=x)/", "a back-reference is not regular", 1, 10, "start"),
    ("start: /(a)\\1/i", "", 1, 12, "start"),
    ("start: /ab[/", "", 1, 11, "start"),
    ("start: /a/l", "the flag l (locale) is not supported", 1, 10, "start"),
    ("start: /a\nb/", "only with the flag x", 1, 8, "start"),
    ("start: /a\nb(/x", "opened and never closed", 2, 2, "start"),
    ('start: "a".."bc"', "is not a single character", 1, 8, "start"),
    ('start: "a"i.."c"', "is not a single character", 1, 8, "start"),
    ('start: "c".."a"', "goes backwards", 1, 8, "start"),
    ('start: "a\\b"', "Lark and llguidance read \\b in a string differently", 1, 10, "start"),
    ('start: "\\x4"', "\\x needs 2 hexadecimal digits", 1, 9, "start"),
    ('start: "\\U00110000"', "no character has the number", 1, 9, "start"),
    ('start: "\\ud83d"', "half of a surrogate pair", 1, 8, "start"),
    ('start: "\ud83d"', "half of a surrogate pair", 1, 9, None),
    ('start: /".*?"x?/', "depends on the order in which its lazy quantifiers are tried", 1, 8, '/".*?"x?/'),
    ("start: A\nA: /(ab|a)c*?/", "lazy quantifiers", 2, 1, "A"),
    # Directives
    ("%ignore", "%ignore needs a terminal", 1, 1, None),
    ('%ignore a\na: "x"\nstart: a', "a terminal cannot be made of the rule a", 1, 9, None),
    ("%ignore A\nstart: start", "the terminal A is not defined", 1, 9, None),
    ('%ignore ""\nstart: "a"', "what is ignored has no text", 1, 9, None),
    ("%import common.NOTHING", "NOTHING is none of Lark's common terminals", 1, 16, None),
    ("%import python.NAME", "only Lark's common terminals can be imported", 1, 9, None),
    ("%import .other.NAME", "other files cannot be imported", 1, 9, None),
    ("%import common.INT -> int", "expected a name in capitals", 1, 23, None),
    ("%import common.INT -> A\n%import common.WS -> A", "the terminal A is defined more than once", 2, 22, None),
    ("%override start: A", "start cannot be overridden", 1, 1, "start"),
    ("%extend start: A", "start cannot be extended", 1, 1, "start"),
    ('start: "a"\n%extend start{x}: x', "other parameters", 2, 1, "start"),
    ("%declare", "expected the name of a token", 1, 9, None),
    ("%declare a", "expected the name of a token", 1, 10, None),
    ('A: "a"\n%declare A', "the terminal A is defined more than once", 2, 10, None),
    ("%nothing", "no directive is named %nothing", 1, 1, None),
    ('start: "a" %ignore "b"', "%ignore cannot stand in a rule", 1, 12, "start"),
    ('%llguidance {"allow_invalid_utf8": true}', "'allow_invalid_utf8' of %llguidance is not supported", 1, 1, None),
    ('%llguidance {"ignore_once": true}', "'ignore_once' of %llguidance is not supported", 1, 1, None),
    ("%llguidance 1", "the options of %llguidance are a JSON object", 1, 1, None),
    ("start: @other", "found @other", 1, 8, "start"),
    ('start::_: "a"', "numbers for parameters is not supported", 1, 6, None),
    ('start: "a" %if true', "%if cannot stand in a rule", 1, 12, "start"),
    # JSON
    ('start: "x"\n  | %json {"items": {"type": "text"}}', "there is no type 'text' (at /items/type", 2, 5, "start"),
    ('start: %json {"uniqueItems": true}', "needs memory of all items (at /uniqueItems", 1, 8, "start"),
    ("start: %json false", "no value satisfies", 1, 8, "start"),
    ("start: %json {", "this is not JSON", 1, 15, None),
    ('start: %regex {"substring_chars": 1}', "is not supported", 1, 8, "start"),
    ("start: %regex {}", "%regex needs a JSON object", 1, 8, "start"),
    ('start: %regex {"substring_chars": "a", "substring_words": "b"}', "%regex needs a JSON object", 1, 8, "start"),
    # Tokens
    ("start: <[a]>", "<[a]> is no list of token ids", 1, 8, "start"),
    ("start: <[^*]>", "is no list of token ids", 1, 8, "start"),
    ("start: <[1,20-10]>", "the range 20-10 of token ids goes backwards", 1, 8, "start"),
    # Attributes
    ('start[max_tokens=3]: "a"', "the attribute max_tokens is not supported", 1, 18, "start"),
    ('start[stop="b"]: "a"', "the attribute stop takes back", 1, 12, "start"),
    ('start[other]: "a"', "no attribute is named other", 1, 7, "start"),
    ('start[lazy, lazy]: "a"', "the attribute lazy is there twice", 1, 13, "start"),
    ('start[suffix=1]: "a"', "expected a value for suffix: string or regexp or terminal", 1, 14, "start"),
    ('start[suffix=""]: "a"', "a suffix has a text", 1, 14, "start"),
    ('start[lazy]: t{a}\nt{x}: x\na: "a"', "a terminal cannot use a template", 1, 16, "start"),
    ('start[lazy]: t{"a"}\nt{x}: x', "a terminal cannot use a template", 1, 14, "start"),
    ('start[lazy]: a\na: "a"', "a terminal cannot be made of the rule a", 1, 14, "start"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "reason", "line", "column", "rule"), MISTAKES, ids=range(len(MISTAKES)))
def test_mistakes(text: str, reason: str, line: int | None, column: int | None, rule: str | None) -> None:
    error = refused(text)
    assert reason in error.reason
    assert (error.line, error.column) == (line, column)
    if rule is not None or line is None:
        assert error.rule == rule


# Lazy quantifiers

ATOMS = st.sampled_from(["a", "b", "[ab]", "."])
PARTS = st.tuples(ATOMS, st.sampled_from(["", "*?", "+?", "{2}"])).map("".join)


@given(st.lists(PARTS, min_size=1, max_size=5).map("".join))
@settings(max_examples=40, deadline=None)
def test_lazy_expressions_that_are_taken_find_the_shortest_word(pattern: str) -> None:
    expr = parse(pattern)
    assert finds_shortest(expr)
    automaton = compile_expr(shortest(expr))
    for text in map("".join, product("ab", repeat=7)):
        found = re.match(pattern, text)
        ends = [end for end in range(1, 8) if automaton.accepts(text[:end].encode())]
        assert ends == ([found.end()] if found and found.end() else [])


@pytest.mark.parametrize("pattern", [r'".*?(?<!\\)(\\\\)*?"', r'a.*?"[^a]*?(?<!\\)(\\\\)*?""'])
def test_strings_with_escapes_are_taken(pattern: str) -> None:
    automaton = compile_expr(read_lark(f"start: A\nA: /{pattern}/").lexical["A"].expr)
    for text in map("".join, product('"\\a', repeat=8)):
        found = re.match(pattern, text)
        ends = [end for end in range(1, 9) if automaton.accepts(text[:end].encode())]
        assert ends == ([found.end()] if found else [])


@pytest.mark.parametrize("pattern", [".*?a(bb)*?a", "(ab|a)b*?", ".{0,2}?b", "(a|bb)*?b"])
def test_lazy_expressions_that_are_not_taken(pattern: str) -> None:
    assert not finds_shortest(parse(pattern))
    assert "lazy quantifiers" in refused(f"start: /{pattern}/").reason


def test_lazy_quantifiers_that_make_no_difference_are_read() -> None:
    grammar = read_lark('start: /a+?[^a]*?;/ | A B\nA: /"[^"]*?"/\nB: X "e"\nX: /[a-d]{1,3}?/')
    assert equivalent(grammar.lexical["A"].expr, parse('"[^"]*"'))
    assert equivalent(grammar.lexical["B"].expr, parse("[a-d]{1,3}e"))


# Bad input


def many_rules(number: int) -> str:
    rules = [f'r{i}: "a{i}" r{i * 7 % number} | B{i % 50} ("x" r{i // 2})*\n' for i in range(number)]
    return "start: r0\n" + "".join(rules) + "".join(f"B{i}: /[a-z]{{{i + 1}}}/\n" for i in range(50))


def test_many_rules() -> None:
    grammar = read_lark(many_rules(20_000))
    assert len(grammar.rules) == 20_001
    assert len(grammar.lexical) == 20_000 + 50 + 1


@pytest.mark.parametrize(
    "text",
    [
        "start: " + "(" * 10_000 + '"a"' + ")" * 10_000,
        "start: " + "(" * 10_000 + '"a"' + ' "b")' * 10_000,
        "start: " + "(" * 10_000 + '"a"' + ")?" * 10_000,
        "start: A\nA: " + "[" * 10_000 + '"a"' + ' "b"]' * 10_000,
        "start: A0\n" + "".join(f'A{i}: A{i + 1} "x" | "y"\n' for i in range(3_000)) + 'A3000: "z"',
        "start: A\nA: " + "~" * 10_000 + '"a"',
    ],
)
def test_deep_nesting_is_read(text: str) -> None:
    assert isinstance(read_lark(text), Grammar)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("start: " + "(" * 10_000, "is not closed"),
        ("start: " + "t{" * 10_000 + '"a"' + "}" * 10_000 + "\nt{x}: x", "without end"),
        ('start: t{"a"}\nt{x}: t{a{x}} | t{b{x}}\na{x}: x\nb{x}: x', "without end"),
        ("start: A0\n" + "".join(f"A{i}: A{i + 1} A{i + 1}\n" for i in range(60)) + 'A60: "z"', "has more than"),
        ("start: %json " + "[" * 100_000, "nested too deeply"),
        ("start: /" + "a" * 300_000, "opened and never closed"),
    ],
)
def test_hostile_texts_are_refused(text: str, reason: str) -> None:
    assert reason in refused(text).reason


PIECES = [
    '"', "/", "(", ")", "[", "]", "{", "}", "|", "~", "&", "->", "..", ".", ":", ",", "%json", "%regex", "<", ">",
    "\\", "i", "?", "*", "!", "=", "5", "a", "A", "_", "é", "%ignore", "[lazy]", "{x}", "::", "@", "(?",
    "\n", " ", "\ud800",
]  # fmt: skip


def mistake(text: str) -> GrammarError | None:
    try:
        read_lark(text)
    except GrammarError as error:
        return error
    return None


def test_whatever_is_written_is_a_grammar_or_a_mistake_with_a_place() -> None:
    chosen = random.Random(5)
    texts = [*GRAMMARS.values(), *(text for text, *_ in CONSTRUCTS), *(text for text, *_ in MISTAKES)]
    read = 0
    for _ in range(1_500):
        text = chosen.choice(texts)
        for _ in range(chosen.randint(1, 4)):
            at = chosen.randrange(len(text) + 1)
            other = chosen.choice(texts)
            cut = chosen.randrange(len(other) + 1)
            inserted = chosen.choice(["", chosen.choice(PIECES), other[cut : cut + 10]])
            text = text[:at] + inserted + text[at + chosen.randrange(4) :]
        error = mistake(text)
        if error is None:
            read += 1
        elif error.line is None or error.column is None:
            assert "where texts would begin" in error.reason
        else:
            lines = re.split(r"\r\n?|\n", text)
            assert 1 <= error.line <= len(lines)
            assert 1 <= error.column <= len(lines[error.line - 1]) + 2
    assert read > 20


# JSON Schemas inside

_TREE = {"oneOf": [{"items": {"$ref": "#/$defs/t"}, "type": "array", "minItems": 2}, {"type": ["null", "integer"]}]}
SCHEMAS = [
    {
        "type": "object",
        "properties": {"name": {"type": "string", "minLength": 2}, "age": {"type": "integer", "maximum": 9}},
        "required": ["name"],
        "additionalProperties": False,
    },
    {"type": "array", "items": {"type": "integer", "oneOf": [{"minimum": 3}, {"maximum": 5}]}},
    {"not": {"type": "object", "required": ["a"]}},
    {"contains": {"type": "object"}},
    {"anyOf": [{"properties": {"a": {"items": {"type": "null"}}}}, {"properties": {"b": {"type": "string"}}}]},
    {"type": "object", "if": {"required": ["a"]}, "then": {"maxProperties": 1}, "else": {"minProperties": 2}},
    {"$ref": "#/$defs/t", "$defs": {"t": _TREE}},
    {"enum": [1, "ab", None, [1, {"b": 2}]]},
]
VALUES = [
    *(
        1,
        4,
        7,
        -2,
        2.5,
        "a",
        "ab",
        None,
        True,
        [],
        [1],
        [4],
        [7, 2],
        [1, {"b": 2}],
        [None, [None, 1]],
        [[3]],
        [[1, 2], 3],
    ),
    *(
        {},
        {"a": 1},
        {"name": "Ada"},
        {"name": "Ada", "age": 7},
        {"name": "A"},
        {"name": "Ada", "age": 36},
        {"a": 1, "b": 2},
    ),
    *(
        {"a": [None], "b": 2},
        {"a": [1], "b": "x"},
        {"a": [1], "b": 2},
        {"a": [0], "b": None},
        {"b": 1, "c": 2},
        [{}],
        ["a", {"a": []}],
    ),
]


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_json_schemas_inside_a_grammar(schema: dict[str, object]) -> None:
    automaton = compile_grammar(read_lark(f'start: "set(" %json {json.dumps(schema)} ")"'))
    validator = jsonschema.Draft202012Validator(schema)
    valid = [validator.is_valid(value) for value in VALUES]
    assert 1 < sum(valid) < len(VALUES) - 1
    for options in ({}, {"indent": 2}):
        texts = [f"set({json.dumps(value, **options)})".encode() for value in VALUES]  # type: ignore[arg-type]
        assert [automaton.accepts(text) for text in texts] == valid


def test_equal_schemas_share_their_rules_and_others_have_their_own() -> None:
    number, string = '%json {"type": "integer"}', '%json {"type": "string"}'
    same = read_lark(f'start: {number} ";" {number} ";" {string}')
    assert len(same.rules) == 3
    automaton = compile_grammar(same)
    assert [automaton.accepts(text) for text in (b'1;-2;"x"', b'1;"x";2')] == [True, False]
