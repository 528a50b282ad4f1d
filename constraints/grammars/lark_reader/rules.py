"""Rules and templates: from bodies to expressions that call rules and words by name.

    Rules    the rules of a document, evaluated in order

A template makes one rule for each different list of arguments, named after the arguments, when it is first used with
them. The body is evaluated later, so templates may use themselves and one another. An argument is a rule, a word, a
token, or the name of another template, which the body may then use.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from automata import expressions as ex
from automata.errors import GrammarError
from automata.expressions import Call, Expr, Label
from automata.expressions.extensions import token
from automata.pushdown.grammar import Place
from automata.pushdown.naming import calls_and_labels
from constraints.grammars.lark_reader.attributes import REFUSED
from constraints.grammars.lark_reader.document import Body, Definition, Item, LarkDocument
from constraints.grammars.lark_reader.inline_json import JsonRules
from constraints.grammars.lark_reader.terminals import Terminals
from constraints.grammars.lark_reader.tokens import token_name
from constraints.grammars.line_index import LineIndex
from constraints.rewriting.replacing import replaced

# A name that no rule in a text has.
_IGNORED = "(ignored)"
MAX_NESTING = 100
MAX_INSTANCES = 100_000
_LONG_NAME = 200
# A name that was probably meant as a set of characters.
_RANGE = re.compile(r"[a-z]-[a-z]")


class Rules:
    """The rules of a document.

    Attributes:
        rules: their expressions, by name.
        found: the places where they are defined, by name.
    """

    def __init__(self, document: LarkDocument, terminals: Terminals, lines: LineIndex) -> None:
        self.document = document
        self.terminals = terminals
        self.lines = lines
        self.json = JsonRules(lines)
        self.rules: dict[str, Expr] = {}
        self.found: dict[str, Place] = {}
        self.waiting: list[tuple[str, Definition, tuple[Expr, ...]]] = []  # rules to evaluate, with arguments
        self.instances: dict[tuple[str, tuple[Expr, ...]], str] = {}
        self.nesting: dict[str, int] = {}  # how deeply templates are nested in the arguments of an instance
        rules = [definition for definition in document.definitions.values() if not definition.is_terminal]
        self.templates = {definition.name for definition in rules if definition.parameters}
        self.check_templates()
        self.waiting += [(rule.name, rule, ()) for rule in reversed(rules) if not rule.parameters]
        while self.waiting:
            self.evaluate_next()
        self.rules.update(self.json.rules)

    def error(self, reason: str, item: Item, rule: str) -> GrammarError:
        return self.lines.error(reason, item.position, rule)

    def check_templates(self) -> None:
        """Check the bodies of templates, which are not evaluated if they are never used."""
        for template in self.templates:
            definition = self.document.definitions[template]
            for name in definition.parameters:
                if name in self.document.definitions:
                    reason = f"the parameter {name} has the name of a rule"
                    raise self.lines.error(reason, definition.position, template)
            for item in definition.body:
                if item.operation in ("name", "argument") and item.value not in definition.parameters:
                    self.check_defined(item, template)

    def evaluate_next(self) -> None:
        name, definition, arguments = self.waiting.pop()
        for attribute, value in definition.attributes.items():
            if attribute in REFUSED:
                raise self.error(REFUSED[attribute], value, name)
        if "lazy" in definition.attributes or "suffix" in definition.attributes:
            self.rules[name] = self.terminals.lazy(definition)
        else:
            bound = dict(zip(definition.parameters, arguments, strict=True))
            self.rules[name] = self.evaluate(definition.body, name, bound)
        self.found[name] = self.lines.place(definition.position)

    def evaluate(self, body: Body, rule: str, bound: Mapping[str, Expr]) -> Expr:
        """Return the expression that a body describes, with the parameters bound to arguments."""
        stack: list[Expr] = []
        for item in body:
            match item.operation:
                case "sequence":
                    first = len(stack) - item.value
                    stack[first:] = [ex.concat(*stack[first:])]
                case "either":
                    first = len(stack) - item.value
                    stack[first:] = [ex.alternation(*stack[first:])]
                case "repeat":
                    stack[-1] = ex.repeat(stack[-1], item.value.low, item.value.high)
                case "template":
                    name, number = item.value
                    first = len(stack) - number
                    stack[first:] = [self.instance(name, tuple(stack[first:]), item, rule, bound)]
                case _:
                    stack.append(self.value(item, rule, bound))
        return stack[0]

    def value(self, item: Item, rule: str, bound: Mapping[str, Expr]) -> Expr:
        """Return the expression of a value."""
        match item.operation:
            case "name":
                value = bound[item.value] if item.value in bound else self.named(item, rule)
                if isinstance(value, Call) and value.name in self.templates:
                    raise self.error(f"the template {value.name} is used without arguments", item, rule)
                return value
            case "argument":
                return bound[item.value] if item.value in bound else self.named(item, rule)
            case "token":
                return token(token_name(item, rule, self.lines))
            case "json":
                return self.json.call(item, rule)
            case _:
                return self.terminals.literal(item, rule)

    def named(self, item: Item, rule: str) -> Expr:
        """Return the expression of a name that is not a parameter."""
        self.check_defined(item, rule)
        return ex.call(item.value) if item.value.islower() else self.terminals.named(item)

    def check_defined(self, item: Item, rule: str) -> None:
        document, name = self.document, item.value
        if not (name in document.definitions or name in document.imported or name in document.declared):
            if name.islower():
                hint = f"; a set of characters is written /[{name}]/" if _RANGE.fullmatch(name) else ""
                raise self.error(f"the rule {name} is not defined{hint}", item, rule)
            raise self.terminals.undefined(item, rule)

    # Ignored words

    def allow_after_tokens(self, ignored: Sequence[str]) -> None:
        """Allow ignored words after each token and each %json value. (They are allowed after every word, and so after
        an ignored word that is called.)"""
        values = set(self.json.starts.values())

        def followed(node: Expr) -> Expr | None:
            is_one = isinstance(node, Label) or (isinstance(node, Call) and node.name in values)
            return ex.concat(node, ex.call(_IGNORED)) if is_one else None

        changed = [name for name in self.found if any(followed(node) for node, _ in calls_and_labels(self.rules[name]))]
        self.rules |= {name: replaced(self.rules[name], followed) for name in changed}
        if changed:
            self.rules[_IGNORED] = ex.alternation(*map(ex.call, ignored)).optional()

    # Templates

    def instance(
        self, name: str, arguments: tuple[Expr, ...], item: Item, rule: str, bound: Mapping[str, Expr]
    ) -> Expr:
        """Return a call of a template's rule for these arguments."""
        parameter = bound.get(name)
        if parameter is not None:
            name = parameter.name if isinstance(parameter, Call) else ""
        definition = self.document.definitions.get(name)
        if definition is None or not definition.parameters:
            raise self.error(f"no template is named {name or item.value[0]}", item, rule)
        if len(definition.parameters) != len(arguments):
            raise self.error(f"{name} takes {len(definition.parameters)} arguments, not {len(arguments)}", item, rule)
        key = name, arguments
        if key not in self.instances:
            self.instances[key] = self.new_instance(definition, arguments, item, rule)
        return ex.call(self.instances[key])

    def new_instance(self, definition: Definition, arguments: tuple[Expr, ...], item: Item, rule: str) -> str:
        named = [argument for argument in arguments if isinstance(argument, Call)]
        depth = 1 + max((self.nesting.get(argument.name, 0) for argument in named), default=0)
        if depth > MAX_NESTING:
            raise self.error(
                f"the arguments of {definition.name} nest templates more than {MAX_NESTING} deep", item, rule
            )
        if len(self.instances) >= MAX_INSTANCES:
            raise self.error(f"templates are used with more than {MAX_INSTANCES:,} lists of arguments", item, rule)
        name = f"{definition.name}{{{', '.join(map(_argument_name, arguments))}}}"
        if len(name) > _LONG_NAME or name in self.nesting:
            name = f"{definition.name}{{#{len(self.instances)}}}"
        self.nesting[name] = depth
        self.waiting.append((name, definition, arguments))
        return name


def _argument_name(argument: Expr) -> str:
    """Return an argument as it is written in the name of a template's instance."""
    return argument.name if isinstance(argument, Call | Label) else str(argument)
