"""%json: JSON values inside a grammar.

    JsonRules    the rules that %json needs

`%json {}` and `%json true` are any value. Other schemas are refused here, and here is where a converter of schemas
would put its rules.
"""

from __future__ import annotations

from automata import expr as ex
from automata.expr import Call, Expr
from constraints.grammars.json import json
from constraints.grammars.lark_reader.document import Item
from constraints.grammars.places import Places

_PREFIX = "%json "


class JsonRules:
    """The rules that %json needs.

    Attributes:
        rules: by names that no rule of the grammar can have.
    """

    def __init__(self, places: Places) -> None:
        self.places = places
        self.rules: dict[str, Expr] = {}

    def call(self, item: Item, rule: str) -> Expr:
        """What %json with a schema stands for."""
        if item.value is not True and item.value != {}:
            raise self.places.error(
                "a JSON Schema inside a grammar is not supported yet: only {}, which is any value", item.position, rule
            )
        grammar = json()
        if not self.rules:
            self.rules = {_PREFIX + name: renamed(expr) for name, expr in grammar.rules.items()}
        return ex.call(_PREFIX + grammar.start)


def renamed(expr: Expr) -> Expr:
    """The expression with the prefix before each rule that it calls."""
    match expr:
        case Call(name):
            return ex.call(_PREFIX + name)
        case ex.Concatenation(parts):
            return ex.concat(*map(renamed, parts))
        case ex.Alternation(parts):
            return ex.alternation(*map(renamed, parts))
        case ex.Repetition(inner, low, high):
            return ex.repeat(renamed(inner), low, high)
    return expr
