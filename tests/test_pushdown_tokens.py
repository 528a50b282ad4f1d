"""Pushdown automata over tokens allow exactly what can be completed, whatever tokens cross.

The oracle runs the automaton over bytes one step at a time, with whole stacks. Its automata lead on from every
configuration to an end, so a token is allowed exactly if its bytes can be read.
"""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from automaton_files import forge
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from kinds import complete
from pushdown_cases import Configuration, Oracle, Unbounded, ambiguous, brackets, json, naive, nested, sums, to
from pushdown_token_cases import BYTES, allowed_tokens, named_middle
from safetensors import safe_open

import tokenfst
from automata import (
    AutomatonFileError,
    EmptyLanguage,
    Expr,
    NondeterministicGrammar,
    TokenNotAllowed,
    TooManyConfigurations,
    UnknownTerminal,
    alternation,
    concat,
    literal,
)
from automata.pushdown.automaton import PushdownAutomaton
from constraints import grammar
from tokenfst import Vocabulary
from tokenfst.pushdown.automaton import PushdownTokenAutomaton
from tokenfst.token_automaton import State

CASES: dict[str, Callable[[], PushdownAutomaton]] = {
    "nested": nested,
    "brackets": brackets,
    "json": json,
    "sums": sums,
    "ambiguous": ambiguous,
}


PIECES = {
    "nested": [b"aa", b"ab", b"aab", b"abb", b"bb", b"bbb", b"aaaa", b"ba"],
    "brackets": [b"()", b"([", b"])", b")(", b"))", b"]]]", b"(((", b")]", b"[](", b"())"],
    "json": [b'"}', b'{"', b'":', b'", "', b"}}", b"]}", b'"]}', b"[[", b"]]", b"1,", b"12", b"true", b"e}", b'{"a":'],
    "sums": [b"((", b"))", b"a(", b"ab", b"),", b"1+", b")*(", b"),(", b"-(-", b"()", b"a,b)"],
    "ambiguous": [b"aa", b"a(", b")a", b"))", b"((", b"(a)"],
}


def _vocabulary(name: str) -> Vocabulary:
    return Vocabulary([*BYTES, *PIECES[name], b"", PIECES[name][0]], [256 + len(PIECES[name])])


def _allowed(oracle: Oracle, configurations: frozenset[Configuration], vocabulary: Vocabulary) -> set[int]:
    """The tokens whose bytes can be read, and the end tokens if the text may end."""
    found = {token for token, text in enumerate(vocabulary.tokens) if text and oracle.read(configurations, text)}
    return found | set(vocabulary.eos_ids if oracle.may_end(configurations) else ())


@pytest.mark.parametrize("name", CASES)
def test_masks_are_what_brute_force_allows(name: str) -> None:
    automaton, vocabulary = CASES[name](), _vocabulary(name)
    tokens, oracle = complete(automaton, vocabulary), Oracle(automaton)
    draw = random.Random(name)
    ended = 0
    for _ in range(25):
        state, configurations = tokens.start, oracle.start
        for _ in range(30):
            allowed = _allowed(oracle, configurations, vocabulary)
            assert allowed_tokens(tokens, state) == allowed
            assert tokens.is_final(state) == oracle.may_end(configurations)
            # Pieces and ends as often as single bytes.
            pieces = [token for token in allowed if token >= len(BYTES)]
            token = draw.choice(pieces if pieces and draw.random() < 0.6 else sorted(allowed))
            refused = draw.choice(sorted(set(range(len(vocabulary))) - allowed))
            with pytest.raises(TokenNotAllowed):
                tokens.advance(state, refused)
            state = tokens.advance(state, token)
            if token in vocabulary.eos_ids:
                assert state == tokens.end_state
                assert allowed_tokens(tokens, state) == set(vocabulary.eos_ids)
                ended += 1
                break
            configurations = oracle.read(configurations, vocabulary.tokens[token])
            if len(configurations) > 6:
                break
    assert ended > 2


