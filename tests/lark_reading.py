"""Constructs of Lark's syntax, and what a grammar in it accepts."""

from __future__ import annotations

import pytest

from automata import (
    GrammarError,
    compile_grammar,
)
from constraints.grammars.lark_reader import read_lark


def accepted(text: str, *texts: str) -> list[bool]:
    automaton = compile_grammar(read_lark(text))
    return [automaton.accepts(text.encode()) for text in texts]


def refused(text: str) -> GrammarError:
    with pytest.raises(GrammarError) as caught:
        read_lark(text)
    return caught.value


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
