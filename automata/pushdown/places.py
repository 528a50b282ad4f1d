"""Places: a network prepared for the construction of steps.

    column    a byte class, the end of the text, or a label, in this order; sets of columns are the bits of an integer,
              so that most questions about all columns are one operation
    symbol    what the stack holds: the state that a call returns to
    closure   of a state: the places that can be reached from it without reading anything (by calls, and by returns
              from calls that were made on the way), and whether the rule can end there, so that its caller goes on

A tail call pushes nothing: where the state that the call returns to is an end of its rule and nothing else, the rule
that is called ends for its caller as well.

Whether the text may end must show in the state and the symbols that a step looks at, because a step cannot see that
the stack is empty. If the rules that stand at the bottom of the stack stand nowhere else, it does. Otherwise the start
rule is called from a place of its own: this call pushes a symbol that is always the lowest one, and the end of the
text pops it.
"""

from __future__ import annotations

from collections.abc import Iterable
import numpy as np

from automata.arrays import BoolArray, IntArray
from automata.limits import Work
from automata.pushdown.network import Network

# What a visit of a place takes, in steps of the budget.
_VISIT_STEPS = 200

# Symbols from the bottom up.
Stack = tuple[int, ...]


# A place reached without reading: symbols pushed on the way, the state, and the columns that it reads.
Leaf = tuple[Stack, int, int]
# What a state reaches without reading, and whether the rule at hand can end there. There is one for each state, and
# plain tuples are soon of no concern to the garbage collector.
Closure = tuple[tuple[Leaf, ...], bool]


class Places:
    """A network's states, with one more for the end of the text (`end_state`) and, where the start rule is called from
    a place of its own, two for that.

    Attributes:
        network: the network.
        start: the state where texts begin.
        end_column, num_columns: C and C + 1 + L.
        end_state: the state after the end of the text.
        go: `[N, C + 1 + L]` int32, the state that a column leads to, or -1.
        columns: by state, the columns that it reads.
        is_plain: by state, whether all that it does is to read: no word ends there, nor its rule, for which there are
            callers to go on, and none is called.
        words: by state, the (word, target) pairs, by priority.
        under: by rule, the symbols that can lie directly under a call of it.
        called_last: by rule, itself and the rules that tail calls lead to.
        first: by rule, the columns with which the text may go on after it (the truth, or more).
    """

    def __init__(self, network: Network, work: Work) -> None:
        self.network, self.work = network, work
        self.rule_of: list[int] = network.rule_of.tolist()
        self.final: list[bool] = network.final.tolist()
        self.rule_start: list[int] = network.rule_start.tolist()
        self.calls = _pairs(network.call_offsets, network.call_rule, network.call_return, work)
        self.words = _pairs(network.word_offsets, network.word, network.word_target, work)
        num_classes, num_labels = network.next.shape[1], len(network.labels)
        self.end_column, self.num_columns = num_classes, num_classes + 1 + num_labels
        reads = np.concatenate([network.next, network.by_label], axis=1).max(axis=1, initial=-1) >= 0
        moves: list[bool] = reads.tolist()
        self.returns_at_once = [
            self.final[state] and not (moves[state] or self.calls[state] or self.words[state])
            for state in work.watched(range(len(self.final)))
        ]
        self.start = self.rule_start[network.start_rule]
        self._find_callers()
        if any(self.at_bottom[rule] and self.under[rule] for rule in range(len(self.under))):
            self._call_start_rule()
            self._find_callers()
        self.end_state = len(self.final)
        self._add_state(network.start_rule)
        self.go = self._table()
        work.check()
        self.columns = bits(self.go >= 0)
        self.is_plain = [
            not (calls or words or (final and self.under[rule]))
            for calls, words, final, rule in work.watched(
                zip(self.calls, self.words, self.final, self.rule_of, strict=True)
            )
        ]
        self._target_offsets, self._targets = _targets(self.go)
        self._closures: dict[int, Closure] = {}
        self._find_first()

    def targets(self, state: int) -> list[int]:
        """The states that the columns of a state lead to, in the order of columns."""
        return self._targets[self._target_offsets[state] : self._target_offsets[state + 1]]

    def any_lazy(self, states: Iterable[int]) -> bool:
        """Whether a lazy word may end at one of some states."""
        lazy = self.network.num_lazy
        return lazy > 0 and any(word < lazy for state in states for word, _ in self.words[state][:1])

    def _call_start_rule(self) -> None:
        """Adds the place of its own that the start rule is called from."""
        self.start = len(self.final)
        self._add_state(len(self.rule_start))
        self._add_state(len(self.rule_start))
        self.rule_start.append(self.start)
        self.calls[self.start] = ((self.network.start_rule, self.start + 1),)
        self.final[self.start + 1] = True

    def _add_state(self, rule: int) -> None:
        self.rule_of.append(rule)
        self.final.append(False)
        self.returns_at_once.append(False)
        self.calls.append(())
        self.words.append(())

    def _find_callers(self) -> None:
        """Finds the symbols that can lie under each rule, and the rules that can stand at the bottom of the stack."""
        num_rules = len(self.rule_start)
        under: list[set[int]] = [set() for _ in range(num_rules)]
        tail: list[set[int]] = [set() for _ in range(num_rules)]
        for state, calls in enumerate(self.work.watched(self.calls)):
            for rule, back in calls:
                if self.returns_at_once[back]:
                    tail[self.rule_of[state]].add(rule)
                else:
                    under[rule].add(back)
        bottom = [False] * num_rules
        bottom[self.rule_of[self.start]] = True
        todo = list(range(num_rules))
        while todo:
            self.work.budget.spend(_VISIT_STEPS)
            rule = todo.pop()
            for called in tail[rule]:
                if not under[rule] <= under[called] or bottom[rule] > bottom[called]:
                    under[called] |= under[rule]
                    bottom[called] |= bottom[rule]
                    todo.append(called)
        self.under, self.at_bottom = [tuple(sorted(symbols)) for symbols in under], bottom
        self.called_last = [_reached(tail, rule) for rule in range(num_rules)]

    def _table(self) -> IntArray:
        network = self.network
        table = np.full((len(self.final), self.num_columns), -1, np.int32)
        table[: network.num_states, : self.end_column] = network.next
        table[: network.num_states, self.end_column + 1 :] = network.by_label
        for state, final in enumerate(self.work.watched(self.final)):
            if final and self.at_bottom[self.rule_of[state]]:
                table[state, self.end_column] = self.end_state
        return table

    def closure(self, state: int) -> Closure:
        """What a state reaches without reading."""
        found = self._closures.get(state)
        if found is None:
            found = self._closures[state] = self._closure(state)
        return found

    def _closure(self, state: int) -> Closure:
        if not self.calls[state] and not self.final[state]:
            reads = self.columns[state] or self.words[state]
            return (((), state, self.columns[state]),) if reads else (), False
        leaves: list[Leaf] = []
        ends = False
        seen: set[tuple[Stack, int]] = set()
        todo: list[tuple[Stack, int]] = [((), state)]
        while todo:
            self.work.budget.spend(_VISIT_STEPS)
            place = todo.pop()
            if place in seen:
                continue
            seen.add(place)
            pushed, at = place
            if self.columns[at] or self.words[at]:
                leaves.append((pushed, at, self.columns[at]))
            for rule, back in self.calls[at]:
                todo.append((pushed if self.returns_at_once[back] else (*pushed, back), self.rule_start[rule]))
            if self.final[at]:
                if pushed:
                    todo.append((pushed[:-1], pushed[-1]))
                else:
                    ends = True
        return tuple(leaves), ends and bool(self.under[self.rule_of[state]])

    def _find_first(self) -> None:
        """Finds with which columns the text may go on after each rule."""
        own, after = [0] * len(self.under), [set[int]() for _ in self.under]
        for rule, symbols in enumerate(self.under):
            for symbol in symbols:
                columns, ends = self._reads(symbol)
                own[rule] |= columns
                after[rule] |= ends
        changed = True
        while changed:
            changed = False
            for rule, rules in enumerate(self.work.watched(after)):
                columns = own[rule]
                for other in rules:
                    columns |= own[other]
                changed |= columns != own[rule]
                own[rule] = columns
        self.first = own

    def _reads(self, first: int) -> tuple[int, set[int]]:
        """The columns with which the text may go on at a state, without those of the callers of some rules."""
        columns, rules = 0, set[int]()
        todo, seen = [first], {first}
        while todo:
            self.work.budget.spend(_VISIT_STEPS)
            at = todo.pop()
            leaves, ends = self.closure(at)
            if ends:
                rules.add(self.rule_of[at])
            for pushed, state, reads in leaves:
                columns |= reads
                new = {target for _, target in self.words[state]} - seen
                seen |= new
                todo += new
                if new:  # what ends there may have been called on the way
                    todo += set(pushed) - seen
                    seen |= set(pushed)
        return columns, rules


