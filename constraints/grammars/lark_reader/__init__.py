"""Grammars in Lark's syntax, with the extensions that llguidance documents.

    read_lark    text -> Grammar

In the order of the steps:

    scanner      text -> symbols
    bodies       symbols after a colon -> a body, in postfix order; attributes: what may stand after a name, in brackets
    statements   symbols -> a document: definitions by name, imports, ignored terminals
    literals     strings, regular expressions, ranges -> terminals; widths: how long their words are
    tokens       special tokens; inline_json: %json; common: the terminals of Lark's library
    terminals    bodies of terminals -> lexical rules; naming: the names that Lark gives to literals
    rules        bodies of rules and templates -> expressions that call rules and words by name

`docs/grammars.md` describes the dialect, and how it differs from Lark and from llguidance.

Rejected: Lark's own reader (it is recursive, takes minutes for 100,000 rules, and turns terminals into text for
Python's `re`); a tree instead of postfix order (every walk over it would need a stack of its own).
"""

from __future__ import annotations

from automata.errors import GrammarError
from automata.pushdown.grammar import Grammar
from constraints.grammars.lark_reader.rules import Rules
from constraints.grammars.lark_reader.statements import read_document
from constraints.grammars.lark_reader.terminals import Terminals
from constraints.grammars.line_index import LineIndex

__all__ = ["read_lark"]


def read_lark(text: str, start: str | None = None) -> Grammar:
    """Return the grammar that a text in Lark's syntax defines.

    Args:
        text: rules, terminals and directives.
        start: the rule that whole texts match; by default, `start`.

    Raises:
        GrammarError: the text is not a grammar in this syntax, or has a feature that cannot be honoured (the error has
            line and column); or it has no rule named `start`.
    """
    lines = LineIndex(text)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise lines.error("half of a surrogate pair is not a character", error.start, None) from None
    document = read_document(text, lines)
    terminals = Terminals(document, lines)
    rules = Rules(document, terminals, lines)
    first = "start" if start is None else start
    if first not in rules.rules:
        names = ", ".join(list(rules.rules)[:10]) + (", ..." if len(rules.rules) > 10 else "")
        raise GrammarError(f"no rule is named {first!r}, where texts would begin; rules are {names or 'missing'}")
    ignored = tuple(dict.fromkeys(filter(None, map(terminals.ignored, document.ignored))))
    if ignored:
        rules.allow_after_tokens(ignored)
    return Grammar(rules.rules, first, terminals.in_order(ignored), ignored, {**rules.found, **terminals.found})
