"""The rules of a grammar laid out as NFAs: all expressions in one layout, which is then divided into rules.

Grammars have many small rules, and for most of them a separate layout would cost more than the rule itself.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from automata.arrays import IntArray
from automata.byte_automaton import ByteAutomaton
from automata.compile.compiler import Compiler
from automata.compile.nfa import FIRST_LABEL, AssertionMet, ThompsonConstruction
from automata.expressions import Call, Expr
from automata.limits import Work
from automata.pushdown.flattening import flattened
from automata.pushdown.grammar import Grammar
from automata.pushdown.naming import RESERVED, calls_and_labels, error
from automata.pushdown.parts import END, START, RuleNfa, Rules, in_a_row, loop_of, word_of


def lay_rules(grammar: Grammar, work: Work) -> Rules:
    """Lay out the rules of a grammar that `naming.check_names` has passed.

    Each rule is a text of its own: assertions in it see the rule's text and nothing around it.

    Raises:
        GrammarError: an assertion stands in one rule with a call.
        LimitExceeded: the rules are larger than allowed, or the time is up.
        Cancelled: the compilation was cancelled.
    """
    words = words_by_priority(grammar)
    builder = _RulesBuilder(grammar, work)
    for name, expr in grammar.rules.items():
        builder.lay(name, flattened(name, expr))
    for name, rule in grammar.lexical.items():
        builder.lay(name, rule.expr)
    parts, labels = builder.parts(len(words))
    names = [*grammar.rules, *grammar.lexical]
    number = {name: place for place, name in enumerate(names)}
    place = {name: word for word, name in enumerate(words)}
    # After those with names: the text between words, the whole text, and the words that may stand between others.
    between, first_ignored = len(names), len(names) + 2
    ignored = [word_of(parts[number[name]], place[name], -1, work) for name in dict.fromkeys(grammar.ignored)]
    for name in grammar.lexical:
        parts[number[name]] = word_of(parts[number[name]], place[name], between if ignored else -1, work)
    parts += [loop_of(first_ignored, len(ignored)), in_a_row([between, number[grammar.start]]), *ignored]
    all_names = [*names, "(ignored)", grammar.start, *dict.fromkeys(grammar.ignored)]
    num_lazy = sum(rule.lazy for rule in grammar.lexical.values())
    composing = frozenset([number[name] for name in grammar.composing])
    if grammar.start in grammar.composing:
        composing |= {between + 1}
    return Rules(all_names, parts, between + 1, words, num_lazy, labels, len(names), composing)


def words_by_priority(grammar: Grammar) -> tuple[str, ...]:
    """Return the lexical rules, lazy ones first, then highest priority first; equal ones in the order of definition."""
    ranks = sorted({(rule.lazy, rule.priority) for rule in grammar.lexical.values()}, reverse=True)
    rank = {order: place for place, order in enumerate(ranks)}
    words = {name: rank[rule.lazy, rule.priority] for name, rule in grammar.lexical.items()}
    return tuple(sorted(words, key=words.__getitem__))


class _RuleConstruction(ThompsonConstruction):
    """Thompson's construction in which calls are labels with reserved names."""

    def call(self, expr: Call, start: int, end: int) -> None:
        self.fragment.label(RESERVED + expr.name, start, end)


class _RuleCompiler(Compiler):
    """Compiles what is copied into the layout of rules."""

    layout = _RuleConstruction


class _RulesBuilder:
    """All rules in one layout."""

    def __init__(self, grammar: Grammar, work: Work) -> None:
        self.grammar = grammar
        self.compiler = _RuleCompiler(work)
        self.layout = _RuleConstruction(self.compiler.part, work)
        self.layout.fragment.num_states = 0
        # Where the states of each rule begin.
        self.first: list[int] = []

    def lay(self, name: str, expr: Expr) -> None:
        """Lay one more rule: its first two states are its start and its end."""
        fragment = self.layout.fragment
        start = fragment.num_states
        self.first.append(start)
        fragment.num_states += 2
        size = len(fragment.arcs), len(fragment.epsilon), len(fragment.copied_arcs)
        try:
            self.layout.append(expr, start + START, start + END)
        except AssertionMet:
            self.layout.tasks.clear()
            del fragment.arcs[size[0] :], fragment.epsilon[size[1] :]
            del fragment.copied_arcs[size[2] :], fragment.copied_epsilon[size[2] :]
            fragment.copy_of(self.resolved(name, expr), start + START, start + END)

    def resolved(self, name: str, expr: Expr) -> ByteAutomaton:
        """Return the automaton of a rule with assertions."""
        for part, _ in calls_and_labels(expr):
            if isinstance(part, Call):
                raise error(self.grammar, f"an assertion and the call of rule {part.name!r} stand in one rule", name)
        return self.compiler.compile(expr)

    def parts(self, num_words: int) -> tuple[list[RuleNfa], tuple[str, ...]]:
        """Return the NFA of each rule, and the labels."""
        fragment = self.layout.fragment
        arcs, epsilon = fragment.tables()
        symbol = arcs[:, 1] - FIRST_LABEL
        calls, marks, labels = self.symbols(arcs[symbol >= 0][:, [0, 1, 3]], sorted(fragment.labels), num_words)
        num_states = np.diff([*self.first, fragment.num_states]).tolist()
        tables = [self.cut(rows) for rows in (arcs[symbol < 0], epsilon, calls, marks)]
        return [RuleNfa(*part) for part in zip(num_states, *tables, strict=True)], labels

    def symbols(self, arcs: IntArray, names: list[str], num_words: int) -> tuple[IntArray, IntArray, tuple[str, ...]]:
        """Return the calls and marks among arcs over labels with some names, and the user's labels."""
        used = set((arcs[:, 1] - FIRST_LABEL).tolist())
        labels = [name for place, name in enumerate(names) if place in used and not name.startswith(RESERVED)]
        number = {RESERVED + name: place for place, name in enumerate((*self.grammar.rules, *self.grammar.lexical))}
        num_rules = len(number)
        number |= {name: num_rules + num_words + place for place, name in enumerate(labels)}
        meant = np.array([0] * FIRST_LABEL + [number.get(name, 0) for name in names], np.int32)
        arcs[:, 1] = meant[arcs[:, 1]]
        is_call = arcs[:, 1] < num_rules
        return arcs[is_call], arcs[~is_call] - np.array([0, num_rules, 0], np.int32), tuple(labels)

    def cut(self, arcs: IntArray) -> list[IntArray]:
        """Return the rows of each rule, with states numbered from its own first one."""
        first = np.array(self.first, np.int32)
        rule = np.searchsorted(first, arcs[:, 0], side="right") - 1
        if (rule[1:] < rule[:-1]).any():
            order = np.argsort(rule, kind="stable")
            arcs, rule = arcs[order], rule[order]
        arcs[:, [0, -1]] -= first[rule, None]
        bounds = np.searchsorted(rule, np.arange(len(first) + 1)).tolist()
        return [arcs[begin:end] for begin, end in pairwise(bounds)]
