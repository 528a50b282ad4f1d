"""Choose the rules that are inlined where they are called, so that they need no stack.

A rule that calls itself, directly or not, remains a rule. If there is no such rule and the grammar is small with all
calls inlined, no stack is needed: the result is an automaton over bytes.
"""

from __future__ import annotations

from collections import Counter

from automata.expressions import Literal
from automata.graph import components
from automata.limits import Work
from automata.visibly_pushdown.fragments import nfa_fragment
from automata.visibly_pushdown.grammar import VisiblyPushdownGrammar, VisiblyPushdownRule
from automata.visibly_pushdown.paths import CountedPaths
from automata.visibly_pushdown.units import CountedUnits

# Rules with at most this many states are inlined even if others stay rules.
_SMALL = 24


def check_calls(grammar: VisiblyPushdownGrammar) -> None:
    """Raise unless each call has a target for each exit of its rule, and the start rule is valid.

    Raises:
        ValueError: a call has too few or too many targets, a called rule or the exit of an end does not exist, or the
            start rule is called, has guarded arcs, or does not have exactly one exit; the message says which.
    """
    rules = grammar.rules
    if not 0 <= grammar.start < len(rules) or rules[grammar.start].num_exits != 1:
        raise ValueError(f"the start is a rule with one exit, and not {grammar.start}")
    if rules[grammar.start].guarded:
        raise ValueError("the start rule has guarded arcs")
    for number, rule in enumerate(rules):
        for call in rule.calls:
            if not 0 <= call.rule < len(rules) or call.rule == grammar.start:
                raise ValueError(f"rule {number} calls {call.rule}, which is the start or no rule at all")
            if len(call.targets) != rules[call.rule].num_exits:
                exits = rules[call.rule].num_exits
                raise ValueError(
                    f"rule {number} calls rule {call.rule} with {len(call.targets)} targets for {exits} exits"
                )
        if any(not 0 <= way < rule.num_exits for _, way in rule.ends):
            raise ValueError(f"rule {number} has an end that is not one of its {rule.num_exits} exits")


def reached(grammar: VisiblyPushdownGrammar) -> list[int]:
    """Return the rules that the start calls, directly or not; the start comes first."""
    found = [grammar.start]
    seen = {grammar.start}
    for number in found:
        for call in grammar.rules[number].calls:
            if call.rule not in seen:
                seen.add(call.rule)
                found.append(call.rule)
    return found


def to_inline(grammar: VisiblyPushdownGrammar, max_states: int, work: Work) -> frozenset[int]:
    """Return the rules that are laid where they are called.

    Args:
        grammar: the grammar; `check_calls` has passed it.
        max_states: the maximum number of states of the grammar with every call written out. If there are more, only
            small rules, and those that are called at one place, are inlined. 0 inlines none.
        work: the limits, and the means to stop the compilation.

    Raises:
        LimitExceeded: a language is larger than allowed, or the time is up.
        Cancelled: the compilation was cancelled.
    """
    if not max_states:
        return frozenset()
    numbers = reached(grammar)
    place = {number: index for index, number in enumerate(numbers)}
    callees = [[place[call.rule] for call in grammar.rules[number].calls] for number in work.watched(numbers)]
    callers = Counter(callee for row in callees for callee in row)
    sizes = [0] * len(numbers)
    inlined: set[int] = set()
    for component in components(callees, work):
        for index in component:
            inside = sum(sizes[callee] for callee in callees[index] if callee in inlined)
            sizes[index] = _size(grammar.rules[numbers[index]], work) + inside
            if index and index not in callees[index] and len(component) == 1:
                inlined.add(index)
    if len(inlined) < len(numbers) - 1 or sizes[0] > max_states:
        small = {index for index in inlined if sizes[index] <= min(_SMALL, max_states)}
        once = {index for index in inlined if callers[index] == 1}
        # A rule that is one automaton needs no determinization where it stays a rule.
        inlined = small | {index for index in once if grammar.rules[numbers[index]].only_read is None}
    return frozenset(numbers[index] for index in inlined)


def _size(rule: VisiblyPushdownRule, work: Work) -> int:
    """Return the number of states of a rule once its languages are laid."""
    size = rule.num_states
    for _, language, _ in rule.arcs:
        if type(language) is Literal:
            size += len(language.value)
        elif isinstance(language, CountedUnits | CountedPaths):
            size += language.num_states
        else:
            size += nfa_fragment(language, work).num_states
    return size
