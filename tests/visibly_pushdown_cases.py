"""Random visibly pushdown grammars, and the plainest reading of one: texts by length, from the definition."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from random import Random

from automata.expressions import ByteSet, Literal
from automata.pushdown.automaton import PushdownAutomaton
from automata.pushdown.step_table import Configuration
from automata.visibly_pushdown import ArcLanguage, VisiblyPushdownCall, VisiblyPushdownGrammar, VisiblyPushdownRule

OPENING, CLOSING, INSIDE = b"([{", b")]", b"ab"


def texts(grammar: VisiblyPushdownGrammar, longest: int) -> set[bytes]:
    """All texts of a grammar with literals and sets of bytes, up to a length."""
    rules = grammar.rules

    @cache
    def read(rule: int, state: int, length: int) -> frozenset[tuple[bytes, int]]:
        """What is read from a state to an end of its rule, in exactly so many bytes, and which exit that is."""
        found: set[tuple[bytes, int]] = set()
        for reached in closure(rules[rule], state):
            if length == 0:
                found |= {(b"", way) for end, way in rules[rule].ends if end == reached}
            for source, language, target in rules[rule].arcs:
                if source == reached:
                    for text in spelled(language):
                        if 0 < len(text) <= length:
                            found |= {(text + rest, way) for rest, way in read(rule, target, length - len(text))}
            for call in rules[rule].calls:
                if call.source == reached:
                    for inside in range(1, length + 1):
                        for text, ended in read(call.rule, 0, inside):
                            if call.targets[ended] >= 0:
                                after = read(rule, call.targets[ended], length - inside)
                                found |= {(text + rest, way) for rest, way in after}
        return frozenset(found)

    return {text for length in range(longest + 1) for text, _ in read(grammar.start, 0, length)}


def closure(rule: VisiblyPushdownRule, state: int) -> set[int]:
    """The states that are reached by nothing, or the empty text."""
    seen, waiting = {state}, [state]
    while waiting:
        last = waiting.pop()
        after = [target for source, target in rule.epsilon if source == last]
        after += [target for source, language, target in rule.arcs if source == last and b"" in spelled(language)]
        waiting += [each for each in after if each not in seen]
        seen |= set(after)
    return seen


def spelled(language: ArcLanguage) -> list[bytes]:
    """The texts of a literal or a set of bytes."""
    if isinstance(language, Literal):
        return [language.value]
    assert isinstance(language, ByteSet)
    return [bytes([byte]) for low, high in language.ranges for byte in range(low, high + 1)]


def accepted(
    automaton: PushdownAutomaton, longest: int, allowed: Callable[[Configuration], bool] = lambda _: True
) -> tuple[set[bytes], set[Configuration]]:
    """The texts that a deterministic automaton accepts, up to a length, and the configurations on the way; only those
    that are allowed are gone through."""
    found: set[bytes] = set()
    seen: set[Configuration] = set()
    start: Configuration = (automaton.start, ())
    waiting = [(b"", start)] if allowed(start) else []
    columns = {byte: int(automaton.byte_class[byte]) for byte in OPENING + CLOSING + INSIDE}
    while waiting:
        text, configuration = waiting.pop()
        seen.add(configuration)
        if automaton.steps_from(configuration, automaton.num_classes):
            found.add(text)
        if len(text) < longest:
            for byte, column in columns.items():
                steps = automaton.steps_from(configuration, column)
                assert len(steps) <= 1
                waiting += [(text + bytes([byte]), step) for step in steps if allowed(step)]
    return found, seen


def completed(
    automaton: PushdownAutomaton, begun: set[Configuration], allowed: Callable[[Configuration], bool]
) -> set[Configuration]:
    """The configurations that some others lead to, and from which a text can be completed by way of allowed ones."""
    before: dict[Configuration, set[Configuration]] = {}
    ends: list[Configuration] = []
    seen, waiting = set(begun), list(begun)
    while waiting:
        last = waiting.pop()
        if automaton.steps_from(last, automaton.num_classes):
            ends.append(last)
        for column in range(automaton.num_classes):
            for step in automaton.steps_from(last, column):
                before.setdefault(step, set()).add(last)
                if step not in seen and allowed(step):
                    seen.add(step)
                    waiting.append(step)
    alive = set(ends)
    while ends:
        more = before.get(ends.pop(), set()) - alive
        alive |= more
        ends += more
    return alive


def random_grammar(seed: int) -> VisiblyPushdownGrammar:
    """A random grammar of up to four rules, the start among them. A rule with one exit is any automaton; one with two
    is deterministic, so that no text ends in both. Few things lead away from a state: not all exits can be reached from
    everywhere."""
    dice = Random(seed)
    exits = [1, *(dice.choice([1, 2, 2]) for _ in range(dice.randint(1, 3)))]
    return VisiblyPushdownGrammar(tuple(_rule(dice, number, exits) for number in range(len(exits))))


def _rule(dice: Random, number: int, exits: list[int]) -> VisiblyPushdownRule:
    size, deterministic = dice.randint(2, 4), exits[number] > 1
    rule = VisiblyPushdownRule(size, num_exits=exits[number])
    letters = [*INSIDE, *OPENING[: len(exits) - 1], *(CLOSING if number else b"")]
    for state in range(size):
        count = dice.randint(1, 3)
        for byte in dice.sample(letters, count) if deterministic else dice.choices(letters, k=count):
            if byte in INSIDE:
                rule.arcs.append((state, Literal(bytes([byte])), dice.randrange(size)))
                continue
            beyond = rule.state()
            rule.arcs.append((state, Literal(bytes([byte])), beyond))
            if byte in CLOSING:
                rule.ends.append((beyond, dice.randrange(exits[number])))
            else:
                called, least = 1 + OPENING.index(byte), dice.choice([-1, 0])
                targets = tuple(dice.randint(least, size - 1) for _ in range(exits[called]))
                rule.calls.append(VisiblyPushdownCall(beyond, called, targets))
    if not deterministic:
        rule.epsilon += [(dice.randrange(size), dice.randrange(size)) for _ in range(dice.randint(0, 2))]
    if number == 0:
        end = rule.state()
        rule.ends.append((end, 0))
        rule.epsilon.append((dice.randrange(size), end))
    return rule
