"""GBNF and EBNF as they are read."""

from __future__ import annotations

from itertools import product

import pytest

from automata import (
    Expr,
    GrammarError,
    call,
    literal,
)
from constraints import grammar
from constraints.grammars import Syntax
from constraints.grammars.dialects import EBNF, GBNF

DIALECTS = {"gbnf": GBNF, "ebnf": EBNF}


BOTH = pytest.mark.parametrize("syntax", list(DIALECTS))


def body(text: str, syntax: Syntax = "auto") -> Expr:
    """The expression of a rule's right side, in which `x` and `y` may be called."""
    return grammar(f'root ::= {text}\nx ::= "x"\ny ::= "y"\n', syntax=syntax).rules["root"]


def reading(text: str, syntax: Syntax = "auto") -> dict[str, Expr] | GrammarError:
    """The rules, or what is wrong."""
    try:
        return dict(grammar(text, syntax=syntax).rules)
    except GrammarError as error:
        return error


A, B, X, Y = literal("a"), literal("b"), call("x"), call("y")


def all_texts(alphabet: str, length: int) -> list[str]:
    return ["".join(chars) for n in range(length + 1) for chars in product(alphabet, repeat=n)]


ARITHMETIC = r"""
root  ::= (expr "=" ws term "\n")+
expr  ::= term ([-+*/] term)*
term  ::= ident | num | "(" ws expr ")" ws
ident ::= [a-z] [a-z0-9_]* ws
num   ::= [0-9]+ ws
ws    ::= [ \t\n]*
"""


CHESS = r"""
# moves, numbered
root ::= (
    # the first move
    "1. " move " " move "\n"

    # and all others
    ([1-9] [0-9]? ". " move " " move "\n")+
)
move ::= (pawn | piece | castle) [+#]?
piece ::= [NBKQR] [a-h]? [1-8]? "x"? [a-h] [1-8]
pawn ::= ([a-h] "x")? [a-h] [1-8] ("=" [NBKQR])?
castle ::= "O-O" "-O"?
"""


JSON = r"""
root   ::= ws value
value  ::= (object | array | string | number | ("true" | "false" | "null")) ws
object ::= "{" ws (string ws ":" ws value ("," ws string ws ":" ws value)*)? "}"
array  ::= "[" ws (value ("," ws value)*)? "]"
string ::= "\"" ([^"\\\x00-\x1F] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4}))* "\""
number ::= "-"? ("0" | [1-9] [0-9]*) ("." [0-9]+)? ([eE] [-+]? [0-9]+)?
ws     ::= [ \t\n\r]*
"""


LIST = 'root ::= item+\nitem ::= "- " [^\\r\\n\\x0b\\x0c\\x85\\u2028\\u2029]+ "\\n" # one line each\n'


KANA = 'root ::= word ("、" word)* "。"?\nword ::= kana | kanji\nkana ::= [ぁ-ゟァ-ヿ]+\nkanji ::= [一-龯]{1,3}\n'
