"""Hostile grammars: see `hostile_inputs`.

Every input has a text in Lark's notation and one in GBNF; some of the large ones describe only similar languages. A
mistake is one text, which is given as both, and engines that read the other notation refuse it as well.
"""

from __future__ import annotations

from functools import partial

from hostile_input import Hostile, Inputs, just

_MISTAKES = (
    *(
        "",
        "start",
        "start:",
        "start ::=",
        'start: "a',
        "start: (",
        "start: nope",
        'start: "a" ~ 3..2',
        "start: A\nA: B",
    ),
    *(
        "start: A\nA: A",
        'start: A\nA: "a" A | "b"',
        "start: A\nA: //",
        'start: ""',
        "start: /(/",
        "start: /a",
        "%ignore",
    ),
    *(
        "%import nope.NOPE\nstart: NOPE",
        'start: "a"\nstart: "b"',
        'start: "\\ud800"',
        'start: "\\q"',
        'start: "a".."bc"',
    ),
    *(
        'start: "z".."a"',
        'start: "a"~99999999999999999999',
        "root ::= [z-a]",
        "root ::= nope",
        'root ::= "a',
        "root ::= (",
    ),
    *("root ::= [a", 'root ::= "a"{3,2}', 'root ::= "a" ::= "b"', "\x00", 'start: "a"\n\ud800', "%declare A\nstart: A"),
    *("start: A\nA: /a(?=b)/ /c/", "start: A\n%ignore A\nA: /.*/", 'start: "a" -> ', "start: _a{b}\n_a{x}: x"),
)


def add(inputs: Inputs) -> None:
    """Add all hostile grammars to the inputs."""
    for number, text in enumerate(_MISTAKES):
        name = f"grammar, a mistake: {number} {text!r}"
        inputs.add(name.encode(errors="replace").decode(), Hostile("grammar", just(_both(text))))
    _ambiguous(inputs)
    _large(inputs)


def _both(text: str) -> dict[str, str]:
    return {"lark": text, "gbnf": text}


def _rules(rules: dict[str, str]) -> dict[str, str]:
    """Return the same rules in both notations, which differ in the start rule's name and in empty alternatives."""
    lark = "\n".join(f"{name}: {body}" for name, body in rules.items())
    gbnf = "\n".join(f"{'root' if name == 'start' else name} ::= {_renamed(body)}" for name, body in rules.items())
    return {"lark": lark, "gbnf": gbnf}


def _renamed(body: str) -> str:
    words = ["root" if word == "start" else word for word in body.split(" ")]
    return " ".join(words).replace("| |", '| "" |') + (' ""' if words[-1] == "|" or not body else "")


def _one(
    inputs: Inputs, name: str, rules: dict[str, str], valid: tuple[str, ...] = (), invalid: tuple[str, ...] = ()
) -> None:
    inputs.add(f"grammar: {name}", Hostile("grammar", partial(_rules, rules), valid, invalid))


