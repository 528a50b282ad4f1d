"""Pushdown automata as OpenFst pushdown transducers; `automata.pushdown.from_pdt` is the inverse.

Each symbol of the stack is a pair of parentheses. A step that pops, reads and pushes is a path that closes, reads and
opens, in this order; states with equal continuations are merged. So the state after a closing parenthesis is the one to
which the symbol returns, whichever state popped it.
"""

from __future__ import annotations

import numpy as np

from automata import openfst
from automata.arrays import int_rows
from automata.errors import LimitExceeded, TooManyConfigurations, wrong_type
from automata.limits import DEFAULT_LIMITS
from automata.openfst import Fst, PdtParentheses, openfst_module
from automata.pushdown.automaton import PushdownAutomaton
from automata.pushdown.compile import compile_grammar
from automata.pushdown.grammar import Grammar
from automata.pushdown.sequences import Stack

# The rest of a step: its column, the symbols to pop, from the top down, those to push, and the state.
_Step = tuple[int, Stack, Stack, int]
_ARC_BYTES = 16


def to_pdt(grammar: Grammar | PushdownAutomaton) -> tuple[Fst, PdtParentheses]:
    """Convert a grammar to a pushdown transducer: a `pynini.Fst` and its `pynini.PdtParentheses`.

    pynini's functions on pushdown transducers take both. Bytes and labels are numbered as in `ByteAutomaton.fst`, and
    the labels of parentheses come after them.

    >>> import pynini
    >>> from automata import Grammar, call, concat, literal
    >>> fst, parentheses = to_pdt(Grammar({"s": literal("c") | concat("(", call("s"), ")")}, "s"))
    >>> two = pynini.pdt_compose(fst, pynini.accep("((c))"), parentheses)
    >>> pynini.pdt_shortestpath(two, parentheses).string()
    '((c))'

    Args:
        grammar: a grammar, or the automaton of one.

    Raises:
        TooManyConfigurations: the grammar is ambiguous, and some texts need more configurations than the automaton may
            follow, so that the result would lack these texts.
        LimitExceeded: the arcs, one for each byte, take more than `DEFAULT_LIMITS.memory`.
        TypeError: the argument is neither a grammar nor its automaton.
        GrammarError, NondeterministicGrammar, EmptyLanguage: as for `compile_grammar`.
    """
    pynini = openfst_module("pynini")

    automaton = compile_grammar(grammar) if isinstance(grammar, Grammar) else grammar
    if not isinstance(automaton, PushdownAutomaton):
        raise wrong_type("a grammar or a pushdown automaton", grammar)
    if automaton.overflow_states():
        raise TooManyConfigurations(
            f"some texts have more derivations side by side than the {automaton.max_configurations} that may be "
            "carried (`max_configurations`), and a pushdown transducer would lack them"
        )
    first = 256 + len(automaton.labels)
    parentheses = pynini.PdtParentheses()
    for symbol in range(automaton.num_symbols):
        parentheses.add_pair(first + 2 * symbol + 1, first + 2 * symbol + 2)
    return _Writer(automaton).fst(), parentheses


class _Writer:
    """The states and arcs of a pushdown transducer.

    Attributes:
        automaton: the pushdown automaton.
        steps: the steps of its states.
        states: the number of each state: by the steps that are left, or by what is to be pushed and the state after it.
        final: the states in which a text may end.
        over_columns: source, column and target in turn.
        over_symbols: source, symbol and target in turn, of labels and parentheses.
        todo: the states whose arcs are still to be made.
    """

    def __init__(self, automaton: PushdownAutomaton) -> None:
        self.automaton = automaton
        self.steps = [
            frozenset((column, pops[::-1], pushes, target) for column, pops, pushes, target in steps)
            for steps in automaton.steps_by_state()
        ]
        self.states: dict[frozenset[_Step] | tuple[Stack, int], int] = {}
        self.final: set[int] = set()
        self.over_columns: list[int] = []
        self.over_symbols: list[int] = []
        self.todo: list[tuple[int, frozenset[_Step]]] = []
        self.first_parenthesis = 256 + len(automaton.labels)

    def fst(self) -> Fst:
        """Return the transducer."""
        start = self.with_steps(self.steps[self.automaton.start])
        while self.todo:
            state, steps = self.todo.pop()
            self.add_steps(state, steps)
        bytes_of = [np.flatnonzero(self.automaton.byte_class == number) for number in range(self.automaton.num_classes)]
        width = np.array([len(members) for members in bytes_of])
        source, column, target = int_rows(self.over_columns, 3).T
        if _ARC_BYTES * width[column].sum() > DEFAULT_LIMITS.memory:
            raise LimitExceeded(
                f"OpenFst's arcs would take more than {DEFAULT_LIMITS.memory:,} bytes (limit `memory`)", limit="memory"
            )
        byte = np.concatenate([np.zeros(0, np.int32), *(bytes_of[number] for number in column)]).astype(np.int32)
        others = int_rows(self.over_symbols, 3).T
        fst = openfst.to_fst(
            start,
            np.isin(np.arange(len(self.states)), list(self.final)),
            np.concatenate([np.repeat(source, width[column]), others[0]]),
            np.concatenate([openfst.symbol_of_byte(byte), others[1]]),
            np.concatenate([np.repeat(target, width[column]), others[2]]),
        )
        if self.automaton.labels:
            table = openfst.byte_symbol_table((*self.automaton.labels, *self.parenthesis_names()))
            fst.set_input_symbols(table)
            fst.set_output_symbols(table)
        return fst

    def parenthesis_names(self) -> list[str]:
        """Return the names of parentheses, in the order of their labels, as `pynini.pdt_replace` writes them."""
        return [f"{side}_{symbol}" for symbol in range(self.automaton.num_symbols) for side in "()"]

    def with_steps(self, steps: frozenset[_Step]) -> int:
        """Return the state from which some steps are to be taken."""
        if steps not in self.states:
            self.states[steps] = len(self.states)
            self.todo.append((self.states[steps], steps))
        return self.states[steps]

    def pushing(self, pushes: Stack, target: int) -> int:
        """Return the state from which symbols are pushed, before a state of the automaton."""
        if not pushes:
            return self.with_steps(self.steps[target])
        if (pushes, target) not in self.states:
            after = self.pushing(pushes[1:], target)
            state = self.states[pushes, target] = len(self.states)
            self.over_symbols += (state, self.first_parenthesis + 2 * pushes[0], after)
        return self.states[pushes, target]

    def add_steps(self, state: int, steps: frozenset[_Step]) -> None:
        """Add the arcs of a state."""
        end, after_pop = self.automaton.num_classes, dict[int, set[_Step]]()
        for column, pops, pushes, target in sorted(steps):
            if pops:
                after_pop.setdefault(pops[0], set()).add((column, pops[1:], pushes, target))
            elif column < end:
                self.over_columns += (state, column, self.pushing(pushes, target))
            elif column > end:
                self.over_symbols += (state, 256 + column - end - 1, self.pushing(pushes, target))
            elif not pushes:
                self.final.add(state)
        for symbol, rest in after_pop.items():
            self.over_symbols += (state, self.first_parenthesis + 2 * symbol + 1, self.with_steps(frozenset(rest)))