@pytest.mark.parametrize("name", CASES)
def test_min_tokens_is_the_length_of_the_shortest_way(name: str) -> None:
    tokens = complete(CASES[name](), _vocabulary(name))
    one_of_class = {int(number): token for token, number in enumerate(tokens.token_class) if number}
    draw = random.Random(name)
    state = tokens.start
    for _ in range(12):
        assert tokens.min_tokens(state) == _shortest(tokens, state, one_of_class)
        allowed = sorted(allowed_tokens(tokens, state) - {256 + len(PIECES[name])})
        if allowed:
            following = tokens.advance(state, draw.choice(allowed))
            state = following if tokens.min_tokens(following) < 7 else tokens.start
    assert tokens.min_tokens(tokens.end_state) == 0


def _shortest(tokens: PushdownTokenAutomaton, state: State, one_of_class: dict[int, int]) -> int:
    """By going everywhere, breadth first."""
    reached, length = {state}, 0
    while tokens.end_state not in reached:
        following = set()
        for before in reached:
            allowed = set(tokens.token_class[tokens.mask(before)].tolist())
            for number in allowed:
                with suppress(TooManyConfigurations):
                    following.add(tokens.advance(before, one_of_class[number]))
        reached, length = following, length + 1
    return length


RANDOM_TOKENS = [b"a", b"b", b"c", b"aa", b"ab", b"ba", b"bb", b"cc", b"abc", b"bcb", b"ccc", b"baab", b"cbab", b""]


@st.composite
def _rules(draw: st.DrawFn) -> dict[str, Expr]:
    """Rules each of whose choices begins with a byte, and one of whose choices calls nothing."""
    names = "rst"[: draw(st.integers(1, 3))]
    pieces = st.sampled_from([literal("a"), literal("b"), literal("c"), *map(to, names)])
    firsts = st.sampled_from([literal(first) for first in ("a", "b", "c", "ab")])
    choices = st.builds(lambda first, rest: concat(first, *rest), firsts, st.lists(pieces, max_size=3))
    return {name: alternation(draw(firsts), *draw(st.lists(choices, max_size=3))) for name in names}


@given(_rules(), st.randoms(use_true_random=False))
@settings(max_examples=75)
def test_random_rules_allow_what_brute_force_does(rules: dict[str, Expr], draw: random.Random) -> None:
    vocabulary = Vocabulary(RANDOM_TOKENS, [len(RANDOM_TOKENS) - 1])
    try:
        automaton = naive(rules, "r", 50)
    except Unbounded:
        assume(False)
    tokens, oracle = complete(automaton, vocabulary), Oracle(automaton)
    for _ in range(3):
        state, configurations = tokens.start, oracle.start
        for _ in range(7):
            allowed = _allowed(oracle, configurations, vocabulary)
            assert allowed_tokens(tokens, state) == allowed
            assert len(state) == len(configurations)
            going_on = sorted(allowed - set(vocabulary.eos_ids))
            if not going_on or len(configurations) > 20:
                break
            token = draw.choice(going_on)
            state, configurations = tokens.advance(state, token), oracle.read(configurations, vocabulary.tokens[token])


# Stacks


@pytest.mark.parametrize("depth", [0, 1, 2, 3, 5])
@pytest.mark.parametrize("name", CASES)
def test_within_a_depth_all_that_is_allowed_can_be_completed(name: str, depth: int) -> None:
    vocabulary = _vocabulary(name)
    tokens, oracle = complete(CASES[name](), vocabulary), Oracle(CASES[name]())
    bounded = _Bounded(oracle, depth)
    if not bounded.can_end(oracle.start):
        with pytest.raises(EmptyLanguage):
            tokens.within(depth)
        return
    tokens, draw = tokens.within(depth), random.Random(name)
    for _ in range(8):
        state, configurations = tokens.start, oracle.start
        for _ in range(12):
            if len(configurations) > 4:
                break
            after = {token: oracle.read(configurations, text) for token, text in enumerate(vocabulary.tokens) if text}
            low = {token: bounded.low(found) for token, found in after.items()}
            allowed = {token for token, found in low.items() if found}
            assert allowed_tokens(tokens, state) - set(vocabulary.eos_ids) == allowed
            token = draw.choice(sorted(allowed) or [-1])
            if token < 0:
                break
            state, configurations = tokens.advance(state, token), low[token]


