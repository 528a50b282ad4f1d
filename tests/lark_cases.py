"""Grammars in Lark's syntax, and texts for them that come from Lark's own reading of the grammar."""

from __future__ import annotations

import random

from lark import Lark
from lark.exceptions import LarkError

_EXPRESSIONS = r"""
    ?start: sum
    ?sum: product | sum "+" product -> add | sum "-" product -> sub
    ?product: atom | product "*" atom -> mul | product "/" atom -> div
    ?atom: NUMBER -> number | "-" atom -> neg | NAME -> var | "(" sum ")"
    %import common.CNAME -> NAME
    %import common.NUMBER
    %import common.WS_INLINE
    %ignore WS_INLINE
"""
_JSON = r"""
    ?start: value
    ?value: object | array | string
          | SIGNED_NUMBER -> number
          | "true" -> true | "false" -> false | "null" -> null
    array  : "[" [value ("," value)*] "]"
    object : "{" [pair ("," pair)*] "}"
    pair   : string ":" value
    string : ESCAPED_STRING
    %import common.ESCAPED_STRING
    %import common.SIGNED_NUMBER
    %import common.WS
    %ignore WS
"""
_STATEMENTS = r"""
    start: statement*
    statement: "return" expr? ";" | NAME "=" expr ";" | "if" "(" expr ")" block ["else" block]
             | "while" expr "do" statement* "end"
    block: "{" statement* "}"
    expr: expr OP term | term
    OP: "==" | "<=" | "<" | "+" | "-"
    term: NAME | INT | "not" term | "(" expr ")"
    %import common.CNAME -> NAME
    %import common (INT, WS)
    %ignore WS
"""
_SQL = r"""
    start: "select"i columns "from"i NAME ["where"i cond] [order]
    columns: "*" | _list{column, ","}
    column: NAME ["as"i NAME]
    order: "order"i "by"i _list{NAME, ","} [("asc"i | "desc"i)]
    cond: cond "and"i test | cond "or"i test | test
    test: NAME CMP value | "(" cond ")" | "not"i test
    CMP: "=" | "<" | ">" | "<>" | "<=" | ">="
    value: INT | STRING | NAME
    STRING: /'[^']*'/
    NAME: /[a-z_][a-z0-9_]*/i
    _list{x, sep}: x (sep x)*
    %import common.INT
    %import common.WS
    %import common.SQL_COMMENT
    %ignore WS
    %ignore SQL_COMMENT
"""
_LISTS = r"""
    start: "(" _sep{item, ","} ")"
    item: "[" _sep{inner, ";"} "]" | WORD~2..3 | pair{INT, "-"}
    inner: pair{WORD, ":"}
    pair{x, s}: x s x
    _sep{x, s}: [x (s x)* s?]
    %import common.WORD
    %import common.INT
    %ignore " "
"""
_COMMENTS = r"""
    start: (NAME ":" NAME ";")+
    %import common.CNAME -> NAME
    %import common (C_COMMENT, CPP_COMMENT, WS)
    %ignore C_COMMENT
    %ignore CPP_COMMENT
    %ignore WS
"""
_SETTINGS = r"""
    start: _NL? section+
    section: "[" NAME "]" _NL item+
    item: NAME "=" VALUE? _NL
    NAME: /\w+/
    VALUE: /[^\n;]+/
    _NL: /(\r?\n)+/
    %ignore /;[^\n]*/
"""
_LAZY = r"""
    start: (STRING | COMMENT | TAG | NAME)+
    STRING: /".*?"/
    COMMENT: "/*" /(.|\n)*?/ "*/"
    TAG: /<[a-z]+?>/
    NAME: /[a-z]+/
    %ignore " "
"""
_NUMBERS = r"""
    start: number ("," number)*
    number: HEX | FLOAT | INT | DATE | "x" INT
    HEX: "0x" HEXDIGIT+
    DATE.1: INT4 ("-" INT2)~2
    INT2: DIGIT~2
    INT4: DIGIT~4
    %import common (DIGIT, HEXDIGIT, INT, FLOAT)
"""
_MARKUP = r"""
    start: element*
    element: "<a" attribute* ">" element* "</a>" | "<b/>" | TEXT
    attribute: NAME "=" ESCAPED_STRING
    TEXT: /[^<>"]+/
    NAME: ("a".."z" | "_")+
    %import common.ESCAPED_STRING
"""
_PRIORITIES = r"""
    start: (word | number)+
    word: KEYWORD "!" | NAME "?" | "let" NAME ";"
    number: SHORT "." | LONG ","
    KEYWORD.2: "if" | "do"
    NAME: /[a-z]+/
    SHORT.-1: /[0-9]+/
    LONG: /[0-9]{3}/
    %ignore " "
"""
_CALLS = r"""
    start: (call ";")*
    call: NAME "(" [args] ")" | call "." NAME | call "[" arg "]" | NAME
    args: arg ("," arg)* ","?
    arg: call | /[0-9]+/ | "lambda" NAME ":" arg | NAME "=" arg
    %import common.CNAME -> NAME
    %ignore /[ \t]+/
"""
# Words and what follows them are characters that begin with the same bytes.
_QUOTES = r"""
    start: item ("‚" item)*
    item: "«" TEXT "»" | "‹" item "›" | WORD "¿"?
    TEXT: /[^«»]+/
    WORD: /[a-zA-Zà-ÿ]+(‐[à-ÿ]+)?/
    %ignore " "
"""
_SIGNS = r"""
    start: (statement "¶")*
    statement: "si" expr "fiñ" | NAME "≔" expr | "¿" expr
    expr: expr OP term | term
    OP: "≤" | "≥" | "≠" | "⊕"
    term: NAME | NUMBER | "¬" term | "⟨" expr "⟩"
    NAME: /[a-zñéè≈]+/
    NUMBER: /[0-9½¼]+/
    %ignore " "
"""
GRAMMARS = {
    "expressions": _EXPRESSIONS,
    "json": _JSON,
    "statements": _STATEMENTS,
    "sql": _SQL,
    "lists": _LISTS,
    "comments": _COMMENTS,
    "settings": _SETTINGS,
    "lazy": _LAZY,
    "numbers": _NUMBERS,
    "markup": _MARKUP,
    "priorities": _PRIORITIES,
    "calls": _CALLS,
    "quotes": _QUOTES,
    "signs": _SIGNS,
}

