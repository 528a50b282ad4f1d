"""Expansion: the finite automaton of the texts for which a bounded stack is enough.

The configurations whose stack has at most `depth` symbols are the states of an NFA over bytes, which is determinized
and minimized. OpenFst's `pdt_expand` has no such bound, and works only for automata whose stack is bounded; the tests
compare with it on these.
"""

from __future__ import annotations

from automata.byte_automaton import ByteAutomaton
from automata.compile.constructions import determinized
from automata.compile.nfa import NfaBuilder
from automata.errors import LimitExceeded, TooManyConfigurations
from automata.limits import Work, current_work
from automata.pushdown.step_table import Configuration, StepTable


def expand(automaton: StepTable, depth: int, work: Work | None = None) -> ByteAutomaton:
    """Return the minimal automaton of the texts that some run accepts whose stack never holds more than `depth`
    symbols.

    Args:
        automaton: the pushdown automaton.
        depth: the maximum number of symbols on the stack after any step, at least 0.
        work: the limits, and the means to stop the expansion; by default, those of the current compilation.

    Raises:
        ValueError: the depth is negative.
        TooManyConfigurations: a text within the depth has more derivations side by side than the automaton carries.
        LimitExceeded: a limit was exceeded.
        Cancelled: the expansion was cancelled.
    """
    if depth < 0:
        raise ValueError("`depth` is at least 0")
    work = current_work(work)
    fragment = _fragment(automaton, depth, work)
    try:
        return determinized(fragment, work)
    except LimitExceeded as error:
        raise error.of("a deterministic automaton") from None


def _fragment(automaton: StepTable, depth: int, work: Work) -> NfaBuilder:
    """Return the NFA of all configurations up to a depth."""
    runs, end, overflow = automaton.byte_runs(), automaton.num_classes, automaton.overflow_states()
    steps = automaton.steps_by_state()
    fragment = NfaBuilder()
    number: dict[Configuration, int] = {(automaton.start, ()): 0, (automaton.num_states - 1, ()): 1}
    todo: list[Configuration] = [(automaton.start, ())]
    while todo:
        work.check()
        state, stack = configuration = todo.pop()
        source = number[configuration]
        for column, pops, pushes, target in steps[state]:
            height = len(stack) - len(pops)
            if height < 0 or stack[height:] != pops or height + len(pushes) > depth:
                continue
            if target in overflow:
                raise TooManyConfigurations(
                    f"within depth {depth} some text has more derivations side by side than the "
                    f"{automaton.max_configurations} that may be carried (`max_configurations`)"
                )
            after = target, stack[:height] + pushes
            if after not in number:
                number[after] = fragment.state()
                todo.append(after)
            if column < end:
                for low, high in runs[column]:
                    fragment.arcs += (source, low, high, number[after])
            elif column == end:
                fragment.epsilon += (source, number[after])
            else:
                fragment.label(automaton.labels[column - end - 1], source, number[after])
        if len(number) > work.limits.states:
            limit = work.limits.states
            message = f"to depth {depth} there are more than {limit:,} configurations (limit `states`)"
            raise LimitExceeded(message, limit="states")
    return fragment
