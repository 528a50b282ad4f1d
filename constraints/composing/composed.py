"""Composed: parts put together as a network of nested rules.

    without a grammar among them    a network: start rules stand in one start rule, and their rules come after it
                                    (`automata.nested.joining`)
    with one                        a grammar: a rule of the whole text, and the rules of all parts under names of their
                                    own

A network needs nothing to be told apart by looking ahead, and a lazy automaton takes it as it is; so it is the form of
choice. In a grammar, words of a part with a lexer match longest, also where what follows the part could go on from
fewer characters; words that are ignored stand around the words of their own part only.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from automata import expr as ex
from automata.byte_automaton import ByteAutomaton
from automata.elimination import to_expr
from automata.expr import EPSILON, Alternation, Call, Concatenation, Expr, Repetition
from automata.limits import Work
from automata.nested import NestedNetwork, compile_nested
from automata.nested.joining import Joining
from automata.pushdown.automaton import PushdownAutomaton
from automata.pushdown.grammar import Grammar, LexicalRule, Place
from automata.pushdown.naming import calls_and_labels
from constraints.composing.part import Called, Composable, Part, concatenated, part_of
from constraints.grammars.replacing import replaced
from constraints.json_schema.grammar_rules import grammar_rules

_TEXT = "text"


class Composed:
    """Parts put together, none of them a grammar; immutable. `tokenfst.compile` takes it."""

    def __init__(self, part: Part) -> None:
        self._part = part

    def __repr__(self) -> str:
        return f"<Composed of {len(self._part.called)} networks and automata with text>"

    def to_part(self) -> Part:
        """Its expression, and what that calls."""
        return self._part

    def to_network(self) -> NestedNetwork:
        """The rules that read a text."""
        return self._network

    def to_automaton(self, work: Work) -> ByteAutomaton | PushdownAutomaton:
        """The automaton of the texts.

        Raises:
            EmptyLanguage: there is no text.
            LimitExceeded: a limit was passed.
            Cancelled: the compilation was cancelled.
            ValueError: two networks stand at one place, with nothing before them that tells them apart.
        """
        return compile_nested(self._network, work=work)

    @cached_property
    def _network(self) -> NestedNetwork:
        laying = _Laying(self._part.called)
        # Where the text begins nothing may lead back to.
        begin = laying.joining.read(0, EPSILON)
        return laying.joining.network([laying.lay(self._part.expr, begin)])


def composed(part: Part) -> Composed | Grammar:
    """The constraint that a part is: a grammar if one is in it.

    Raises:
        LimitExceeded: a schema next to a grammar is too large to be written as rules.
    """
    return _grammar(part) if any(isinstance(called, Grammar) for called in part.called) else Composed(part)


def sequence(*parts: Composable) -> Composed | Grammar:
    """Constraints one after the other: a text of the first, then one of the second, and so on.

    Args:
        *parts: patterns, expressions (`automata.literal` for plain text), schemas, types, grammars, calls of tools, or
            what was composed of them.

    Returns:
        A constraint, which is a `Grammar` if one of the parts is.

    Raises:
        PatternError: a pattern that cannot be honoured.
        TypeError: a part that cannot be looked into, such as an automaton with a stack.
    """
    return composed(concatenated([part_of(part) for part in parts]))


def _calls(expr: Expr) -> bool:
    return any(isinstance(node, Call) for node, _ in calls_and_labels(expr))


class _Laying:
    """An expression laid out in a network that is being joined."""

    def __init__(self, called: tuple[Called, ...]) -> None:
        self.called = called
        self.joining = Joining()

    def lay(self, expr: Expr, source: int, target: int | None = None) -> int:
        """Lays an expression behind a state; the state where it ends, which is the target if there is one."""
        read = self.joining.read
        match expr:
            case Call(name):
                called = self.called[int(name)]
                assert not isinstance(called, Grammar)
                return read(source, called, target)
            case Concatenation(parts) if _calls(expr):
                for part in parts:
                    source = self.lay(part, source)
                return read(source, EPSILON, target)
            case Alternation(parts) if _calls(expr):
                end = self.joining.state() if target is None else target
                for part in parts:
                    self.lay(part, source, end)
                return end
            case Repetition(inner, low, high) if _calls(expr):
                return self.repeat(inner, low, high, source, target)
        return read(source, expr, target)

    def repeat(self, inner: Expr, low: int, high: int | None, source: int, target: int | None) -> int:
        read = self.joining.read
        for _ in range(low):
            source = self.lay(inner, source)
        if high is None:
            again = read(source, EPSILON)
            self.lay(inner, again, again)
            return read(again, EPSILON, target)
        end = read(source, EPSILON, target)
        for _ in range(high - low):
            source = self.lay(inner, source)
            read(source, EPSILON, end)
        return end


def _grammar(part: Part) -> Grammar:
    """The grammar of a part: its own rule, and those of what it calls, each with a number before its name."""
    rules: dict[str, Expr] = {}
    lexical: dict[str, LexicalRule] = {}
    places: dict[str, Place] = {}
    texts: dict[str, Expr] = {}
    for number, called in enumerate(part.called):
        prefix = f"{number}: "
        if isinstance(called, Grammar):
            blanks = ex.alternation(*[ex.call(prefix + name) for name in called.ignored])
            names = _Names(called, prefix, ex.repeat(blanks, 0))
            texts[str(number)] = ex.concat(names.blanks, replaced(ex.call(called.start), names.renamed))
            rules |= {prefix + name: replaced(expr, names.renamed) for name, expr in called.rules.items()}
            lexical |= {prefix + name: rule for name, rule in called.lexical.items()}
            places |= {prefix + name: place for name, place in called.places.items()}
        elif isinstance(called, NestedNetwork):
            start, more = grammar_rules(called, prefix)
            rules |= more
            texts[str(number)] = ex.call(start)
        else:
            texts[str(number)] = to_expr(called)
    whole = replaced(part.expr, lambda node: texts[node.name] if isinstance(node, Call) else None)
    return Grammar({_TEXT: whole, **rules}, _TEXT, lexical, (), places)


class _Names(NamedTuple):
    """The new names of a grammar's rules, and what may stand between its words."""

    grammar: Grammar
    prefix: str
    blanks: Expr

    def renamed(self, node: Expr) -> Expr | None:
        """What a call becomes: a call by the new name, and behind a word what may stand there."""
        if not isinstance(node, Call):
            return None
        call = ex.call(self.prefix + node.name)
        return ex.concat(call, self.blanks) if node.name in self.grammar.lexical else call
