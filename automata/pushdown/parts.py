"""Parts: the rules of a grammar as non-deterministic automata, before they are joined.

    Part        byte arcs, epsilon arcs, calls and marks between the states of one rule; one start, one end
    Rules       the parts of a grammar: its rules, its words, what may stand between words, and the whole text

What is done to rules from here on, up to the network, is done to parts: solving left recursion, inlining, turning
recursion into loops. Each is a matter of a few epsilon arcs, whatever the rule's expression looks like. A part is as
large as the expression that it was laid out from; determinization comes last, once, for all rules together.

A word T is a rule too: a text of T that is not empty, the mark "end of T", and then ignored words. So rules and words
are inlined by the same means, and a large word in many places is a rule that is called.

Rejected: rewriting expressions. A call at the left end of `(a? b)* c` has no place in the expression that it could be
taken from, and each rewriting would be two, one for each of the ways to write the same rule.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from automata.assertions import holds_assertion
from automata.compile import Compiler
from automata.expr import Call, Expr
from automata.intervals import FIRST_LABEL
from automata.limits import Work
from automata.openfst import IntArray
from automata.pushdown.flattening import flattened
from automata.pushdown.grammar import Grammar
from automata.thompson import Fragment, Layout

START, END = 0, 1
# What no name of a user's label may begin with: in layouts, calls are labels with this before the rule's name.
RESERVED = "\0rule:"


@dataclass(slots=True)
class Part:
    """The automaton of one rule. No arc leads into its start, state 0, and none leaves its end, state 1, until left
    recursion is solved.

    Attributes:
        num_states: how many states there are.
        arcs: `[A, 4]`, source, lowest and highest byte, and target.
        epsilon: `[E, 2]`, source and target.
        calls: source, the rule called, and target.
        marks: source, what stands there, and target: the end of word t is t, and label l is T + l.
    """

    num_states: int
    arcs: IntArray
    epsilon: IntArray
    calls: list[tuple[int, int, int]]
    marks: list[tuple[int, int, int]]

    @property
    def size(self) -> int:
        """How many arcs there are, of any kind."""
        return len(self.arcs) + len(self.epsilon) + len(self.calls) + len(self.marks)


@dataclass(slots=True)
class Rules:
    """The parts of a grammar; its rules come first, then its words, then what stands between words, then the text.

    Attributes:
        names: what each part is called in errors.
        parts: the parts.
        text: the number of the part that whole texts match.
        words: the lexical rules by priority, highest first.
        num_lazy: how many of them, the first ones, are lazy.
        labels: the user's labels, ascending.
        num_rules: how many of the parts are rules of the grammar, or its lexical rules.
    """

    names: list[str]
    parts: list[Part]
    text: int
    words: tuple[str, ...]
    num_lazy: int
    labels: tuple[str, ...]
    num_rules: int


class _RuleLayout(Layout):
    """A layout in which calls are labels with reserved names."""

    def call(self, expr: Call, start: int, end: int) -> None:
        self.fragment.label(RESERVED + expr.name, start, end)


class _RuleCompiler(Compiler):
    """Compiles what is copied into layouts of rules."""

    layout = _RuleLayout


def lay_rules(grammar: Grammar, work: Work) -> Rules:
    """The parts of a grammar whose names are in order (`analysis.check_names`).

    Raises:
        LimitExceeded: a rule is larger than allowed, or the time is up.
        Cancelled: the compilation was cancelled.
    """
    return _Laying(grammar, work).rules()


class _Laying:
    """The work of laying out all rules."""

    def __init__(self, grammar: Grammar, work: Work) -> None:
        self.grammar = grammar
        self.compiler = _RuleCompiler(work)
        self.work = work
        self.names = [*grammar.rules, *grammar.lexical]
        self.number = {name: place for place, name in enumerate(self.names)}
        self.words = _by_priority(grammar)
        # Symbols of marks: words first, then labels as they are met, which are put in order at the end.
        self.labels: dict[str, int] = {}
        self.between = len(self.names)

    def rules(self) -> Rules:
        grammar = self.grammar
        parts = [self.part(flattened(name, expr)) for name, expr in grammar.rules.items()]
        place = {name: number for number, name in enumerate(self.words)}
        inner = [self.part(rule.expr) for rule in grammar.lexical.values()]
        after = self.between if grammar.ignored else -1
        parts += [_word(part, place[name], after) for part, name in zip(inner, grammar.lexical, strict=True)]
        lexical = list(grammar.lexical)
        ignored = [_word(inner[lexical.index(name)], place[name], -1) for name in dict.fromkeys(grammar.ignored)]
        parts += [_loop(len(parts) + 2, len(ignored)), _in_a_row([self.between, self.number[grammar.start]]), *ignored]
        num_lazy = sum(rule.lazy for rule in grammar.lexical.values())
        names = [*self.names, "(ignored)", grammar.start, *dict.fromkeys(grammar.ignored)]
        return Rules(names, parts, self.between + 1, self.words, num_lazy, self._in_order(parts), len(self.names))

    def _in_order(self, parts: list[Part]) -> tuple[str, ...]:
        """The labels, ascending, and their marks renumbered."""
        labels = tuple(sorted(self.labels))
        if labels:
            num_words = len(self.words)
            moved = {self.labels[name]: num_words + number for number, name in enumerate(labels)}
            for part in parts:
                part.marks = [(source, moved.get(mark, mark), target) for source, mark, target in part.marks]
        return labels

    def part(self, expr: Expr) -> Part:
        """The part of an expression."""
        if holds_assertion(expr):
            fragment = Fragment()
            fragment.copy_of(self.compiler.compile(expr), START, END)
        else:
            fragment = _RuleLayout(self.compiler.part, self.work).lay(expr)
        ranges, epsilon = fragment.tables()
        calls: list[tuple[int, int, int]] = []
        marks: list[tuple[int, int, int]] = []
        if fragment.labels:
            names = sorted(fragment.labels)
            labelled = ranges[:, 1] >= FIRST_LABEL
            for source, symbol, _, target in ranges[labelled].tolist():
                name = names[symbol - FIRST_LABEL]
                if name.startswith(RESERVED):
                    calls.append((source, self.number[name[len(RESERVED) :]], target))
                else:
                    mark = self.labels.setdefault(name, len(self.words) + len(self.labels))
                    marks.append((source, mark, target))
            ranges = ranges[~labelled]
        return Part(fragment.num_states, ranges, epsilon, calls, marks)


def _by_priority(grammar: Grammar) -> tuple[str, ...]:
    """The lexical rules, lazy ones first, then highest priority first; equal ones in the order of definition."""
    ranks = sorted({(rule.lazy, rule.priority) for rule in grammar.lexical.values()}, reverse=True)
    rank = {order: place for place, order in enumerate(ranks)}
    words = {name: rank[rule.lazy, rule.priority] for name, rule in grammar.lexical.items()}
    return tuple(sorted(words, key=words.__getitem__))


def _word(part: Part, word: int, after: int) -> Part:
    """A word: a text of the part but the empty one, the mark of its end, and then the part `after`, if it is not -1."""
    end = part.num_states
    arcs, epsilon = part.arcs.copy(), part.epsilon.copy()
    arcs[arcs[:, 3] == END, 3] = end
    epsilon[epsilon[:, 1] == END, 1] = end
    marks = [(source, mark, end if target == END else target) for source, mark, target in part.marks]
    inner = (
        fresh_start(Part(end + 2, arcs, epsilon, [], marks))
        if _skips(part)
        else Part(end + 2, arcs, epsilon, [], marks)
    )
    inner.marks.append((end, word, END if after < 0 else end + 1))
    if after >= 0:
        inner.calls.append((end + 1, after, END))
    return inner


def _skips(part: Part) -> bool:
    """Whether a part matches the empty text by itself."""
    return END in closure(part, [START])


def _loop(first: int, count: int) -> Part:
    """Any number of texts of the parts from number `first` on."""
    epsilon = np.array([[START, 2], [2, END]], np.int32)
    return Part(3, np.empty((0, 4), np.int32), epsilon, [(2, first + number, 2) for number in range(count)], [])


def _in_a_row(rules: list[int]) -> Part:
    """Texts of some parts, one after the other."""
    states = [START, *range(2, len(rules) + 1), END]
    calls = [(states[place], rule, states[place + 1]) for place, rule in enumerate(rules)]
    return Part(len(rules) + 1, np.empty((0, 4), np.int32), np.empty((0, 2), np.int32), calls, [])


def closure(part: Part, states: list[int]) -> set[int]:
    """The states that epsilon arcs lead to from some states, and those states."""
    after: dict[int, list[int]] = {}
    for source, target in part.epsilon.tolist():
        after.setdefault(source, []).append(target)
    seen, waiting = set(states), list(states)
    while waiting:
        for target in after.get(waiting.pop(), ()):
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return seen


def fresh_start(part: Part) -> Part:
    """The same texts but the empty one: the start takes the first steps of all states that lie behind epsilon arcs."""
    first = closure(part, [START])
    among = np.isin(part.arcs[:, 0], list(first))
    begun = part.arcs[among]
    begun[:, 0] = START
    others = part.arcs[part.arcs[:, 0] != START]
    return Part(
        part.num_states,
        np.concatenate([begun, others]),
        part.epsilon[part.epsilon[:, 0] != START],
        _begun(part.calls, first),
        _begun(part.marks, first),
    )


def _begun(arcs: list[tuple[int, int, int]], first: set[int]) -> list[tuple[int, int, int]]:
    begun = [(START, symbol, target) for source, symbol, target in arcs if source in first]
    return begun + [arc for arc in arcs if arc[0] != START]
