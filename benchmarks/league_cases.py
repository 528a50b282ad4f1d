"""The patterns and grammars of `exactness.py`, with texts to try on them.

    PATTERNS        use only what engines' dialects have in common: no look-around, no anchors, no references
    GRAMMARS        each in Lark's notation and in GBNF, with some of its texts
    pattern_texts   texts drawn from the tree that Python's `re` makes of a pattern, near misses, and random ones

Any lexer can tell the terminals of the grammars apart, so the engines' readings do not differ; the oracle tries every
way to cut a text into terminals.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from candidates import letters_of, near_misses, random_texts, sampled

PATTERNS = (
    "",
    "a",
    "abc|abd|xyz",
    "a*",
    "(ab)*",
    "(a|b)*abb",
    "(a|b)*a(a|b){3}",
    "(a|ab)(c|bcd)(d*)",
    "(a?){5}a{5}",
    "a{3}",
    "a{2,4}b{0,1}",
    "(a{1,3}b){2,3}",
    "((a{1,2}){1,2}){1,2}",
    "[a-z]+",
    "[^a-z]{2}",
    "[a-zA-Z_][a-zA-Z0-9_]*",
    "[0-9]{4}-[0-9]{2}-[0-9]{2}",
    "(0|[1-9][0-9]*)",
    "-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?",
    "((25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])\\.){3}(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])",
    "#[0-9a-f]{6}|#[0-9a-f]{3}",
    '"[^"]*"',
    '"([^"\\\\]|\\\\["\\\\nt])*"',
    "(true|false|null)",
    "[A-Za-z0-9._]+@[A-Za-z0-9]+(\\.[A-Za-z]{2,4})+",
    "https?://[a-z]+(\\.[a-z]+)*(:[0-9]{1,5})?(/[a-z0-9._~-]*)*",
    "(\\+[1-9][0-9]{0,2} )?\\(?[0-9]{3}\\)?[ -]?[0-9]{3}[ -]?[0-9]{4}",
    "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    "(Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day",
    "M{0,3}(CM|CD|D?C{0,3})(XC|XL|L?X{0,3})(IX|IV|V?I{0,3})",
    "é|è|ê",
    "[à-ü]{1,3}",
    "(日本|日)語?",
    "[α-ω]+ [Α-Ω]",
    "😀{1,2}|😁",
    "[^x]",
    "[^é]{1,2}",
    ".{3}",
    "a.c",
    "(a|b|c|d|e|f|g|h){4}",
    "(aa|aaa)*",
    "(a*b*)*c",
    "(a+)+b",
    "x{0}y",
    "(|a)(|b)(|c)",
    "a|",
    "(foo|foobar)(bar)?baz",
    "[ab]*[bc]*[cd]*",
    "(a(b(c(d)?)?)?)?",
    "\\{\\[\\(\\.\\*\\+\\?\\)\\]\\}",
    "[\\]\\-^a]{2}",
    "\\t\\n",
    "[ \\t]{0,3};",
    "\\x41\\x7a",
    "[\\x20-\\x7e]{2}",
    "a{0,20}b",
    "(ab|ba){2,9}",
    "[0-9]+(,[0-9]{3})*",
    "(the|a) (cat|dog)( (sat|ran))?\\.",
    "[+*/()0-9 -]{1,9}",
)


@dataclass(frozen=True, slots=True)
class GrammarCase:
    """A grammar in both notations, with some of its texts."""

    lark: str
    gbnf: str
    samples: tuple[str, ...]

    @property
    def source(self) -> dict[str, str]:
        """The text of the grammar, by notation."""
        return {"lark": self.lark, "gbnf": self.gbnf}

    def texts(self) -> Iterator[bytes]:
        """Return the samples, near misses of them, and random texts of the same characters, each once, as UTF-8."""
        random, letters = Random(self.lark), "".join(sorted(set("".join(self.samples))))
        found = list(self.samples)
        for sample in self.samples:
            found += near_misses(sample, letters, 12, random)
        found += random_texts(letters, 30, random)
        return (text.encode() for text in dict.fromkeys(found))


def pattern_texts(pattern: str) -> list[bytes]:
    """Return texts to try on a pattern, each once, as UTF-8 of at most 200 characters."""
    random, letters = Random(pattern), letters_of(pattern)
    found = sampled(pattern, 20, random)
    for text in found[:]:
        found += near_misses(text, letters, 3, random)
    found += random_texts(letters, 20, random)
    whole = (text for text in dict.fromkeys(found) if not any("\ud800" <= char <= "\udfff" for char in text))
    return [text.encode() for text in whole if len(text) <= 200]


GRAMMARS = {
    "brackets": GrammarCase('start: "(" start? ")"', 'root ::= "(" root? ")"', ("()", "(())", "((((()))))")),
    "brackets in a row": GrammarCase(
        'start: ("(" start ")" | "[" start "]")*',
        'root ::= ("(" root ")" | "[" root "]")*',
        ("", "()[]", "([()])", "[[][]]()"),
    ),
    "as many b as a": GrammarCase('start: "a" start "b" |', 'root ::= "a" root "b" | ""', ("", "ab", "aaaabbbb")),
    "at least as many": GrammarCase(
        'start: "a" start "b" | "a" start |', 'root ::= "a" root "b" | "a" root | ""', ("", "a", "aab", "aaabb")
    ),
    "palindromes": GrammarCase(
        'start: "a" start "a" | "b" start "b" | "a" | "b" |',
        'root ::= "a" root "a" | "b" root "b" | "a" | "b" | ""',
        ("", "a", "abba", "abbabba"),
    ),
    "sums, left": GrammarCase(
        'start: start "+" item | item\nitem: "x" | "(" start ")"',
        'root ::= root "+" item | item\nitem ::= "x" | "(" root ")"',
        ("x", "x+x+x", "(x+(x))+x"),
    ),
    "sums, right": GrammarCase(
        'start: item "+" start | item\nitem: "x" | "(" start ")"',
        'root ::= item "+" root | item\nitem ::= "x" | "(" root ")"',
        ("x", "x+x+x", "(x+(x))+x"),
    ),
    "sums, ambiguous": GrammarCase(
        'start: start "+" start | start "*" start | "x"',
        'root ::= root "+" root | root "*" root | "x"',
        ("x", "x+x*x", "x*x*x+x+x"),
    ),
    "hidden left recursion": GrammarCase(
        'start: maybe start "x" | "y"\nmaybe: "z"?',
        'root ::= maybe root "x" | "y"\nmaybe ::= "z"?',
        ("y", "yx", "zyx", "zzyxx", "zyxx"),
    ),
    "in circles": GrammarCase(
        'start: other | "a" start "b"\nother: start | "c"',
        'root ::= other | "a" root "b"\nother ::= root | "c"',
        ("c", "acb", "aacbb"),
    ),
    "nothing at all": GrammarCase(
        'start: empty "a" empty\nempty: none none\nnone: "b"?',
        'root ::= empty "a" empty\nempty ::= none none\nnone ::= "b"?',
        ("a", "bab", "bbabb", "abb"),
    ),
    "lists": GrammarCase(
        'start: "[" [value ("," value)*] "]"\nvalue: "0" | "1" | start',
        'root ::= "[" (value ("," value)*)? "]"\nvalue ::= "0" | "1" | root',
        ("[]", "[0,1]", "[[],[1,[0]]]"),
    ),
    "tags": GrammarCase(
        'start: "<a>" start* "</a>" | "<b>" start* "</b>" | "t"',
        'root ::= "<a>" root* "</a>" | "<b>" root* "</b>" | "t"',
        ("t", "<a></a>", "<a><b>t</b>tt</a>"),
    ),
    "prefix notation": GrammarCase(
        'start: "+" start start | "-" start | "1"',
        'root ::= "+" root root | "-" root | "1"',
        ("1", "+1-1", "++111", "-+1-1"),
    ),
    "twice counted": GrammarCase(
        'start: one | two\none: "a" one "b" | "a" "b"\ntwo: "a" two "b" "b" | "a" "b" "b"',
        'root ::= one | two\none ::= "a" one "b" | "a" "b"\ntwo ::= "a" two "b" "b" | "a" "b" "b"',
        ("ab", "abb", "aabb", "aaabbb", "aabbbb"),
    ),
    "dangling else": GrammarCase(
        'start: "i" start | "i" start "e" start | "s"',
        'root ::= "i" root | "i" root "e" root | "s"',
        ("s", "is", "ises", "iises", "iiseses"),
    ),
    "accents": GrammarCase(
        'start: "é" start "è" | "日本"', 'root ::= "é" root "è" | "日本"', ("日本", "é日本è", "éé日本èè")
    ),
    "bounded": GrammarCase(
        'start: pair~2..4\npair: "<" pair? ">"',
        'root ::= pair{2,4}\npair ::= "<" pair? ">"',
        ("<><>", "<<>><><>", "<><><><<<>>>"),
    ),
    "words": GrammarCase(
        'start: WORD (" " WORD)* "."\nWORD: /[a-z]{1,5}/',
        'root ::= word (" " word)* "."\nword ::= [a-z]{1,5}',
        ("a.", "the cat sat.", "abcde fg h."),
    ),
    "numbers": GrammarCase(
        'start: NUMBER | "(" start ("+" | "*") start ")"\nNUMBER: /0|[1-9][0-9]*/',
        'root ::= number | "(" root ("+" | "*") root ")"\nnumber ::= "0" | [1-9] [0-9]*',
        ("0", "(1+23)", "((4*5)+607)"),
    ),
}
