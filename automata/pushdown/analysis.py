"""What is known about the rules of a grammar before they are compiled.

    productive(parts)           which rules have a text at all
    nullable(parts)             which rules match the empty text; both by `native/automata/fixpoint.h`
    components(successors)      rules that call each other, those called first
    report(grammar)             rules without a text, and rules that the start never reaches

All of it takes time in proportion to the grammar, and nothing recurses with its depth.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from automata import _native
from automata.arrays import IntArray
from automata.errors import EmptyLanguage
from automata.limits import Work, current_work
from automata.pushdown.grammar import Grammar
from automata.pushdown.layout import lay_rules
from automata.pushdown.naming import check_names, error
from automata.pushdown.parts import END, START, RuleNfa, Rules

# What a visit of a node takes, in steps of the budget.
_VISIT_STEPS = 100


@dataclass(frozen=True, slots=True)
class Report:
    """What is odd about a grammar, though nothing is wrong with it.

    Attributes:
        unproductive: the rules without any text, in the order of definition.
        unreachable: the rules that no text of the start has a part of, the unproductive ones left out.
    """

    unproductive: tuple[str, ...]
    unreachable: tuple[str, ...]


def report(grammar: Grammar, work: Work | None = None) -> Report:
    """Which rules have no text, and which are never called on the way from the start.

    Raises:
        GrammarError: the grammar means nothing.
        LimitExceeded: a rule is larger than allowed, or the time is up.
    """
    work = current_work(work)
    check_names(grammar, work)
    rules = lay_rules(grammar, work)
    have_text = productive(rules.nfas, work)
    drop_calls(rules.nfas, have_text)
    called = {rules.names[part] for part in reachable(rules)}
    names = range(rules.num_rules)
    return Report(
        tuple(rules.names[rule] for rule in names if not have_text[rule]),
        tuple(rules.names[rule] for rule in names if have_text[rule] and rules.names[rule] not in called),
    )


def productive(parts: Sequence[RuleNfa], work: Work) -> list[bool]:
    """Which rules have a text."""
    return _finished(parts, [(part.arcs[:, ::3], part.epsilon, part.marks[:, ::2]) for part in parts], work)


def nullable(parts: Sequence[RuleNfa], work: Work) -> list[bool]:
    """Which rules match the empty text."""
    return _finished(parts, [(part.epsilon,) for part in parts], work)


def _finished(parts: Sequence[RuleNfa], steps: Sequence[tuple[IntArray, ...]], work: Work) -> list[bool]:
    """Which parts lead from their start to their end by some steps, `[n, 2]`, and by calls of other parts that do."""
    first = np.zeros(len(parts) + 1, np.int32)
    np.cumsum([part.num_states for part in parts], out=first[1:])
    edges = [rows + begin for part, begin in zip(steps, first, strict=False) for rows in part]
    calls = [part.calls + np.array([begin, 0, begin], np.int32) for part, begin in zip(parts, first, strict=False)]
    # A part has one end, in its own exit.
    ends = np.stack([first[:-1] + END, np.arange(len(parts), dtype=np.int32)], axis=1).astype(np.int32)
    starts = first[:-1] + np.int32(START)
    finished = _native.productive_exits(
        int(first[-1]), len(parts), np.concatenate(edges), np.concatenate(calls), starts, ends, work.budget
    )
    found: list[bool] = finished.tolist()
    return found


def drop_calls(parts: Sequence[RuleNfa], have_text: Sequence[bool]) -> None:
    """Leaves out the calls of rules without a text."""
    if not all(have_text):
        kept = np.array(have_text)
        for part in parts:
            part.calls = part.calls[kept[part.calls[:, 1]]]


def reachable(rules: Rules) -> set[int]:
    """The parts that are called, by way of others or not, from the whole text, and that one."""
    seen, waiting = {rules.text}, [rules.text]
    while waiting:
        for callee in rules.nfas[waiting.pop()].calls[:, 1].tolist():
            if callee not in seen:
                seen.add(callee)
                waiting.append(callee)
    return seen


def check_texts(grammar: Grammar, rules: Rules, have_text: Sequence[bool]) -> None:
    """Goes on where the start and every word have a text.

    Raises:
        EmptyLanguage: the start has none.
        GrammarError: a lexical rule matches nothing, or only the empty text.
    """
    for number in range(len(grammar.rules), rules.num_rules):
        if not have_text[number]:
            name = rules.names[number]
            raise error(grammar, f"the lexical rule {name!r} matches no text but the empty one", name)
    if not have_text[rules.text]:
        without = [name for name, has_text in zip(grammar.rules, have_text, strict=False) if not has_text]
        raise EmptyLanguage(f"the grammar has no text: {_listed(without)} can never come to an end")


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:5]))
    return ("rule " if len(names) == 1 else "rules ") + shown + (" and others" if len(names) > 5 else "")


def components(successors: Sequence[Iterable[int]], work: Work | None = None) -> list[list[int]]:
    """The strongly connected components of a graph, each after those that it leads to (Tarjan 1972).

    Args:
        successors: by node, the nodes that edges lead to.
        work: how the compilation that it is part of is stopped.
    """
    work = current_work(work)
    index = [-1] * len(successors)
    low = [0] * len(successors)
    on_path = [False] * len(successors)
    path: list[int] = []
    found: list[list[int]] = []
    count = 0
    for root in range(len(successors)):
        if index[root] >= 0:
            continue
        waiting = [(root, iter(successors[root]))]
        index[root] = low[root] = count
        count += 1
        path.append(root)
        on_path[root] = True
        while waiting:
            work.budget.spend(_VISIT_STEPS)
            node, rest = waiting[-1]
            for target in rest:
                if index[target] < 0:
                    index[target] = low[target] = count
                    count += 1
                    path.append(target)
                    on_path[target] = True
                    waiting.append((target, iter(successors[target])))
                    break
                if on_path[target]:
                    low[node] = min(low[node], index[target])
            else:
                waiting.pop()
                if waiting:
                    low[waiting[-1][0]] = min(low[waiting[-1][0]], low[node])
                if low[node] == index[node]:
                    members: list[int] = []
                    while not members or members[-1] != node:
                        members.append(path.pop())
                        on_path[members[-1]] = False
                    found.append(members)
    return found
