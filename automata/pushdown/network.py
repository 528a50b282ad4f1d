"""Network: minimal byte automata that call each other, one for each rule, in one table.

state   of one rule's automaton; the states of all rules are numbered in one sequence
byte    leads to a state of the same rule
call    at a state: another rule is read, and then the text continues at the state to which the call returns
word    at a state: a lexical rule's word may end here, and then the text continues at another state
label   a place where a token of a named set is written, as in `ByteAutomaton`
final   at a state: the rule may end here, and its caller continues
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from automata import _native
from automata.arrays import BoolArray, ByteArray, IntArray, offsets_of
from automata.compile.nfa import FIRST_LABEL
from automata.drawing import shown, shown_table
from automata.errors import LimitExceeded
from automata.graph import reachable
from automata.limits import Work
from automata.pushdown import analysis, recursion
from automata.pushdown.grammar import Grammar
from automata.pushdown.inlining import InlinedRules, inline
from automata.pushdown.layout import lay_rules
from automata.pushdown.naming import check_names
from automata.pushdown.parts import Rules, rows


@dataclass(frozen=True, eq=False, slots=True)
class Network:
    """The automata of all rules; Q states, R rules, T lexical rules, L labels.

    There is no left recursion: no rule can call itself, directly or not, before it has read a byte. Every rule has a
    text and is called from the start rule, and every state of it lies on a path to one of its ends.

    Attributes:
        byte_class: `[256]` uint8, the class of each byte, below C.
        next: `[Q, C]` int32, the state that each class leads to, or -1.
        final: `[Q]` bool, whether the rule may end in each state.
        rule_of: `[Q]` int32, the rule of each state.
        rule_names: R names.
        rule_start: `[R]` int32, the state where each rule begins.
        start_rule: the rule that whole texts match.
        in_words: `[R]` bool, whether the bytes of each rule are in words; otherwise none of them is, in a grammar with
            words.
        lexer: `[R]` int32, words of rules with different lexers do not compete.
        call_offsets, call_rule, call_return: `[Q + 1]`, `[A]`, `[A]` int32: state q's calls are those from
            `call_offsets[q]` to `call_offsets[q + 1]`; which rule, and the state to which it returns.
        word_offsets, word, word_target: `[Q + 1]`, `[E]`, `[E]` int32: the lexical rules whose words may end at a
            state, and the states where the text continues.
        word_names: T names in the order of priority: if two words may end at one place, the first of them does.
        by_label: `[Q, L]` int32, the state that each label leads to, or -1.
        labels: L names, ascending.
        num_lazy: the number of lazy words, which come first: where one of them may end, the text does not continue
            with another.
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
    in_words: BoolArray
    lexer: IntArray
    num_lazy: int = 0

    @property
    def num_states(self) -> int:
        """Q, the number of states."""
        return len(self.final)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the rules, with their sizes and what they call."""
        sizes = f"{self.num_states:,} states of {len(self.rule_names):,} rules and {len(self.word_names):,} words"
        caller = np.repeat(self.rule_of, np.diff(self.call_offsets))
        reader = np.repeat(self.rule_of, np.diff(self.word_offsets))
        rows = [
            (
                name + (" (start)" if rule == self.start_rule else ""),
                f"{(self.rule_of == rule).sum():,}",
                ", ".join(self.rule_names[called] for called in np.unique(self.call_rule[caller == rule])),
                ", ".join(self.word_names[word] for word in np.unique(self.word[reader == rule])),
            )
            for rule, name in enumerate(self.rule_names)
        ]
        return shown("network", sizes) + shown_table(("rule", "states", "calls", "words"), rows)


def build_network(grammar: Grammar, work: Work) -> Network:
    """Build the network of a grammar.

    Raises:
        GrammarError: a name is not defined, a call stands where none is allowed, or a lexical rule has no text; the
            error names the rule, and its place if the grammar knows it.
        EmptyLanguage: the grammar has no text.
        LimitExceeded: a limit was exceeded.
        Cancelled: the compilation was cancelled.
    """
    check_names(grammar, work)
    rules = lay_rules(grammar, work)
    have_text = analysis.productive(rules.nfas, work)
    analysis.check_texts(grammar, rules, have_text)
    analysis.drop_calls(rules.nfas, have_text)
    matches_empty = analysis.nullable(rules.nfas, work)
    if not grammar.ignored and not matches_empty[rules.text]:
        rules.text = rules.names.index(grammar.start)
    text_is_empty = matches_empty[rules.text]
    if any(matches_empty):
        recursion.without_empty_texts(rules.nfas, matches_empty, work)
        analysis.drop_calls(rules.nfas, analysis.productive(rules.nfas, work))
    work.check()
    recursion.solve_left_recursion(rules, work)
    joined = inline(rules, work)
    network = _network(rules, joined, text_is_empty, work)
    called = _called(network)
    if len(called) < len(joined.rules):
        # Calls that lead to no end have been removed, and with them some rules.
        network = _network(rules, joined.only(called), text_is_empty, work)
    return network


def _called(network: Network) -> set[int]:
    """Return the start rule, and all rules that it calls, directly or not."""
    caller = np.repeat(network.rule_of, np.diff(network.call_offsets))
    calls: dict[int, set[int]] = {}
    num_rules = len(network.rule_start)
    for pair in np.unique(caller.astype(np.int64) * num_rules + network.call_rule).tolist():
        calls.setdefault(pair // num_rules, set()).add(pair % num_rules)
    return reachable([network.start_rule], lambda rule: calls.get(rule, ()))


# States of the automata of all rules together: one leads to the start of each rule, one is reached from each end.
_FIRST, _LAST = 0, 1


def _network(rules: Rules, joined: InlinedRules, matches_empty: bool, work: Work) -> Network:
    """Determinize and minimize all rules together.

    An added state leads to the start of each rule by a symbol of that rule, and another one is reached from the end of
    each rule by a second symbol of that rule. So states of different rules are never merged, and a rule may end in the
    states that have an arc over its second symbol.
    """
    num_rules = len(joined.rules)
    place = np.zeros(len(rules.nfas), np.int32)
    place[joined.rules] = range(num_rules)
    ends, calls, marks = (FIRST_LABEL + count * num_rules for count in (1, 2, 3))
    symbols = [(_FIRST, FIRST_LABEL + rule, start) for rule, start in enumerate(joined.starts)]
    symbols += [(end, ends + rule, _LAST) for rule, end in enumerate(joined.ends)]
    if matches_empty:
        symbols.append((joined.starts[0], ends, _LAST))
    called = joined.calls.copy()
    called[:, 1] = calls + place[called[:, 1]]
    over_symbols = [joined.marks + np.array([0, marks, 0], np.int32), rows(symbols, 3), called]
    ranges = np.concatenate([joined.arcs, np.concatenate(over_symbols)[:, [0, 1, 1, 2]]])
    num_labels = 3 * num_rules + len(rules.words) + len(rules.labels)
    try:
        tables = _native.rule_tables(
            joined.num_states,
            np.ascontiguousarray(ranges),
            np.ascontiguousarray(joined.epsilon),
            num_rules,
            num_labels,
            work.limits.states,
            work.budget,
        )
    except LimitExceeded as error:
        raise error.of("the automaton of the grammar's rules") from None
    return _from_tables(rules, joined, *tables)


def _from_tables(
    rules: Rules,
    joined: InlinedRules,
    byte_class: ByteArray,
    next_: IntArray,
    rule_of: IntArray,
    rule_start: IntArray,
    others: IntArray,
) -> Network:
    """Return the network; `others` are the arcs over symbols other than bytes, `[A, 3]`, by source and then by
    symbol."""
    num_states, num_rules, num_words = len(rule_of), len(joined.rules), len(rules.words)
    source, symbol, target = np.ascontiguousarray(others.T)
    kind = np.minimum(symbol // num_rules, 3)
    symbol = symbol - kind * num_rules
    final = np.zeros(num_states, np.bool_)
    final[source[kind == 1]] = True
    is_call, is_word = kind == 2, (kind == 3) & (symbol < num_words)
    is_label = (kind == 3) & (symbol >= num_words)
    by_label = np.full((num_states, len(rules.labels)), -1, np.int32)
    by_label[source[is_label], symbol[is_label] - num_words] = target[is_label]
    return Network(
        byte_class=byte_class,
        next=next_,
        final=final,
        rule_of=rule_of,
        rule_names=tuple(rules.names[number] for number in joined.rules),
        rule_start=rule_start,
        start_rule=0,
        call_offsets=offsets_of(np.bincount(source[is_call], minlength=num_states)),
        call_rule=symbol[is_call],
        call_return=target[is_call],
        word_offsets=offsets_of(np.bincount(source[is_word], minlength=num_states)),
        word=symbol[is_word],
        word_target=target[is_word],
        word_names=rules.words,
        in_words=np.array(joined.in_words, np.bool_),
        lexer=np.array(joined.lexers, np.int32),
        num_lazy=rules.num_lazy,
        by_label=by_label,
        labels=rules.labels,
    )
