"""The language of a part: a visibly pushdown grammar, or a general grammar if the part calls one.

    part_rules               part -> Rules: start rules are inlined into one start rule, and the rules that they call
                             follow
    part_grammar             part -> Grammar: one rule for the whole text, and the rules of all called grammars, with
                             new names

A visibly pushdown grammar is preferred, because a lazy automaton runs on it directly and needs no look-ahead to tell
its rules apart. In a general grammar, each part has a lexer of its own (`Grammar.composing`), and its ignored words may
appear only around its own words. So the texts of the whole are those of the parts, in a row.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from automata import expressions as ex
from automata.algebra.elimination import to_expr
from automata.expressions import EPSILON, Alternation, Call, Concatenation, Expr, Repetition
from automata.pushdown.grammar import Ambiguity, Grammar, LexicalRule, Place
from automata.pushdown.naming import calls_and_labels
from automata.visibly_pushdown.grammar import VisiblyPushdownGrammar
from constraints.composing.part import Called, Part
from constraints.composing.rules import Rules, RulesBuilder
from constraints.rewriting.replacing import replaced
from constraints.rewriting.rules import grammar_rules
from tokenfst.unique_items.language import UniqueArrays, needs_memory

_TEXT = "text"


def part_rules(part: Part) -> Rules:
    """Return the rules of a part that calls no general grammar.

    Raises:
        UnsupportedSchema: the part has both arrays whose items must differ and named tokens.
    """
    builder = _PartBuilder(part.called)
    # The state where the text begins has no incoming arcs.
    begin = builder.joining.read(0, EPSILON)
    return builder.joining.rules([builder.add(part.expr, begin)])


def calls_grammar(part: Part) -> bool:
    """Return whether a part calls a general grammar."""
    return any(isinstance(called, Grammar) for called in part.called)


def part_grammar(part: Part, *, parallel: bool = False) -> Grammar:
    """Return the grammar of a part: its own rule, and the rules of what it calls, with a number before their names.

    The grammar is "parallel" if a called grammar is, and has the greatest `max_configurations` of the called grammars.

    Args:
        parallel: whether the grammar is "parallel" in any case.

    Raises:
        LimitExceeded: a visibly pushdown grammar is too large to be written as rules.
        UnsupportedSchema: an array's items must differ, so they have to be remembered.
    """
    rules: dict[str, Expr] = {}
    lexical: dict[str, LexicalRule] = {}
    places: dict[str, Place] = {}
    texts: dict[str, Expr] = {}
    composing: list[str] = []
    for number, called in enumerate(part.called):
        prefix = f"{number}: "
        if isinstance(called, Grammar):
            blanks = ex.alternation(*[ex.call(prefix + name) for name in called.ignored])
            names = _Names(called, prefix, ex.repeat(blanks, 0))
            whole_part = f"grammar {number + 1}"
            texts[str(number)] = ex.call(whole_part)
            rules[whole_part] = ex.concat(names.blanks, replaced(ex.call(called.start), names.renamed))
            rules |= {prefix + name: replaced(expr, names.renamed) for name, expr in called.rules.items()}
            lexical |= {prefix + name: rule for name, rule in called.lexical.items()}
            places |= {prefix + name: place for name, place in called.places.items()}
            composing += [prefix + name for name in called.composing]
        elif isinstance(called, UniqueArrays):
            raise needs_memory()
        elif isinstance(called, VisiblyPushdownGrammar):
            start, more = grammar_rules(called, prefix)
            rules |= more
            texts[str(number)] = ex.call(start)
        else:
            texts[str(number)] = to_expr(called)
    whole = replaced(part.expr, lambda node: texts[node.name] if isinstance(node, Call) else None)
    grammars = [called for called in part.called if isinstance(called, Grammar)]
    is_parallel = parallel or any(grammar.ambiguity == "parallel" for grammar in grammars)
    ambiguity: Ambiguity = "parallel" if is_parallel else "error"
    found = Grammar({_TEXT: whole, **rules}, _TEXT, lexical, (), places, ambiguity)
    most = max((grammar.max_configurations for grammar in grammars), default=found.max_configurations)
    return replace(found, max_configurations=most, composing=(_TEXT, *composing))


def _calls(expr: Expr) -> bool:
    return any(isinstance(node, Call) for node, _ in calls_and_labels(expr))


class _PartBuilder:
    """Adds the states of an expression to the start rule of a visibly pushdown grammar."""

    def __init__(self, called: tuple[Called, ...]) -> None:
        self.called = called
        self.joining = RulesBuilder()

    def add(self, expr: Expr, source: int, target: int | None = None) -> int:
        """Add an expression that begins in a state; return the state where it ends, the target if one is given."""
        read = self.joining.read
        match expr:
            case Call(name):
                called = self.called[int(name)]
                assert not isinstance(called, Grammar)
                return read(source, called, target)
            case Concatenation(parts) if _calls(expr):
                for part in parts:
                    source = self.add(part, source)
                return read(source, EPSILON, target)
            case Alternation(parts) if _calls(expr):
                end = self.joining.state() if target is None else target
                for part in parts:
                    self.add(part, source, end)
                return end
            case Repetition(inner, low, high) if _calls(expr):
                return self.repeat(inner, low, high, source, target)
        return read(source, expr, target)

    def repeat(self, inner: Expr, low: int, high: int | None, source: int, target: int | None) -> int:
        read = self.joining.read
        for _ in range(low):
            source = self.add(inner, source)
        if high is None:
            again = read(source, EPSILON)
            self.add(inner, again, again)
            return read(again, EPSILON, target)
        end = read(source, EPSILON, target)
        for _ in range(high - low):
            source = self.add(inner, source)
            read(source, EPSILON, end)
        return end


class _Names(NamedTuple):
    """The new names of a grammar's rules, and the ignored words that may follow a word."""

    grammar: Grammar
    prefix: str
    blanks: Expr

    def renamed(self, node: Expr) -> Expr | None:
        """Return a call by its new name, with the ignored words after it if it calls a word."""
        if not isinstance(node, Call):
            return None
        call = ex.call(self.prefix + node.name)
        return ex.concat(call, self.blanks) if node.name in self.grammar.lexical else call
