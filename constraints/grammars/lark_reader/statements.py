"""Definitions and directives: from a text in Lark's syntax to a document.

    read_document    text -> LarkDocument

    text         (definition | directive)*          each on a line of its own
    definition   ("?" | "!")* name ("{" name ("," name)* "}")? ("." priority)? attributes? ":" body
    attributes   "[" (name ("=" value)? ",")* (name ("=" value)?)? "]"
    directive    "%ignore" body
               | "%import" "common" "." name ("->" name)?  |  "%import" "common" "(" name ("," name)* ")"
               | "%override" definition  |  "%extend" definition
               | "%declare" name+  |  "%llguidance" JSON

As in Lark, imports take effect before everything else, wherever they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from constraints.grammars.lark_reader.attributes import ATTRIBUTES
from constraints.grammars.lark_reader.bodies import BodyReader
from constraints.grammars.lark_reader.common import COMMON
from constraints.grammars.lark_reader.document import Body, Definition, Item, LarkDocument
from constraints.grammars.lark_reader.scanner import LarkSymbol, scan_lark
from constraints.grammars.line_index import LineIndex

# Options of llguidance, each with the values that do not change which texts this reader allows.
_OPTIONS = {"no_forcing": (False, True), "allow_initial_skip": (True,), "allow_invalid_utf8": (False,)}


def read_document(text: str, lines: LineIndex) -> LarkDocument:
    """Read the definitions and directives of a text.

    Raises:
        GrammarError: the text is not in Lark's syntax, or defines a name twice.
    """
    return _StatementReader(scan_lark(text, lines), lines).read()


class _StatementReader(BodyReader):
    """One text being read."""

    def __init__(self, symbols: list[LarkSymbol], lines: LineIndex) -> None:
        super().__init__(symbols, lines)
        self.document = LarkDocument()
        self.directives: dict[str, Callable[[LarkSymbol], None]] = {
            "%ignore": self.read_ignore,
            "%import": self.read_import,
            "%override": self.read_override,
            "%extend": self.read_extend,
            "%declare": self.read_declare,
            "%llguidance": self.read_options,
        }

    def read(self) -> LarkDocument:
        self.read_imports()
        while self.kind != "end":
            self.rule = None
            if self.accept("line_end"):
                continue
            if self.kind == "directive":
                self.read_directive_line(self.next())
            else:
                self.define(self.read_definition())
        for definition in self.document.definitions.values():
            if definition.extensions:
                definition.body = _extended(definition)
        return self.document

    # Definitions

    def read_definition(self) -> Definition:
        while self.kind in ("?", "!"):
            self.next()
        symbol = self.symbols[self.index]
        if symbol.kind not in ("rule", "terminal"):
            raise self.unexpected("a rule, a terminal or a directive")
        self.next()
        self.rule, self.is_terminal = symbol.text, symbol.kind == "terminal"
        parameters = self.read_parameters()
        priority = 0
        if self.accept("."):
            priority = int(self.read_integer())
        attributes = self.read_attributes()
        self.expect(":", ":")
        body = self.read_body()
        return Definition(symbol.text, symbol.position, self.is_terminal, parameters, priority, attributes, body)

    def read_integer(self) -> str:
        number = self.expect("number", "a number, the priority")
        if not number.text.lstrip("+-").isdecimal() or len(number.text) > 10:
            raise self.error("a priority is a whole number of at most nine digits", number.position)
        return number.text

    def read_parameters(self) -> tuple[str, ...]:
        """Read the names in braces after a template's name."""
        if not self.accept("{"):
            return ()
        if self.is_terminal:
            raise self.error("a terminal has no parameters", self.symbols[self.index].position)
        names = [self.expect("rule", "a parameter in small letters").text]
        while self.accept(","):
            symbol = self.expect("rule", "a parameter in small letters")
            if symbol.text in names:
                raise self.error(f"the parameter {symbol.text} occurs twice", symbol.position)
            names.append(symbol.text)
        self.expect("}", ", or }")
        return tuple(names)

    def read_attributes(self) -> dict[str, Item]:
        """Read the attributes in brackets after a name (an extension of llguidance)."""
        attributes: dict[str, Item] = {}
        if not self.accept("["):
            return attributes
        while self.kind != "]":
            symbol = self.expect("rule", "the name of an attribute or ]")
            if symbol.text not in ATTRIBUTES:
                names = ", ".join(ATTRIBUTES)
                raise self.error(f"no attribute is named {symbol.text}; there are {names}", symbol.position)
            if symbol.text in attributes:
                raise self.error(f"the attribute {symbol.text} occurs twice", symbol.position)
            attributes[symbol.text] = self.read_attribute(symbol)
            if not self.accept(","):
                break
        self.expect("]", ", or ]")
        return attributes

    def read_attribute(self, symbol: LarkSymbol) -> Item:
        """Read an attribute and its value, as an item whose operation is the kind of the value."""
        if symbol.text == "lazy" or (symbol.text == "capture" and self.kind != "="):
            return Item("", None, symbol.position)
        self.expect("=", "=")
        value = self.next()
        if value.kind not in ATTRIBUTES[symbol.text]:
            self.index -= 1
            raise self.unexpected(f"a value for {symbol.text}: {' or '.join(ATTRIBUTES[symbol.text])}")
        operation = "name" if value.kind == "terminal" else value.kind
        return Item(operation, value.text, value.position)

    def define(self, definition: Definition) -> None:
        name = definition.name
        document = self.document
        if name in document.definitions or name in document.imported or name in document.declared:
            what = "terminal" if definition.is_terminal else "rule"
            raise self.error(f"the {what} {name} is defined more than once", definition.position)
        document.definitions[name] = definition

    # Directives

    def read_directive_line(self, symbol: LarkSymbol) -> None:
        if symbol.text not in self.directives:
            known = ", ".join(self.directives)
            raise self.error(f"no directive is named {symbol.text}; there are {known}", symbol.position)
        self.directives[symbol.text](symbol)

    def end_line(self) -> None:
        self.expect("line_end", "the end of the line")

    def read_ignore(self, symbol: LarkSymbol) -> None:
        self.is_terminal = True
        body = self.read_body()
        if body[-1].operation == "sequence" and not body[-1].value:
            raise self.error("%ignore needs a terminal", symbol.position)
        self.document.ignored.append(body)

    def read_override(self, symbol: LarkSymbol) -> None:
        definition = self.read_definition()
        known = self.document.definitions.pop(definition.name, None)
        if known is None and self.document.imported.pop(definition.name, None) is None:
            raise self.error(f"{definition.name} cannot be overridden, as it is not defined before", symbol.position)
        self.define(definition)

    def read_extend(self, symbol: LarkSymbol) -> None:
        definition = self.read_definition()
        known = self.document.definitions.get(definition.name)
        if definition.name in self.document.imported:
            known = _imported(definition, self.document.imported.pop(definition.name))
        if known is None:
            raise self.error(f"{definition.name} cannot be extended, as it is not defined before", symbol.position)
        if known.parameters != definition.parameters:
            raise self.error(f"{definition.name} has other parameters where it is defined", symbol.position)
        if known.attributes or definition.attributes:
            raise self.error(f"{definition.name} has attributes and cannot be extended", symbol.position)
        known.extensions.append(definition.body)
        self.document.definitions[known.name] = known

    def read_declare(self, symbol: LarkSymbol) -> None:
        while self.kind != "line_end":
            name = self.expect("terminal", "the name of a token in capitals")
            if name.text in self.document.definitions or name.text in self.document.imported:
                raise self.error(f"the terminal {name.text} is defined more than once", name.position)
            self.document.declared[name.text] = name.position
        if self.symbols[self.index - 1] is symbol:
            raise self.unexpected("the name of a token in capitals")
        self.end_line()

    def read_options(self, symbol: LarkSymbol) -> None:
        value: Any = symbol.value
        if not isinstance(value, dict):
            raise self.error("the options of %llguidance are a JSON object", symbol.position)
        for name, setting in value.items():
            if not any(setting is allowed for allowed in _OPTIONS.get(name, ())):
                raise self.error(f"the option {name!r} of %llguidance is not supported as it is set", symbol.position)
        self.end_line()

    # Imports

    def read_imports(self) -> None:
        """Read all imports, and remove them from the symbols."""
        kept: list[LarkSymbol] = []
        while self.kind != "end":
            symbol = self.next()
            if symbol.text == "%import" and symbol.kind == "directive" and (not kept or kept[-1].kind == "line_end"):
                self.import_names()
            else:
                kept.append(symbol)
        self.symbols, self.index = [*kept, self.symbols[-1]], 0

    def import_names(self) -> None:
        if self.accept("."):
            raise self.error("other files cannot be imported", self.symbols[self.index - 1].position)
        library = self.next()
        if library.text != "common":
            raise self.error(f"only Lark's common terminals can be imported, not {library.text}", library.position)
        if self.accept("("):
            self.import_name(self.next())
            while self.accept(","):
                self.import_name(self.next())
            self.expect(")", ", or )")
        else:
            self.expect(".", ". or (")
            self.import_name(self.next())
        self.end_line()

    def import_name(self, symbol: LarkSymbol) -> None:
        if symbol.text not in COMMON:
            names = ", ".join(COMMON)
            raise self.error(f"{symbol.text} is not one of Lark's common terminals, which are {names}", symbol.position)
        alias = symbol
        if self.accept("->"):
            alias = self.expect("terminal", "a name in capitals")
        if self.document.imported.setdefault(alias.text, symbol.text) != symbol.text:
            raise self.error(f"the terminal {alias.text} is defined more than once", alias.position)

    def read_import(self, symbol: LarkSymbol) -> None:
        raise self.error("%import stands at the beginning of its line", symbol.position)


def _extended(definition: Definition) -> Body:
    """Return the alternatives of a definition and those that extend it, the last ones first, as in Lark."""
    own, number, last = definition.body, 1, definition.body[-1]
    if last.operation == "either":
        own, number = own[:-1], last.value
    added = [item for body in reversed(definition.extensions) for item in body]
    return [*added, *own, Item("either", number + len(definition.extensions), definition.position)]


def _imported(definition: Definition, common: str) -> Definition:
    """Return a common terminal as a definition that can be extended."""
    body = [Item("common", common, definition.position)]
    return Definition(definition.name, definition.position, True, (), definition.priority, {}, body)
