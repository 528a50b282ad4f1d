"""Network: minimal byte automata that call each other, one for each rule, in one table.

state   of one rule's automaton; the states of all rules are numbered through
byte    leads to a state of the same rule
call    at a state: another rule is read, and then the text goes on at the state that the call returns to
word    at a state: a lexical rule's word may end here, and then the text goes on at another state
label   a place where a token of a named set is written, as in `ByteAutomaton`
final   at a state: the rule may end here, and its caller goes on
"""

from __future__ import annotations

from dataclasses import dataclass

from automata.byte_automaton import ByteArray
from automata.openfst import BoolArray, IntArray


@dataclass(frozen=True, eq=False, slots=True)
class Network:
    """The automata of all rules; Q states, R rules, T lexical rules, L labels.

    No rule can call itself, by way of others or not, before it has read a byte (there is no left recursion); every
    rule has a text, is called from the start rule, and every state of it lies on the way to one of its ends.

    Attributes:
        byte_class: `[256]` uint8, below C.
        next: `[Q, C]` int32, the state reached, or -1.
        final: `[Q]` bool.
        rule_of: `[Q]` int32.
        rule_names: R names.
        rule_start: `[R]` int32, the state where each rule begins.
        start_rule: the rule that whole texts match.
        call_offsets, call_rule, call_return: `[Q + 1]`, `[A]`, `[A]` int32: state q's calls are those from
            `call_offsets[q]` to `call_offsets[q + 1]`; which rule, and the state that it returns to.
        word_offsets, word, word_target: `[Q + 1]`, `[E]`, `[E]` int32: the lexical rules whose words may end at a
            state, and the states where the text goes on.
        word_names: T names in the order of priority: of two that may end at one place, the first does.
        by_label: `[Q, L]` int32, the state that each label leads to, or -1.
        labels: L names, ascending.
    """

    byte_class: ByteArray
    next: IntArray
    final: BoolArray
    rule_of: IntArray
    rule_names: tuple[str, ...]
    rule_start: IntArray
    start_rule: int
    call_offsets: IntArray
    call_rule: IntArray
    call_return: IntArray
    word_offsets: IntArray
    word: IntArray
    word_target: IntArray
    word_names: tuple[str, ...]
    by_label: IntArray
    labels: tuple[str, ...]

    @property
    def num_states(self) -> int:
        """Q."""
        return len(self.final)
