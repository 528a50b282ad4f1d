"""Liveness: whether a network has a text at all, without an automaton of it."""

from __future__ import annotations

from automata import expr as ex
from automata.byte_automaton import ByteAutomaton
from automata.nested import Counted, CountedPaths, Language, NestedNetwork, NestedRule


def has_text(network: NestedNetwork) -> bool:
    """Whether there is some text, if every expression has one that is not written as empty."""
    return 0 in live_exits(network)[network.start]


def live_exits(network: NestedNetwork) -> list[set[int]]:
    """The exits in which each rule can end."""
    exits: list[set[int]] = [set() for _ in network.rules]
    callers: list[set[int]] = [set() for _ in network.rules]
    for number, rule in enumerate(network.rules):
        for call in rule.calls:
            callers[call.rule].add(number)
    # Rules are mostly called by those before them, so the last ones are looked at first.
    waiting = dict.fromkeys(range(len(network.rules)))
    while waiting:
        number, _ = waiting.popitem()
        found = _reached_ends(network.rules[number], exits)
        if len(found) > len(exits[number]):
            exits[number] = found
            waiting.update(dict.fromkeys(callers[number]))
    return exits


def _reached_ends(rule: NestedRule, exits: list[set[int]]) -> set[int]:
    """The exits that a rule can end in, by what is known of those that it calls."""
    following: dict[int, list[int]] = {}
    for source, language, target in rule.arcs:
        if not is_empty(language):
            following.setdefault(source, []).append(target)
    for source, target in rule.epsilon:
        following.setdefault(source, []).append(target)
    for call in rule.calls:
        targets = [target for number, target in enumerate(call.targets) if target >= 0 and number in exits[call.rule]]
        following.setdefault(call.source, []).extend(targets)
    seen, waiting = {0}, [0]
    while waiting:
        for target in following.get(waiting.pop(), ()):
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return {number for state, number in rule.ends if state in seen}


def is_empty(language: Language) -> bool:
    """Whether a language is written as empty."""
    if isinstance(language, Counted | CountedPaths):
        return False
    return language.is_empty if isinstance(language, ByteAutomaton) else ex.is_empty(language)
