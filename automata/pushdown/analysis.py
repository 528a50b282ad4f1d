"""Properties of the rules of a grammar, before compilation.

    productive(nfas)            rules with a text
    nullable(nfas)              rules that match the empty text; both by `native/automata/fixpoint.h`
    report(grammar)             rules without a text, and rules that cannot be reached from the start

Time is linear in the size of the grammar, and nothing recurses with its depth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from automata import _native
from automata.arrays import IntArray, offsets_of
from automata.errors import EmptyLanguage
from automata.graph import components, reachable
from automata.limits import Work, current_work
from automata.pushdown.grammar import Grammar
from automata.pushdown.layout import lay_rules
from automata.pushdown.naming import check_names, error
from automata.pushdown.parts import END, START, RuleNfa, Rules


@dataclass(frozen=True, slots=True)
class Report:
    """Properties of a grammar that are unusual, but not errors.

    Attributes:
        unproductive: the rules without a text, in the order of definition.
        unreachable: the rules that have a text, but are never called from the start, directly or not.
    """

    unproductive: tuple[str, ...]
    unreachable: tuple[str, ...]


def report(grammar: Grammar, work: Work | None = None) -> Report:
    """Report the rules without a text, and the rules that are never called from the start.

    Raises:
        GrammarError: the grammar is not well formed.
        LimitExceeded: a rule is larger than allowed, or the time is up.
    """
    work = current_work(work)
    check_names(grammar, work)
    rules = lay_rules(grammar, work)
    have_text = productive(rules.nfas, work)
    drop_calls(rules.nfas, have_text)
    called = {rules.names[part] for part in called_rules(rules)}
    names = range(rules.num_rules)
    return Report(
        tuple(rules.names[rule] for rule in names if not have_text[rule]),
        tuple(rules.names[rule] for rule in names if have_text[rule] and rules.names[rule] not in called),
    )


def productive(parts: Sequence[RuleNfa], work: Work) -> list[bool]:
    """Return which rules have a text."""
    return _finished(parts, [(part.arcs[:, ::3], part.epsilon, part.marks[:, ::2]) for part in parts], work)


def nullable(parts: Sequence[RuleNfa], work: Work) -> list[bool]:
    """Return which rules match the empty text."""
    return _finished(parts, [(part.epsilon,) for part in parts], work)


def _finished(parts: Sequence[RuleNfa], steps: Sequence[tuple[IntArray, ...]], work: Work) -> list[bool]:
    """Return in which NFAs some steps, `[n, 2]`, and calls of other such NFAs lead from the start to the end."""
    first = offsets_of([part.num_states for part in parts])
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
    """Leave out the calls of rules without a text."""
    if not all(have_text):
        kept = np.array(have_text)
        for part in parts:
            part.calls = part.calls[kept[part.calls[:, 1]]]


def called_rules(rules: Rules) -> set[int]:
    """Return the NFA of the whole text, and all NFAs that it calls, directly or not."""
    return reachable([rules.text], lambda number: rules.nfas[number].calls[:, 1].tolist())


def beside_words(rules: Rules) -> set[int]:
    """Return the NFAs that read bytes outside of words, by arcs of their own or in an NFA that they call, and
    those that compose grammars. No word is among them. In a grammar without words, there are none."""
    if not rules.words:
        return set()
    first_word = rules.num_rules - len(rules.words)
    is_rule = [
        number < first_word or rules.num_rules <= number < rules.num_rules + 2 for number in range(len(rules.nfas))
    ]
    callers: dict[int, list[int]] = {}
    for number, part in enumerate(rules.nfas):
        for callee in part.calls[:, 1].tolist():
            callers.setdefault(callee, []).append(number)
    own = [number for number, part in enumerate(rules.nfas) if is_rule[number] and len(part.arcs)]
    return reachable([*own, *rules.composing], lambda number: callers.get(number, ()))


def lexers(rules: Rules, work: Work) -> list[int]:
    """Return the number of the lexer of each NFA. NFAs that call each other, directly or not, have one lexer, but a
    composing NFA has a lexer of its own."""
    found = [0] * len(rules.nfas)
    if not rules.composing:
        return found
    edges: list[list[int]] = [[] for _ in rules.nfas]
    for number, part in enumerate(rules.nfas):
        for callee in part.calls[:, 1].tolist():
            if number not in rules.composing and callee not in rules.composing:
                edges[number].append(callee)
                edges[callee].append(number)
    for lexer, members in enumerate(components(edges, work)):
        for number in members:
            found[number] = lexer
    return found


def check_texts(grammar: Grammar, rules: Rules, have_text: Sequence[bool]) -> None:
    """Raise unless the start and every lexical rule have a text.

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