def _targets(go: IntArray) -> tuple[list[int], list[int]]:
    """Where the states that each row leads to begin, and these, in order; neighbours that are the same once."""
    source, column = np.nonzero(go >= 0)
    target = go[source, column]
    is_new = np.append(True, (source[1:] != source[:-1]) | (target[1:] != target[:-1]))[: len(source)]
    offsets = np.searchsorted(source[is_new], np.arange(len(go) + 1)).tolist()
    return offsets, target[is_new].tolist()


def _reached(edges: list[set[int]], start: int) -> set[int]:
    seen, todo = {start}, [start]
    while todo:
        new = edges[todo.pop()] - seen
        seen |= new
        todo += new
    return seen


def _pairs(offsets: IntArray, left: IntArray, right: IntArray, work: Work) -> list[tuple[tuple[int, int], ...]]:
    """By state, its pairs in order; most have none, and share the empty tuple."""
    found: list[tuple[tuple[int, int], ...]] = [()] * (len(offsets) - 1)
    for state in work.watched(np.flatnonzero(np.diff(offsets)).tolist()):
        begin, end = offsets[state], offsets[state + 1]
        found[state] = tuple(sorted(zip(left[begin:end].tolist(), right[begin:end].tolist(), strict=True)))
    return found


def bits(table: BoolArray) -> list[int]:
    """Each row of a table as an integer, whose bit c is column c."""
    rows = np.packbits(table, axis=1, bitorder="little")
    size, data = rows.shape[1], rows.tobytes()
    return [int.from_bytes(data[at : at + size], "little") for at in range(0, len(data), size)]


def unpacked(sets: list[int], num_columns: int) -> BoolArray:
    """`[len(sets), num_columns]`, the table whose rows are these integers."""
    size = (num_columns + 7) // 8
    data = np.frombuffer(b"".join([columns.to_bytes(size, "little") for columns in sets]), np.uint8)
    return np.unpackbits(data.reshape(len(sets), size), axis=1, count=num_columns, bitorder="little").astype(np.bool_)


def transposed(sets: list[int], num_columns: int) -> list[int]:
    """By column, which of some sets have it, as bits."""
    size = 1024
    mask = (1 << size) - 1
    return [
        having
        for column in range(0, num_columns, size)
        for having in bits(unpacked([each >> column & mask for each in sets], min(size, num_columns - column)).T)
    ]