def _ambiguous(inputs: Inputs) -> None:
    for name, body, valid in (
        ("two of itself", 'start start | "a"', ("a", "aa", "aaaaaaaa")),
        ("three of itself, or nothing", 'start start start | "a" |', ("", "a", "aaaa")),
        ("itself or a letter", 'start | "a"', ("a",)),
        ("only itself", "start", ()),
        ("itself for ever", '"a" start', ()),
        ("itself on both sides", 'start "a" start | "b"', ("b", "bab", "babab")),
        ("palindromes", '"a" start "a" | "b" start "b" | "a" | "b" |', ("", "aba", "abba")),
        ("more a than b", '"a" start "b" | "a" start |', ("", "a", "aab")),
        ("no word but its square", '"a" start "a" | "b" start "b" | "c"', ("c", "abcba")),
        ("dangling else", '"i" start | "i" start "e" start | "s"', ("s", "iises")),
        ("fifty stars", " ".join(['"a"*'] * 50), ("", "aaa")),
        ("fifty options", " ".join(['"a"?'] * 50) + ' "b"', ("b", "aab")),
        ("options in a star", '( "a"? "b"? )*', ("", "ab", "ba")),
        ("left, many times", 'start "+" start | start "-" start | start "*" start | "x"', ("x", "x+x*x-x")),
    ):
        _one(inputs, name, {"start": body}, valid, ("?",))
    _one(inputs, "in circles", {"start": "b", "b": "c", "c": 'start | "x"'}, ("x",), ("y",))
    _one(inputs, "left behind nothing", {"start": 'e start "x" | "y"', "e": '"z"?'}, ("y", "zyx"), ("x",))
    _one(inputs, "two counts", {"start": "b | c", "b": '"a" b "b" |', "c": '"a" c "b" "b" |'}, ("ab", "abb"), ("b",))
    for count in (20, 100, 1000):
        rules = {f"r{at}": f"r{at - 1} | r{at - 1}" for at in range(1, count)}
        rules = {"start": f"r{count - 1}", "r0": '"a"', **rules}
        _one(inputs, f"either of twice the same, {count:,} deep", rules, ("a",), ("b",))
        rules = {f"r{at}": f"r{at - 1} r{at - 1}" for at in range(1, count)}
        _one(inputs, f"twice the same, {count:,} deep", {"start": f"r{count - 1}", "r0": '"a"', **rules}, (), ("b",))
        rules = {f"r{at}": f"r{at - 1}?" for at in range(1, count)}
        rules = {"start": f'r{count - 1} "b"', "r0": '"a"?', **rules}
        _one(inputs, f"nothing, {count:,} deep", rules, ("b", "ab"), ("a",))


def _large(inputs: Inputs) -> None:
    for name, text, other in (
        ("a rule 100,000 times", 'start: item~100000\nitem: "(" item? ")"', 'root ::= i{100000}\ni ::= "(" i? ")"'),
        ("a word 100,000 times", 'start: item~100000\nitem: "ab"', 'root ::= i{100000}\ni ::= "ab"'),
        (
            "up to a billion",
            'start: item~1..1000000000\nitem: "(" item? ")"',
            'root ::= i{1,1000000000}\ni ::= "(" i? ")"',
        ),
        (
            "bounds of bounds",
            'start: b~1..100\nb: c~1..100\nc: "(" c? ")"',
            'root ::= b{1,100}\nb ::= c{1,100}\nc ::= "x"',
        ),
        ("a word by a hard pattern", "start: A\nA: /(a|b)*a(a|b){30}/", "root ::= [ab]* [a] [ab]{30}"),
        ("lazy words", 'start: A "x"\nA: /".*?"/', 'root ::= "\\"" [^"]* "\\"x"'),
        ("everything ignored", 'start: "a" "b"\n%ignore /(.|\\n)+/', 'root ::= "a" [^b]* "b"'),
    ):
        source = {"lark": text, "gbnf": other}
        inputs.add(f"grammar: {name}", Hostile("grammar", just(source)))
    for count in (100, 1000, 10_000):
        rules = {"start": f"r{count - 1}", "r0": '"a"'}
        rules |= {f"r{at}": f'"({at}" r{at - 1} ")" | "x"' for at in range(1, count)}
        _one(inputs, f"{count:,} rules", rules, ("x",), ("y",))
        words = " | ".join(f'"word{at * 7919 % 1_000_003}"' for at in range(count))
        _one(inputs, f"{count:,} words", {"start": words}, ("word0",), ("wor",))
        deep = "( " * count + '"a"' + " )" * count
        _one(inputs, f"{count:,} parentheses", {"start": deep}, ("a",), ("b",))
        terminals = "\n".join(f"T{at}: /[a-z]{{{at % 50 + 1}}}[0-9]*x?/" for at in range(count))
        text = "start: (" + " | ".join(f"T{at}" for at in range(count)) + ")+\n" + terminals
        inputs.add(
            f"grammar: {count:,} patterns that overlap",
            Hostile("grammar", just({"lark": text, "gbnf": "root ::= [a-z]+"})),
        )
    inputs.add("grammar: a literal of a million", Hostile("grammar", partial(_rules, {"start": f'"{"ab" * 500_000}"'})))