# Words of the terminals that are not plain strings.
_WORDS = {
    "NUMBER": ["1", "20", "3.5", "1e5", ".5"],
    "SIGNED_NUMBER": ["1", "-2", "+3.5e-7"],
    "INT": ["0", "12", "765"],
    "FLOAT": ["1.5", "1e9", ".5e-3"],
    "HEX": ["0x1F", "0x0"],
    "DATE": ["2024-01-31"],
    "NAME": ["x", "returnx", "ab", "ifx", "selecta", "endx", "le", "letx", "do", "lambdax"],
    "WORD": ["ab", "x", "Foo"],
    "ESCAPED_STRING": ['"a"', '"\\""', '""', '"a b"'],
    "OP": ["==", "<", "-"],
    "CMP": ["<>", "<", "="],
    "VALUE": ["1", "a b ", "=x"],
    "_NL": ["\n", "\r\n\n"],
    "COMMENT": ["/**/", "/* * / */"],
    "TAG": ["<ab>"],
    "TEXT": ["text", "a b=c "],
    "KEYWORD": ["if", "do"],
    "SHORT": ["1", "1234"],
    "LONG": ["123"],
    "STRING": ["'a'", "''", "'it is'", '"a"', '""'],
}


class Texts:
    """Random texts of a grammar, and texts that are nearly that."""

    def __init__(self, lark: Lark, seed: int) -> None:
        self.random = random.Random(seed)
        self.rules: dict[str, list[list[tuple[str, bool]]]] = {}
        for rule in lark.rules:
            symbols = [(symbol.name, symbol.is_term) for symbol in rule.expansion]
            self.rules.setdefault(rule.origin.name, []).append(symbols)
        self.patterns = {terminal.name: terminal.pattern for terminal in lark.terminals}
        self.depth = dict.fromkeys(self.rules, 999)
        for _ in self.rules:
            for name, choices in self.rules.items():
                self.depth[name] = min(self.depth[name], 1 + min(map(self.depth_of, choices)))

    def depth_of(self, symbols: list[tuple[str, bool]]) -> int:
        return max((self.depth[name] for name, is_terminal in symbols if not is_terminal), default=0)

    def words(self, size: int) -> list[str]:
        """The words of a random derivation that hastens to its end after some steps."""
        words: list[str] = []
        stack = [("start", False)]
        steps = 0
        while stack:
            name, is_terminal = stack.pop()
            steps += 1
            if is_terminal:
                pattern = self.patterns[name]
                words.append(pattern.value if pattern.type == "str" else self.random.choice(_WORDS.get(name, ["7"])))
                continue
            choices = self.rules[name]
            if steps > size:
                least = min(map(self.depth_of, choices))
                choices = [choice for choice in choices if self.depth_of(choice) == least]
            stack += reversed(self.random.choice(choices))
        return words

    def text(self) -> str:
        separators = self.random.choice([[" "], [""], ["", " "]])
        words = self.words(self.random.choice([5, 20, 40]))
        return "".join(word + self.random.choice(separators) for word in words)[:200]

    def mutated(self, text: str) -> str:
        for _ in range(self.random.randint(1, 3)):
            at = self.random.randrange(len(text) + 1)
            inserted = self.random.choice([self.random.choice(text or "x"), self.random.choice("x1 ;(,\"'-/*\n"), ""])
            text = text[:at] + inserted + text[at + self.random.randrange(3) :]
        return text


def lark_accepts(lark: Lark, text: str) -> bool:
    try:
        lark.parse(text)
    except LarkError:
        return False
    return True
