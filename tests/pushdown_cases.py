"""Small pushdown automata made the plain way, and what they accept, byte after byte, with every stack written out.

Rules are expressions in which `to("rule")` is a call. `naive` compiles each to a byte automaton and follows calls and
returns from every state to every byte, in all ways there are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from automata import Expr, byte_set, compile_expr, concat, literal, parse, repeat
from automata.expressions.extensions import token
from automata.pushdown.automaton import PushdownAutomaton

CALL = "call "
# A configuration: a state, and a stack from the bottom up.
Configuration = tuple[int, tuple[int, ...]]
# Pops, pushes and the target.
Step = tuple[tuple[int, ...], tuple[int, ...], int]


# What one byte pops or pushes at most.
_LONGEST = 12


class Unbounded(Exception):
    """One byte can pop or push any number of symbols."""


def to(rule: str) -> Expr:
    """A call of a rule."""
    return token(CALL + rule)


@dataclass
class _Network:
    """States of all rules, numbered through; the first rule calls the start rule and returns to its own last state."""

    arcs: list[dict[int, int]]
    calls: list[list[tuple[str, int]]]
    labels: list[dict[str, int]]
    final: list[bool]
    rule_of: list[str]
    start: dict[str, int]


def _network(rules: dict[str, Expr], start: str) -> _Network:
    net = _Network([], [], [], [], [], {})
    for name, expr in {"": to(start), **rules}.items():
        automaton = compile_expr(expr)
        base = len(net.arcs)
        net.start[name] = base + automaton.start
        for state in range(automaton.num_states):
            row = automaton.by_byte()[state].tolist()
            labels = zip(automaton.labels, automaton.by_label[state].tolist(), strict=True)
            taken = [(label, base + target) for label, target in labels if target >= 0]
            net.arcs.append({byte: base + target for byte, target in enumerate(row) if target >= 0})
            net.calls.append([(label[len(CALL) :], target) for label, target in taken if label.startswith(CALL)])
            net.labels.append({label: target for label, target in taken if not label.startswith(CALL)})
            net.final.append(bool(automaton.final[state]))
            net.rule_of.append(name)
    return net


class _Closure:
    """All ways from a state to what is read next."""

    def __init__(self, net: _Network) -> None:
        self.net = net
        self.end = len(net.arcs)
        returns = {target for calls in net.calls for _, target in calls}
        # Where a rule returns at once when it is returned to, nothing needs to be pushed, but in the first rule.
        self.symbols = sorted(target for target in returns if not self.at_once(target))
        self.callers: dict[str, set[int]] = {name: set() for name in net.start}
        self.tails: dict[str, set[str]] = {name: set() for name in net.start}
        for state, calls in enumerate(net.calls):
            for rule, target in calls:
                if self.at_once(target):
                    self.tails[net.rule_of[state]].add(rule)
                else:
                    self.callers[rule].add(target)
        changed = True
        while changed:
            changed = False
            for rule, others in self.tails.items():
                for other in others:
                    if not self.callers[rule] <= self.callers[other]:
                        self.callers[other] |= self.callers[rule]
                        changed = True

    def at_once(self, target: int) -> bool:
        net = self.net
        plain = net.final[target] and not (net.arcs[target] or net.calls[target] or net.labels[target])
        return plain and net.rule_of[target] != ""

    def steps(self, state: int) -> dict[object, set[Step]]:
        """By byte, label or None for the end of the text."""
        net, found = self.net, dict[object, set[Step]]()
        todo, seen = list[Step]([((), (), state)]), set[Step]()
        while todo:
            pops, pushes, here = todo.pop()
            if (pops, pushes, here) in seen:
                continue
            seen.add((pops, pushes, here))
            if max(len(pops), len(pushes)) > _LONGEST:
                raise Unbounded
            for byte, target in (*net.arcs[here].items(), *net.labels[here].items()):
                found.setdefault(byte, set()).add((pops, pushes, target))
            for rule, target in net.calls[here]:
                todo.append((pops, pushes if self.at_once(target) else (*pushes, target), net.start[rule]))
            if not net.final[here]:
                continue
            if net.rule_of[here] == "":
                assert not pushes
                found.setdefault(None, set()).add((pops, (), self.end))
            elif pushes:
                todo.append((pops, pushes[:-1], pushes[-1]))
            else:
                todo += [((*pops, target), (), target) for target in self.callers[net.rule_of[here]]]
        return found

    def empty(self) -> set[str]:
        """The rules that match the empty text."""
        net, found, size = self.net, set[str](), -1
        while size < len(found):
            size = len(found)
            for name, start in net.start.items():
                seen, todo = {start}, [start]
                for state in todo:
                    after = {target for rule, target in net.calls[state] if rule in found} - seen
                    seen |= after
                    todo += after
                if any(net.final[state] for state in seen):
                    found.add(name)
        return found

    def headroom(self) -> list[int]:
        """How many symbols the rest of each state's rule needs."""
        net, need, empty = self.net, [10**6] * len(self.net.arcs), self.empty()
        changed = True
        while changed:
            changed = False
            for state in range(len(need)):
                ways = [0] if net.final[state] else []
                ways += [need[target] for target in (*net.arcs[state].values(), *net.labels[state].values())]
                for rule, target in net.calls[state]:
                    pushed = 0 if self.at_once(target) else 1
                    ways.append(max(pushed + need[net.start[rule]], need[target]))
                    # What is pushed and popped before anything is read does not count.
                    ways += [need[target]] if rule in empty else []
                if min(ways) < need[state]:
                    need[state], changed = min(ways), True
        return need


