"""%json: JSON values inside a grammar.

    JsonRules    the rules that %json needs

`%json {}` and `%json true` are any value, with whitespace wherever the RFC has it. Any other schema is read as by
`constraints.json_schema`, with its default whitespace, and becomes rules of the grammar.
"""

from __future__ import annotations

import json as text_of_json

from automata import expr as ex
from automata.errors import LimitExceeded, SchemaError
from automata.expr import Call, Expr
from constraints.grammars.json import json
from constraints.grammars.lark_reader.document import Item
from constraints.grammars.places import Places
from constraints.grammars.replacing import replaced
from constraints.json_schema.grammar_rules import grammar_rules
from constraints.json_schema.schema import json_schema

_PREFIX = "%json "


class JsonRules:
    """The rules that %json needs.

    Attributes:
        rules: by names that no rule of the grammar can have.
    """

    def __init__(self, places: Places) -> None:
        self.places = places
        self.rules: dict[str, Expr] = {}
        # The first rule of each schema, by its text: the order of its properties counts.
        self.starts: dict[str, str] = {}

    def call(self, item: Item, rule: str) -> Expr:
        """What %json with a schema stands for.

        Raises:
            GrammarError: the schema cannot be honoured; the message has the JSON pointer of the place in it.
        """
        key = "true" if item.value is True or item.value == {} else text_of_json.dumps(item.value)
        if key not in self.starts:
            self.starts[key] = self.any_value() if key == "true" else self.values(item, rule)
        return ex.call(self.starts[key])

    def any_value(self) -> str:
        """Adds the rules of any value."""
        grammar = json()
        self.rules |= {_PREFIX + name: replaced(expr, _renamed) for name, expr in grammar.rules.items()}
        return _PREFIX + grammar.start

    def values(self, item: Item, rule: str) -> str:
        """Adds the rules of a schema."""
        try:
            start, rules = grammar_rules(json_schema(item.value).to_network(), f"{_PREFIX}{len(self.starts)}: ")
        except (SchemaError, LimitExceeded) as error:
            if isinstance(error, LimitExceeded) and error.limit == "seconds":
                raise
            raise self.places.error(f"the schema of %json: {error}", item.position, rule) from None
        self.rules |= rules
        return start


def _renamed(node: Expr) -> Expr | None:
    """What a call is with the prefix before the rule."""
    return ex.call(_PREFIX + node.name) if isinstance(node, Call) else None
