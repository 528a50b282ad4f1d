"""Check that the names in a grammar are defined, and that calls are where they may be.

check_names(grammar)        raises an error otherwise
error(grammar, ...)         an error in a rule, with the rule's place if the grammar knows it
"""

from __future__ import annotations

from collections.abc import Iterable

from automata.errors import GrammarError, wrong_type
from automata.expressions import (
    Call,
    Complement,
    Difference,
    Expr,
    Intersection,
    Label,
    Literal,
    Lookahead,
    Lookbehind,
    Transduction,
)
from automata.limits import Work, current_work
from automata.pushdown.grammar import Grammar, LexicalRule

# In layouts, a call is a label: this prefix and the rule's name. No label of the user may begin with it.
RESERVED = "\0rule:"

# Operations on whole texts, and assertions.
_WITHOUT_CALLS = Intersection | Difference | Complement | Transduction | Lookahead | Lookbehind


def error(grammar: Grammar, reason: str, rule: str | None = None) -> GrammarError:
    """Return an error in a rule, with its place."""
    place = grammar.places.get(rule) if rule is not None else None
    if place is None:
        return GrammarError(reason, rule=rule)
    return GrammarError(reason, rule=rule, line=place.line, column=place.column)


def check_names(grammar: Grammar, work: Work | None = None) -> None:
    """Raise unless every name has one meaning.

    Raises:
        TypeError: a rule is not an expression, a lexical rule is not a `LexicalRule`, or a priority is not a tuple of
            integers.
        GrammarError: the start, an ignored word, a composing rule or a called rule is not defined; a name is that of a
            rule and of a lexical rule; a call stands in a lexical rule, in an operand of an intersection, difference,
            complement or transduction, or in an assertion; a label's name is reserved.
        LimitExceeded, Cancelled: the time is up, or the compilation was cancelled.
    """
    work = current_work(work)
    if grammar.start not in grammar.rules and grammar.start not in grammar.lexical:
        raise GrammarError(f"the start rule {grammar.start!r} is not defined")
    for name, word in grammar.lexical.items():
        _check_word(name, word)
        if name in grammar.rules:
            raise error(grammar, f"{name!r} is both a rule and a lexical rule", name)
    for name in grammar.ignored:
        if name not in grammar.lexical:
            raise GrammarError(f"{name!r} is ignored between words and is not a lexical rule")
    for name in grammar.composing:
        if name not in grammar.rules:
            raise GrammarError(f"{name!r} composes grammars and is not a rule")
    for name, rule in [*grammar.rules.items(), *((name, word.expr) for name, word in grammar.lexical.items())]:
        if not isinstance(rule, Expr):
            raise wrong_type(f"an expression as rule {name!r}", rule)
    for name, expr in grammar.rules.items():
        _check_calls(grammar, name, expr, work)
    for name, lexical in grammar.lexical.items():
        for part, _ in work.watched(calls_and_labels(lexical.expr)):
            if isinstance(part, Call):
                raise error(grammar, f"a lexical rule cannot call another rule, {part.name!r}", name)
            _check_label(grammar, name, part)


def _check_word(name: str, word: LexicalRule) -> None:
    if not isinstance(word, LexicalRule):
        raise wrong_type(f"a LexicalRule as lexical rule {name!r}", word)
    if not isinstance(word.priority, tuple) or not all(isinstance(part, int) for part in word.priority):
        raise TypeError(f"expected a tuple of integers as the priority of lexical rule {name!r}, not {word.priority!r}")


def _check_calls(grammar: Grammar, name: str, expr: Expr, work: Work) -> None:
    for part, compared in work.watched(calls_and_labels(expr)):
        if not isinstance(part, Call):
            _check_label(grammar, name, part)
        elif part.name not in grammar.rules and part.name not in grammar.lexical:
            raise error(grammar, f"rule {part.name!r} is not defined", name)
        elif compared is not None:
            raise error(grammar, f"the call of rule {part.name!r} stands within {_KINDS[compared]}", name)


_KINDS: dict[type[Expr], str] = {
    Intersection: "an intersection",
    Difference: "a difference",
    Complement: "a complement",
    Transduction: "what a transducer reads",
    Lookahead: "a look-ahead",
    Lookbehind: "a look-behind",
}


def _check_label(grammar: Grammar, name: str, label: Expr) -> None:
    if isinstance(label, Label) and label.name.startswith(RESERVED):
        raise error(grammar, f"the label {label.name!r} has a reserved name", name)


def calls_and_labels(expr: Expr) -> Iterable[tuple[Expr, type[Expr] | None]]:
    """Yield the calls and labels of an expression, each with the kind of node around it in which it may not stand, or
    None."""
    seen: set[tuple[int, type[Expr] | None]] = set()
    waiting: list[tuple[Expr, type[Expr] | None]] = [(expr, None)]
    while waiting:
        node, compared = waiting.pop()
        if isinstance(node, Call | Label):
            yield node, compared
        elif not isinstance(node, Literal) and (operands := node.operands()) and (id(node), compared) not in seen:
            seen.add((id(node), compared))
            if compared is None and isinstance(node, _WITHOUT_CALLS):
                compared = type(node)
            waiting += [(part, compared) for part in operands]