def naive(rules: dict[str, Expr], start: str, max_configurations: int = 1) -> PushdownAutomaton:
    """The pushdown automaton of rules; deterministic if they are."""
    net = _network(rules, start)
    closure = _Closure(net)
    steps = [closure.steps(state) for state in range(len(net.arcs))]
    columns: dict[tuple[tuple[tuple[object, ...], ...], ...], int] = {}
    byte_class = np.zeros(256, np.uint8)
    for byte in range(256):
        key = tuple(tuple(sorted(found.get(byte, ()))) for found in steps)
        byte_class[byte] = columns.setdefault(key, len(columns))
    labels = tuple(sorted({label for row in net.labels for label in row}))
    reads = [int(np.flatnonzero(byte_class == column)[0]) for column in range(len(columns))]
    number = {target: symbol for symbol, target in enumerate(closure.symbols)}
    sequences: dict[tuple[int, ...], int] = {(): 0}
    parent, symbol = [0], [0]

    def sequence(targets: Iterable[int]) -> int:
        found: tuple[int, ...] = ()
        for target in targets:
            longer = (*found, number[target])
            if longer not in sequences:
                parent.append(sequences[found])
                symbol.append(number[target])
                sequences[longer] = len(sequences)
            found = longer
        return sequences[found]

    offsets, table = [0], []
    for found in [*steps, {}]:
        for column in (*reads, None, *labels):
            table += [(sequence(pops), sequence(pushes), target) for pops, pushes, target in found.get(column, ())]
            offsets.append(len(table))
    ints = np.array(table, np.int32).reshape(-1, 3)
    need = closure.headroom()
    under = np.array(
        [[lower in closure.callers[net.rule_of[upper]] for lower in closure.symbols] for upper in closure.symbols],
        np.bool_,
    )
    return PushdownAutomaton(
        start=net.start[""],
        byte_class=byte_class,
        labels=labels,
        num_symbols=len(number),
        step_offsets=np.array(offsets, np.int32),
        step_pops=ints[:, 0].copy(),
        step_pushes=ints[:, 1].copy(),
        step_target=ints[:, 2].copy(),
        parent=np.array(parent, np.int32),
        symbol=np.array(symbol, np.int32),
        headroom=np.array([*need, 0], np.int32),
        symbol_headroom=np.array([need[target] for target in closure.symbols], np.int32),
        may_lie_under=under,
        max_configurations=max_configurations,
    )


