"""Token automata in both storages, and the check against the definition."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from kinds import complete
from strategies import BruteForce

from automata import Expr, compile_expr, parse
from automata.errors import EmptyLanguage, TokenNotAllowed
from tokenfst import Vocabulary
from tokenfst.finite.automaton import FiniteTokenAutomaton
from tokenfst.finite.transitions import Csr
from tokenfst.reference import Reference

E_ACUTE, EURO = "é".encode(), "€".encode()


VOCABULARIES = {
    "bytes": Vocabulary([b"a", b"b", b"c", b""], [3]),
    "prefixes of others": Vocabulary([b"", b"a", b"aa", b"aaa", b"aab", b"ab", b"b", b"ba", b"abab", b"c"], [0]),
    "duplicates and empty tokens": Vocabulary([b"a", b"", b"a", b"ab", b"ab", b"", b"b", b"bb", b"b", b""], [9]),
    "no byte b": Vocabulary([b"a", b"aa", b"ab", b"abb", b"ca", b""], [5]),
    "no byte a": Vocabulary([b"ab", b"b", b"bab", b""], [3]),
    "pairs only": Vocabulary([b"aa", b"ab", b"ba", b"bb", b"aba", b""], [5]),
    "one token": Vocabulary([b"ab"]),
    "no end token": Vocabulary([b"a", b"b", b"ab", b"c"]),
    "several end tokens": Vocabulary([b"", b"a", b"b", b"a", b"ba", b""], [0, 3, 5]),
    "special tokens": Vocabulary([b"a", b"<s>", b"b", b"abc", b"</s>"], [4], special_tokens={"<s>": 1}),
    "characters in parts": Vocabulary(
        [
            b"a",
            b"b",
            b"\xc3",
            b"\xa9",
            b"a\xc3",
            b"\xa9b",
            E_ACUTE,
            EURO,
            EURO[:2],
            EURO[2:],
            b"b" + EURO[:1],
            b"\xff",
            b"",
        ],
        [12],
    ),
    "every byte": Vocabulary([*(bytes([byte]) for byte in range(256)), b"ab", b"ba", b"", E_ACUTE + b"a"], [258]),
}


def as_csr(automaton: FiniteTokenAutomaton) -> FiniteTokenAutomaton:
    """The same automaton with sparse transitions."""
    source, number, target = automaton.transitions.edges()
    offsets = np.searchsorted(source, np.arange(automaton.num_states + 1)).astype(np.int64)
    transitions = Csr(offsets, number.copy(), target.copy(), automaton.num_classes)
    runs = automaton.run_end, automaton.run_class
    return FiniteTokenAutomaton.from_transitions(
        automaton.vocabulary, automaton.start, automaton.final, transitions, *runs
    )


def allowed(automaton: FiniteTokenAutomaton, state: int) -> set[int]:
    return set(np.flatnonzero(automaton.mask(state)).tolist())


def check_exact(constraint: str | Expr, vocabulary: Vocabulary) -> None:
    """Fast, reference and brute force agree on everything, or on there being nothing."""
    byte_automaton = compile_expr(parse(constraint) if isinstance(constraint, str) else constraint)
    brute = BruteForce(byte_automaton, vocabulary)
    if brute.is_empty:
        with pytest.raises(EmptyLanguage):
            complete(constraint, vocabulary)
        with pytest.raises(EmptyLanguage):
            Reference(byte_automaton, vocabulary)
        return
    fast, reference = complete(constraint, vocabulary), Reference(byte_automaton, vocabulary)
    triples = {(fast.start, reference.start, brute.start)}
    waiting = list(triples)
    while waiting:
        state, by_definition, byte_state = waiting.pop()
        tokens = brute.allowed(byte_state)
        context = constraint, vocabulary.tokens, state
        assert allowed(fast, state) == tokens, context
        assert reference.allowed(by_definition) == tokens, context
        final = brute.final[byte_state]
        assert fast.is_final(state) == reference.is_final(by_definition) == final, context
        assert fast.min_tokens(state) == brute.distance[byte_state], context
        check_step_over_end(fast, state, final)
        for token in tokens - set(vocabulary.eos_ids):
            triple = (
                fast.advance(state, token),
                reference.advance(by_definition, token),
                brute.steps[byte_state][token],
            )
            if triple not in triples:
                triples.add(triple)
                waiting.append(triple)
    # Every state but the one after the end is some place that tokens lead to: none is left over.
    assert {state for state, _, _ in triples} == set(range(fast.num_states - 1)), constraint


def check_step_over_end(automaton: FiniteTokenAutomaton, state: int, final: bool) -> None:
    for token in automaton.vocabulary.eos_ids:
        if final:
            assert automaton.advance(state, token) == automaton.end_state
        else:
            with pytest.raises(TokenNotAllowed):
                automaton.advance(state, token)


PATTERNS = ["(ab)*", "[ab]+c?", r".*", r"(.|\n)*", "a{3}|b"]


STORAGES: dict[str, Callable[[FiniteTokenAutomaton], FiniteTokenAutomaton]] = {
    "dense": lambda automaton: automaton,
    "csr": as_csr,
}


def target(automaton: FiniteTokenAutomaton, state: int, token: int) -> int:
    try:
        reached: int = automaton.advance(state, token)
    except TokenNotAllowed:
        return -1
    return reached
