"""%json: JSON values inside a grammar.

    JsonRules    the rules that %json needs

`%json {}` and `%json true` are any value, as in `constraints.json()`. Any other schema is read as by
`constraints.json_schema`. Both have the default whitespace, and become rules of the grammar.
"""

from __future__ import annotations

import json as text_of_json

from automata import expressions as ex
from automata.errors import LimitExceeded, SchemaError
from automata.expressions import Call, Expr
from constraints.grammars.json import json
from constraints.grammars.lark_reader.document import Item
from constraints.grammars.line_index import LineIndex
from constraints.json_schema.schema import json_schema
from constraints.rewriting.replacing import replaced
from constraints.rewriting.rules import grammar_rules

_PREFIX = "%json "


class JsonRules:
    """The rules that %json needs.

    Attributes:
        rules: the rules, by names that no rule of the grammar can have.
    """

    def __init__(self, lines: LineIndex) -> None:
        self.lines = lines
        self.rules: dict[str, Expr] = {}
        # The first rule of each schema, by its text: the order of its properties counts.
        self.starts: dict[str, str] = {}

    def call(self, item: Item, rule: str) -> Expr:
        """Return the call of a rule that stands for %json with a schema.

        Raises:
            GrammarError: the schema cannot be honoured; the message has the JSON pointer of the place in it.
        """
        key = "true" if item.value is True or item.value == {} else text_of_json.dumps(item.value)
        if key not in self.starts:
            self.starts[key] = self.any_value() if key == "true" else self.values(item, rule)
        return ex.call(self.starts[key])

    def any_value(self) -> str:
        """Add the rules of any value; return the name of the first one."""
        grammar = json()
        self.rules |= {_PREFIX + name: replaced(expr, _renamed) for name, expr in grammar.rules.items()}
        return _PREFIX + grammar.start

    def values(self, item: Item, rule: str) -> str:
        """Add the rules of a schema; return the name of the first one."""
        try:
            grammar = json_schema(item.value).to_visibly_pushdown()
            start, rules = grammar_rules(grammar, f"{_PREFIX}{len(self.starts)}: ")
        except (SchemaError, LimitExceeded) as error:
            if isinstance(error, LimitExceeded) and error.limit == "seconds":
                raise
            raise self.lines.error(f"the schema of %json: {error}", item.position, rule) from None
        self.rules |= rules
        return start


def _renamed(node: Expr) -> Expr | None:
    """Return a call with the prefix before the name of its rule."""
    return ex.call(_PREFIX + node.name) if isinstance(node, Call) else None