class Oracle:
    """A pushdown automaton over bytes, step by step, with whole stacks."""

    def __init__(self, automaton: PushdownAutomaton) -> None:
        self.automaton = automaton
        self.sequences: list[tuple[int, ...]] = []
        for place, (before, symbol) in enumerate(zip(automaton.parent, automaton.symbol, strict=True)):
            self.sequences.append((*self.sequences[before], int(symbol)) if place else ())
        self.start: frozenset[Configuration] = frozenset([(automaton.start, ())])

    def column(self, configurations: Iterable[Configuration], column: int) -> frozenset[Configuration]:
        """The configurations after one column."""
        found, own = set(), self.automaton
        for state, stack in configurations:
            entry = state * own.num_columns + column
            for step in range(own.step_offsets[entry], own.step_offsets[entry + 1]):
                pops = self.sequences[own.step_pops[step]]
                kept = len(stack) - len(pops)
                if kept >= 0 and stack[kept:] == pops[::-1]:
                    found.add((int(own.step_target[step]), stack[:kept] + self.sequences[own.step_pushes[step]]))
        return frozenset(found)

    def read(self, configurations: frozenset[Configuration], text: bytes) -> frozenset[Configuration]:
        """The configurations after a text."""
        for byte in text:
            configurations = self.column(configurations, int(self.automaton.byte_class[byte]))
        return configurations

    def may_end(self, configurations: Iterable[Configuration]) -> bool:
        """Whether the text may end."""
        return bool(self.column(configurations, self.automaton.num_columns - 1 - len(self.automaton.labels)))

    def accepts(self, text: bytes) -> bool:
        """Whether the text is in the language."""
        return self.may_end(self.read(self.start, text))


# Grammars


def nested() -> PushdownAutomaton:
    """a^n b^n, and nothing for n = 0."""
    return naive({"s": concat("a", repeat(to("s"), 0, 1), "b")}, "s")


def brackets() -> PushdownAutomaton:
    """Balanced brackets of two kinds, in a row and in each other."""
    return naive({"s": (("(" + to("s") + ")") | ("[" + to("s") + "]")).star()}, "s")


def json() -> PushdownAutomaton:
    """JSON (RFC 8259)."""
    ws = parse(r"[ \t\n\r]*")
    string = parse(r'"([^"\\\x00-\x1f]|\\(["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
    number = parse(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
    value = to("value")
    pair = string + ws + ":" + ws + value
    rest = ("," + ws + pair).star()
    body = "{" + ws + repeat(pair + rest, 0, 1) + "}"
    array = "[" + ws + repeat(value + ("," + ws + value).star(), 0, 1) + "]"
    return naive(
        {"text": ws + value, "value": (body | array | string | number | parse("true|false|null")) + ws}, "text"
    )


def sums() -> PushdownAutomaton:
    """Sums, products, calls and brackets."""
    expr, factor = to("expr"), to("factor")
    product = factor + (byte_set(b"*/") + factor).star()
    name = parse("[a-z]+")
    arguments = "(" + repeat(expr + ("," + expr).star(), 0, 1) + ")"
    return naive(
        {
            "expr": product + (byte_set(b"+-") + product).star(),
            "factor": (literal("-") + factor) | parse("[0-9]+") | (name + repeat(arguments, 0, 1)) | ("(" + expr + ")"),
        },
        "expr",
    )


def ambiguous(max_configurations: int = 8) -> PushdownAutomaton:
    """s = s s | a | (s): every text in many ways, flattened but for the brackets."""
    return naive(
        {"s": to("t") + repeat(to("s"), 0, 1), "t": literal("a") | ("a" + to("t")) | ("(" + to("s") + ")")},
        "s",
        max_configurations,
    )
