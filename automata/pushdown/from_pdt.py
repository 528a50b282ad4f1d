"""Pushdown transducers of OpenFst as grammars (Allauzen & Riley, "A Pushdown Transducer Extension", CIAA 2012).

A pushdown transducer is an FST some of whose labels are parentheses; only paths with balanced parentheses are accepted.
A rule reads the text between an opening parenthesis and the parentheses that close it:

    p -(-> q ... r -)-> s      at p, rule [q, {r}] is called, and the text continues at s

The exits r of a call are all those whose parentheses lead to the same state s. So a transducer that `pdt_replace` has
made gets one rule for each of its parts, as in the grammar from which it was made.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from automata import openfst
from automata.acceptor_tables import AcceptorTables
from automata.compile.nfa import NfaBuilder
from automata.errors import EmptyLanguage, FstError
from automata.expressions import Expr
from automata.expressions.nodes import Acceptor
from automata.graph import reachable
from automata.openfst import Fst, SymbolTable
from automata.pushdown.grammar import Ambiguity, Grammar
from automata.pushdown.naming import RESERVED

# The rule that whole texts match.
START = "text"

# A part between parentheses: the state after an opening one, and the states before the closing ones.
Segment: TypeAlias = tuple[int, frozenset[int]]


def from_pdt(
    fst: Fst,
    parentheses: Iterable[tuple[int, int]],
    token_type: Literal["byte", "utf8"] = "byte",
    *,
    ambiguity: Ambiguity = "error",
    max_configurations: int = 8,
) -> Grammar:
    """Convert a pushdown transducer of pynini, which must be an acceptor, to a grammar.

    >>> import pynini
    >>> from automata import compile_grammar
    >>> equal_numbers = pynini.closure("a[300]") + pynini.closure("[301]b")
    >>> automaton = compile_grammar(from_pdt(equal_numbers, [(300, 301)]))
    >>> automaton.accepts("aaabbb"), automaton.accepts("aab")
    (True, False)

    Args:
        fst: the acceptor; it may be nondeterministic and have epsilon arcs.
        parentheses: the labels of opening and closing parentheses, pair by pair, such as `pynini.PdtParentheses`.
        token_type: what the other labels are, as in pynini: bytes, or code points of text. A label outside this range
            that has a name in the acceptor's symbol table becomes a `Label` with this name, and so do symbols that
            pynini has generated, `[name]` in its strings.
        ambiguity, max_configurations: as for `Grammar`.

    Raises:
        FstError: the FST is a transducer or has weights, a label has no meaning, or a label belongs to two parentheses.
        EmptyLanguage: the FST accepts nothing.
        TypeError: `fst` is not an FST, or the parentheses are not pairs of labels.
        ValueError: there is no such token type; or as for `Grammar`.
    """
    if token_type not in ("byte", "utf8"):
        raise ValueError(f'`token_type` is "byte" or "utf8", not {token_type!r}')
    opening, closing = _by_label(parentheses)
    start, final, (source, symbol, _, target) = openfst.to_arcs(openfst.plain_acceptor(fst, "grammar"))
    if start < 0 or not final.any():
        raise EmptyLanguage("the pushdown transducer accepts no text")
    graph = _Graph(defaultdict(list), defaultdict(list))
    opens, closes = defaultdict[int, list[tuple[int, int]]](list), defaultdict[int, list[tuple[int, int]]](list)
    for at, label, to in zip(source.tolist(), (symbol + 1).tolist(), target.tolist(), strict=True):
        if label in opening:
            opens[opening[label]].append((at, to))
        elif label in closing:
            closes[closing[label]].append((at, to))
        else:
            graph.plain[at].append((label, to))
    _add_calls(graph, opens, closes)
    whole = start, frozenset(np.flatnonzero(final).tolist())
    if not graph.reaches(*whole):
        raise EmptyLanguage("the pushdown transducer accepts no text")
    rules = _rules(graph, whole, _Spelling(token_type, fst.input_symbols()))
    return Grammar(rules, START, ambiguity=ambiguity, max_configurations=max_configurations)


def _by_label(parentheses: Iterable[tuple[int, int]]) -> tuple[dict[int, int], dict[int, int]]:
    """Return the pairs by their opening labels and by their closing labels.

    Raises:
        FstError: a label is that of epsilon, or belongs to two parentheses.
        TypeError: an element is not a pair of labels.
    """
    opening, closing = dict[int, int](), dict[int, int]()
    pairs = list(parentheses) if isinstance(parentheses, Iterable) else [parentheses]
    for number, pair in enumerate(pairs):
        is_pair = isinstance(pair, tuple | list) and len(pair) == 2
        if not (is_pair and all(hasattr(label, "__index__") for label in pair)):
            raise TypeError(f"`parentheses` are pairs of labels, such as (300, 301), not {pair!r}")
        left, right = pair
        for label in pair:
            if label < 1 or label in opening or label in closing or left == right:
                reason = "is epsilon" if label < 1 else "is of two parentheses"
                raise FstError(f"label {label} {reason}: every parenthesis has a label of its own, from 1 up")
        opening[left] = closing[right] = number
    return opening, closing


class _Graph(NamedTuple):
    """The arcs of a pushdown transducer by the states that they leave.

    Attributes:
        plain: label and target of each arc that is not a parenthesis.
        calls: the segment and the target of each call.
    """

    plain: dict[int, list[tuple[int, int]]]
    calls: dict[int, list[tuple[Segment, int]]]

    def targets(self, state: int) -> list[int]:
        """Return the states that arcs lead to from a state."""
        return [to for _, to in self.plain.get(state, ())] + [to for _, to in self.calls.get(state, ())]

    def reaches(self, begin: int, ends: frozenset[int]) -> bool:
        """Return whether a segment has a text."""
        inside = reachable([begin], self.targets)
        return not ends.isdisjoint(inside)


def _add_calls(
    graph: _Graph, opens: dict[int, list[tuple[int, int]]], closes: dict[int, list[tuple[int, int]]]
) -> None:
    """Add the calls of all segments that have a text, from the innermost ones on."""
    waiting = defaultdict[int, dict[Segment, set[tuple[int, int]]]](lambda: defaultdict(set))
    for number, pairs in opens.items():
        exits = defaultdict[int, set[int]](set)
        for at, to in closes.get(number, ()):
            exits[to].add(at)
        for at, begin in pairs:
            for to, ends in exits.items():
                waiting[begin][begin, frozenset(ends)].add((at, to))
    found = True
    while found:
        found = False
        for begin, segments in waiting.items():
            if not segments:
                continue
            inside = reachable([begin], graph.targets)
            for segment in [segment for segment in segments if not segment[1].isdisjoint(inside)]:
                for at, to in sorted(segments.pop(segment)):
                    graph.calls[at].append((segment, to))
                found = True


def _rules(graph: _Graph, whole: Segment, spelling: _Spelling) -> dict[str, Expr]:
    """Return the rule of the whole text, and those that it calls, directly or not."""
    names, todo = {whole: START}, [whole]
    rules: dict[str, Expr] = {}
    for segment in todo:
        body = NfaBuilder()
        state = defaultdict[int, int](body.state)
        inside = _useful(graph, segment)
        body.epsilon += (0, state[segment[0]])
        for at in sorted(inside):
            for label, to in graph.plain.get(at, ()):
                if to in inside:
                    spelling.add(body, label, state[at], state[to])
            for called, to in graph.calls.get(at, ()):
                if to in inside:
                    if called not in names:
                        names[called] = f"{START}.{len(names)}"
                        todo.append(called)
                    body.label(RESERVED + names[called], state[at], state[to])
            if at in segment[1]:
                body.epsilon += (state[at], 1)
        arcs, epsilon = body.tables()
        rules[names[segment]] = Acceptor(AcceptorTables(body.num_states, arcs, epsilon, tuple(sorted(body.labels))))
    return rules


def _useful(graph: _Graph, segment: Segment) -> set[int]:
    """Return the states on the paths from the beginning of a segment to its ends."""
    begin, ends = segment
    forward = reachable([begin], graph.targets)
    before = defaultdict[int, list[int]](list)
    for state in forward:
        for to in graph.targets(state):
            before[to].append(state)
    return reachable(ends & forward, lambda state: before.get(state, ()))


class _Spelling:
    """The meaning of labels.

    Attributes:
        token_type: what labels are: bytes or code points.
        symbols: the names of labels that are neither.
        generated: the names of symbols that pynini has generated, `[name]` in its strings.
    """

    def __init__(self, token_type: str, symbols: SymbolTable | None) -> None:
        self.token_type = token_type
        self.symbols = symbols
        self.generated = openfst.generated_symbols(token_type)

    def add(self, body: NfaBuilder, label: int, source: int, target: int) -> None:
        """Add the arcs that a label stands for to an NFA.

        Raises:
            FstError: the label has no meaning.
        """
        name = (self.symbols.find(label) if self.symbols else "") or ""
        if label == 0:
            body.epsilon += (source, target)
        elif label in self.generated:
            body.label(self.generated[label], source, target)
        elif self.token_type == "byte" and 0 < label <= 256:
            body.chain(bytes([openfst.byte_of_symbol(label - 1)]), source, target)
        elif self.token_type == "utf8" and 0 < label < 0x110000 and not 0xD800 <= label < 0xE000:
            body.chain(chr(label).encode(), source, target)
        elif name:
            body.label(name, source, target)
        else:
            kind = "byte" if self.token_type == "byte" else "code point"
            raise FstError(f"label {label} is not a {kind} or a parenthesis, and has no name in a table of symbols")
