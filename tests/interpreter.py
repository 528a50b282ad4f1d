"""A slow reading of visibly pushdown grammars, by what they mean: an oracle for what is compiled from them."""

from __future__ import annotations

from functools import lru_cache

from automata import compile_expr
from automata.byte_automaton import ByteAutomaton
from automata.visibly_pushdown import (
    ArcLanguage,
    CountedPaths,
    CountedUnits,
    VisiblyPushdownGrammar,
    VisiblyPushdownRule,
)
from automata.visibly_pushdown.conditions import FALSE, TRUE

_Ends = frozenset[tuple[int, int]]


@lru_cache(None)
def _compiled(language: ArcLanguage) -> ByteAutomaton:
    if isinstance(language, CountedUnits | CountedPaths):
        return language.expanded()
    return language if isinstance(language, ByteAutomaton) else compile_expr(language)


def accepts(grammar: VisiblyPushdownGrammar, text: bytes) -> bool:
    """Whether the grammar has the text."""
    reading = _Reading(grammar, text)
    return (len(text), 0) in reading.ends(grammar.start, 0)


def holds(rule: VisiblyPushdownRule, condition: int, flags: frozenset[int]) -> bool:
    """Whether a condition of a rule holds where some flags are set."""
    if condition in (FALSE, TRUE):
        return condition == TRUE
    assert rule.conditions is not None
    flag, low, high = rule.conditions.decision(condition)
    return holds(rule, high if flag in flags else low, flags)


class _Reading:
    """One text; what each rule can read from each place on is found once."""

    def __init__(self, grammar: VisiblyPushdownGrammar, text: bytes) -> None:
        self.grammar, self.text = grammar, text
        self.found: dict[tuple[int, int], _Ends] = {}
        self.read_by: dict[tuple[int, int], list[int]] = {}

    def ends(self, rule: int, place: int) -> _Ends:
        """Where the rule may end if it begins at a place, and in which exit."""
        key = rule, place
        if key not in self.found:
            self.found[key] = self._ends(rule, place)
        return self.found[key]

    def _ends(self, number: int, place: int) -> _Ends:
        rule = self.grammar.rules[number]
        arcs: dict[int, list[tuple[ArcLanguage, int]]] = {}
        for source, language, target in rule.arcs:
            arcs.setdefault(source, []).append((language, target))
        silent: dict[int, list[int]] = {}
        for source, target in rule.epsilon:
            silent.setdefault(source, []).append(target)
        guarded: dict[int, list[tuple[int, int, int]]] = {}
        for source, target, sets, condition in rule.guarded:
            guarded.setdefault(source, []).append((target, sets, condition))
        calls = {call.source: call for call in rule.calls}
        assert len(calls) == len(rule.calls), "two calls at one state"
        assert not set(calls) & {*arcs, *silent, *guarded}, "something beside a call"
        assert not set(guarded) & {*arcs, *silent}, "something beside guarded arcs"
        exits = dict(rule.ends)
        none: frozenset[int] = frozenset()
        seen, waiting, ends = {(0, place, none)}, [(0, place, none)], set()
        while waiting:
            state, at, flags = waiting.pop()
            reached = [(target, at, flags) for target in silent.get(state, ())]
            for language, target in arcs.get(state, ()):
                reached += [(target, end, flags) for end in self.readings(language, at)]
            for target, sets, condition in guarded.get(state, ()):
                if sets not in flags and holds(rule, condition, flags):
                    reached.append((target, at, flags | {sets} if sets >= 0 else flags))
            if state in calls:
                call = calls[state]
                for end, leaving in self.ends(call.rule, at):
                    if call.targets[leaving] >= 0:
                        reached.append((call.targets[leaving], end, flags))
            if state in exits:
                ends.add((at, exits[state]))
            waiting += [step for step in reached if step not in seen]
            seen.update(reached)
        return frozenset(ends)

    def readings(self, language: ArcLanguage, place: int) -> list[int]:
        """Where a text of the language may end that begins at a place."""
        key = id(language), place
        if key not in self.read_by:
            automaton = _compiled(language)
            state, ends = automaton.start, []
            for at in range(place, len(self.text) + 1):
                if state < 0:
                    break
                if automaton.final[state]:
                    ends.append(at)
                if at < len(self.text):
                    state = automaton.step(state, self.text[at : at + 1])
            self.read_by[key] = ends
        return self.read_by[key]