class _Bounded:
    """What can be completed byte by byte with a stack of at most so many symbols."""

    def __init__(self, oracle: Oracle, depth: int) -> None:
        self.oracle, self.depth = oracle, depth
        self.known: dict[Configuration, bool] = {}

    def low(self, configurations: frozenset[Configuration]) -> frozenset[Configuration]:
        return frozenset(one for one in configurations if self.can_end(frozenset([one])))

    def can_end(self, configurations: frozenset[Configuration]) -> bool:
        """Whether one configuration can be completed; several are looked at one by one."""
        (start,) = configurations
        if start not in self.known:
            seen, todo, found = {start}, [start], False
            while todo and not found:
                here = todo.pop()
                if len(here[1]) > self.depth:
                    continue
                found = self.oracle.may_end([here]) or self.known.get(here, False)
                for column in range(self.oracle.automaton.num_classes):
                    following = self.oracle.column([here], column) - seen
                    seen |= following
                    todo += following
            self.known[start] = found
        return self.known[start]


def test_deep_nesting_neither_recurses_nor_slows_down() -> None:
    vocabulary = Vocabulary([b"a", b"b", b"aa", b"bb", b""], [4])
    automaton, depth = complete(nested(), vocabulary), 10_000
    state = automaton.start
    for _ in range(depth):
        state = automaton.advance(state, 0)
    again = automaton.start
    for _ in range(depth // 2):
        again = automaton.advance(again, 2)
    assert again == state
    assert hash(again) == hash(state)
    assert automaton.advance(state, 0) != state
    assert len(repr(state)) < 200
    assert pickle.loads(pickle.dumps(state)) == state
    assert copy.deepcopy(state) == state
    assert automaton.min_tokens(state) == depth // 2 + 1
    for _ in range(depth // 2):
        state = automaton.advance(state, 3)
    assert automaton.is_final(state)
    assert automaton.within(depth).accepts([0] * depth + [1] * depth)
    assert not automaton.within(depth - 2).accepts([0] * depth + [1] * depth)


def test_branches_leave_each_other_alone() -> None:
    automaton = complete(brackets(), _vocabulary("brackets"))
    state = automaton.start
    for byte in b"([[(":
        state = automaton.advance(state, byte)
    kept, mask = state, automaton.mask(state)
    closed = state
    for byte in b")]])":
        closed = automaton.advance(closed, byte)
    other = automaton.advance(kept, ord("["))
    assert automaton.is_final(closed)
    assert not automaton.is_final(other)
    assert {kept: 1}[state] == 1
    assert (automaton.mask(kept) == mask).all()


def test_too_many_derivations_are_an_error() -> None:
    # Whether x or y comes back is open for each a.
    choices = ("a" + to("s") + "x") | ("a" + to("t") + "y") | literal("b")
    automaton = complete(naive({"s": choices, "t": choices}, "s", 4), Vocabulary([b"a", b"b", b"x", b"y"]))
    assert automaton.accepts([0, 0, 1, 2, 3])
    with pytest.raises(TooManyConfigurations, match="more derivations side by side than the 4"):
        automaton.accepts([0, 0, 0, 1, 2, 3, 2])


def test_a_grammar_has_no_canonical_tokenization() -> None:
    with pytest.raises(ValueError, match="canonical"):
        tokenfst.compile(nested(), _vocabulary("nested"), tokenization="canonical")


# Tokens by their names


def test_a_label_is_taken_by_the_tokens_of_its_set() -> None:
    vocabulary = Vocabulary([b"a", b"b", b"aa", b"bb", b"", b"", b"c"], [4], special_tokens={"x": 5})
    automaton = complete(named_middle(), vocabulary)
    assert automaton.accepts([0, 2, 5, 3, 1, 4])
    assert not automaton.accepts([0, 5, 3])
    assert not automaton.accepts([0, 6, 1])
    assert allowed_tokens(automaton, automaton.advance(automaton.start, 2)) == {0, 2, 5}
    named = complete(named_middle(), vocabulary, terminals={"x": [5, 6]})
    assert named.accepts([0, 6, 1])
    assert named.accepts([5])


def test_a_token_that_is_read_and_named_has_two_ways() -> None:
    vocabulary = Vocabulary([b"a", b"b", b""], [2])
    with pytest.raises(NondeterministicGrammar, match="b'a'"):
        complete(named_middle(), vocabulary, terminals={"x": [0]})
    automaton = complete(named_middle(3), vocabulary, terminals={"x": [0]})
    for inner in range(4):
        assert automaton.accepts([0] * (inner + 1) + [1] * inner)
        assert not automaton.accepts([0] * inner + [1] * inner)


def test_a_name_that_nobody_defines_is_unknown() -> None:
    with pytest.raises(UnknownTerminal):
        complete(named_middle(), Vocabulary([b"a", b"b"]))


# Files


@pytest.mark.parametrize("name", CASES)
def test_a_saved_automaton_reads_back(name: str, tmp_path: Path) -> None:
    vocabulary = _vocabulary(name)
    tokens = complete(CASES[name](), vocabulary).within(9)
    tokens.save(tmp_path / "a.safetensors")
    read: Any = tokenfst.load_automaton(tmp_path / "a.safetensors", vocabulary)
    assert (read.max_depth, read.at_text_start, read.start) == (9, False, tokens.start)
    draw, state = random.Random(0), tokens.start
    for _ in range(20):
        assert (read.mask(state) == tokens.mask(state)).all()
        token = draw.choice(sorted(allowed_tokens(tokens, state)))
        assert read.advance(state, token) == tokens.advance(state, token)
        state = tokens.advance(state, token)


DAMAGES: dict[str, Callable[[dict[str, Any]], object]] = {
    "an array is missing": lambda arrays: arrays.pop("move_room"),
    "no sizes": lambda arrays: arrays.pop("sizes"),
    "a target outside": lambda arrays: arrays["move_target"].__setitem__(0, 99),
    "a child outside": lambda arrays: arrays["child_node"].__setitem__(0, 9999),
    "a child of no symbol": lambda arrays: arrays["child_symbol"].__setitem__(0, 5),
    "a child of no node": lambda arrays: arrays["child_offsets"].__setitem__(-1, 0),
    "a tree with a circle": lambda arrays: arrays["child_node"].__setitem__(slice(None), 0),
    "a pop too many": lambda arrays: arrays["move_pops"].__setitem__(0, 2),
    "classes out of order": lambda arrays: arrays["edge_class"].__setitem__(slice(None), 1),
    "a symbol outside": lambda arrays: arrays["push_symbols"].__setitem__(0, 5),
    "offsets that fall": lambda arrays: arrays["row_offsets"].__setitem__(1, 9999),
    "a type": lambda arrays: arrays.__setitem__("move_room", arrays["move_room"].astype(np.int64)),
    "runs that end early": lambda arrays: arrays["run_end"].__setitem__(-1, 3),
    "more symbols than are used": lambda arrays: arrays["sizes"].__setitem__(1, 1 << 30),
    "no states": lambda arrays: arrays["sizes"].__setitem__(0, 0),
    "a depth that is not known": lambda arrays: arrays.update(
        max_depth=np.array([3], np.int32), lacks_bytes=np.array([1], np.int32)
    ),
    "a depth below none": lambda arrays: arrays.update(max_depth=np.array([-2], np.int32)),
    "several moves": lambda arrays: arrays["sizes"].__setitem__(5, 0),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_tables_that_do_not_fit_together_are_refused(damage: str, tmp_path: Path) -> None:
    vocabulary = _vocabulary("brackets")
    path = tmp_path / "a.safetensors"
    complete(brackets(), vocabulary).save(path)
    with safe_open(str(path), "numpy") as file:
        arrays, header = {name: file.get_tensor(name) for name in file.keys()}, file.metadata()  # noqa: SIM118
    forge(path, arrays, header)
    tokenfst.load_automaton(path, vocabulary)
    DAMAGES[damage](arrays)
    forge(path, arrays, header)
    with pytest.raises(AutomatonFileError):
        tokenfst.load_automaton(path, vocabulary)


def test_too_many_configurations_are_noticed_where_bytes_lack() -> None:
    vocabulary = Vocabulary([b"[", b"]", b"x", b"i", b"e", b""], eos_ids=[5])
    rules = grammar('root ::= "[" a "]"\na ::= "x" | "i" a ("e" a)?', ambiguity="parallel")
    automaton = complete(rules, vocabulary)
    assert automaton.accepts([0, *[3] * 8, 2, 1])
    with pytest.raises(TooManyConfigurations):
        automaton.accepts([0, *[3] * 9, 2, 1])
