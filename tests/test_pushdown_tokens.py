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
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from kinds import complete
from pushdown_cases import Configuration, Oracle, Unbounded, ambiguous, brackets, json, naive, nested, sums, to
from safetensors import safe_open
from safetensors.numpy import save_file

import tokenfst
from automata import (
    AutomatonFileError,
    EmptyLanguage,
    Expr,
    GrammarError,
    NondeterministicGrammar,
    TokenNotAllowed,
    TooManyConfigurations,
    UnknownTerminal,
    UnsupportedTokenizer,
    VocabularyError,
    alternation,
    concat,
    literal,
    repeat,
)
from automata.expressions.extensions import token
from automata.pushdown.automaton import PushdownAutomaton
from constraints import grammar
from tokenfst import Vocabulary, from_tekken
from tokenfst.pushdown.automaton import PushdownTokenAutomaton, State
from tokenfst.vocabulary.text_start import TextStart

CASES: dict[str, Callable[[], PushdownAutomaton]] = {
    "nested": nested,
    "brackets": brackets,
    "json": json,
    "sums": sums,
    "ambiguous": ambiguous,
}
BYTES = [bytes([byte]) for byte in range(256)]
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


def _set(automaton: PushdownTokenAutomaton, state: object) -> set[int]:
    return set(np.flatnonzero(automaton.mask(state)).tolist())


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
            assert _set(tokens, state) == allowed
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
                assert _set(tokens, state) == set(vocabulary.eos_ids)
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
        allowed = sorted(_set(tokens, state) - {256 + len(PIECES[name])})
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
@settings(max_examples=300)
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
            assert _set(tokens, state) == allowed
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
            assert _set(tokens, state) - set(vocabulary.eos_ids) == allowed
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


# A real vocabulary


@pytest.fixture(scope="module")
def tekken() -> Vocabulary:
    return from_tekken(str(files("mistral_common") / "data" / "tekken_240911.json"))


def test_walks_over_a_real_vocabulary(tekken: Vocabulary) -> None:
    automaton = json()
    tokens, oracle, draw = complete(automaton, tekken), Oracle(automaton), random.Random(3)
    for _ in range(3):
        state, configurations = tokens.start, oracle.start
        for _ in range(12):
            mask = tokens.mask(state)
            allowed = np.flatnonzero(mask)
            probes = draw.sample(range(len(tekken)), 150) + draw.choices(allowed.tolist(), k=50)
            for probe in probes:
                readable = bool(tekken.tokens[probe]) and bool(oracle.read(configurations, tekken.tokens[probe]))
                assert mask[probe] == (readable or (probe in tekken.eos_ids and oracle.may_end(configurations)))
            structural = [token for token in allowed.tolist() if set(tekken.tokens[token]) & set(b'{}[]",:')]
            token = draw.choice(structural or allowed.tolist())
            if token in tekken.eos_ids:
                break
            state, configurations = tokens.advance(state, token), oracle.read(configurations, tekken.tokens[token])


# Texts by themselves

_SPACE, _PIECES = 32, 256
RULES = {
    "space": TextStart(),
    "space, as SentencePiece": TextStart(exceptions={_PIECES: b" "}, ignored=frozenset({_SPACE})),
    "prefix": TextStart(b"(", {_PIECES + 1: b"", _PIECES + 2: b"([("}, ignored=frozenset({_PIECES + 3})),
    "all are exceptions": TextStart(b"[", {_PIECES + at: b"[" * at for at in range(5)}),
}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("case", [brackets, json])
def test_texts_by_themselves_are_what_the_decoder_writes(rule: str, case: Callable[[], PushdownAutomaton]) -> None:
    tokens = [*BYTES, b" (", b"([", b" [[", b"()", b'[""', b")]", b"[1", b"]]", b""]
    vocabulary = Vocabulary(tokens, [len(tokens) - 1], text_start=RULES[rule])
    oracle = Oracle(case())
    automaton = complete(case(), vocabulary, at_text_start=True)
    useful = [token for token, text in enumerate(tokens) if text and set(text) <= set(b' ()[]"1')]
    draw, accepted = random.Random(rule), 0
    for _ in range(150):
        state, written = automaton.start, list[int]()
        for _ in range(6):
            assert automaton.is_final(state) == oracle.accepts(automaton.text(written))
            accepted += automaton.is_final(state)
            allowed = _set(automaton, state)
            for following in useful:
                text = automaton.text([*written, following])
                assert (following in allowed) == bool(oracle.read(oracle.start, text)), text
            token = draw.choice(sorted(allowed & set(useful)) or [-1])
            if token < 0:
                break
            state = automaton.advance(state, token)
            written.append(token)
    assert accepted


def test_a_text_by_itself_may_not_begin_with_a_named_token() -> None:
    vocabulary = Vocabulary([b"a", b"b", b""], special_tokens={"x": 2}, text_start=TextStart())
    with pytest.raises(UnsupportedTokenizer, match="'x'"):
        complete(_calls(), vocabulary, at_text_start=True)
    inside = naive({"t": ("a" + to("t") + "b") | ("c" + token("x"))}, "t")
    assert complete(
        inside,
        Vocabulary([b" a", b"b", b"c", b"a", b""], special_tokens={"x": 4}, text_start=TextStart()),
        at_text_start=True,
    ).accepts([0, 2, 4, 1])


# Vocabularies that lack bytes

LACKING: dict[str, tuple[Callable[[], PushdownAutomaton], list[bytes]]] = {
    "no way out of one bracket": (brackets, [b"(", b")", b"["]),
    "only both together": (brackets, [b"()", b"[", b"]", b")"]),
    "one bracket in pairs": (brackets, [b"(", b")", b"[", b"]]", b"[["]),
    "letters are missing": (json, [*(bytes([byte]) for byte in b'{}[]:,"123-.et'), b"tr", b"ue", b'"}', b"fals"]),
}


@pytest.mark.parametrize("name", LACKING)
def test_what_cannot_be_completed_is_not_allowed(name: str) -> None:
    case, tokens = LACKING[name]
    vocabulary, oracle = Vocabulary([*tokens, b""], [len(tokens)]), Oracle(case())
    automaton = complete(case(), vocabulary)
    draw, refused = random.Random(name), 0
    for _ in range(6):
        state, configurations = automaton.start, oracle.start
        for _ in range(8):
            readable = {token: oracle.read(configurations, text) for token, text in enumerate(tokens)}
            allowed = {token for token, after in readable.items() if _can_end(oracle, after, tuple(tokens))}
            refused += len(allowed) < sum(map(bool, readable.values()))
            assert _set(automaton, state) - {len(tokens)} == allowed
            assert automaton.is_final(state) == oracle.may_end(configurations)
            if not allowed:
                break
            token = draw.choice(sorted(allowed))
            state, configurations = automaton.advance(state, token), readable[token]
    assert bool(refused) == (name in ("no way out of one bracket", "letters are missing"))


@cache
def _can_end(oracle: Oracle, configurations: frozenset[Configuration], tokens: tuple[bytes, ...]) -> bool:
    """Whether some tokens lead to an end without a stack that is much higher than it is."""
    highest = max((len(stack) for _, stack in configurations), default=0) + 2
    seen, todo = {configurations}, [configurations]
    while todo:
        here = todo.pop()
        if oracle.may_end(here):
            return True
        after = {oracle.read(here, text) for text in tokens} - seen - {frozenset()}
        low = [found for found in after if all(len(stack) <= highest for _, stack in found)]
        seen.update(low)
        todo += low
    return False


def test_dead_ends_that_depend_on_the_stack_are_refused() -> None:
    # After an odd number of a the last bb is one b too many.
    with pytest.raises(GrammarError, match="nested"):
        complete(nested(), Vocabulary([b"a", b"bb"]))


def test_a_depth_needs_all_bytes(tmp_path: Path) -> None:
    vocabulary = Vocabulary([b"a", b"ab", b"b"])
    assert complete(nested(), vocabulary).within(3).accepts([0, 1, 2])
    lacking = Vocabulary([b"a", b"bb", b"abb"])
    automaton = complete(naive({"s": concat("a", repeat(to("s"), 0, 1), "bb")}, "s"), lacking)
    automaton.save(tmp_path / "a.safetensors")
    read = tokenfst.load_automaton(tmp_path / "a.safetensors", lacking)
    assert read.accepts([0, 2, 1])
    with pytest.raises(VocabularyError, match="depth"):
        read.within(3)


def test_a_vocabulary_that_spells_no_text_is_refused() -> None:
    with pytest.raises(EmptyLanguage):
        complete(nested(), Vocabulary([b"a", b"c"]))
    with pytest.raises(EmptyLanguage):
        complete(_calls(), Vocabulary([b"a", b"b"]), terminals={"x": []})


# Tokens by their names


def _calls(max_configurations: int = 1) -> PushdownAutomaton:
    """t = a t b | <x>; an x token stands in the middle, whatever it writes."""
    return naive({"t": ("a" + to("t") + "b") | token("x")}, "t", max_configurations)


def test_a_label_is_taken_by_the_tokens_of_its_set() -> None:
    vocabulary = Vocabulary([b"a", b"b", b"aa", b"bb", b"", b"", b"c"], [4], special_tokens={"x": 5})
    automaton = complete(_calls(), vocabulary)
    assert automaton.accepts([0, 2, 5, 3, 1, 4])
    assert not automaton.accepts([0, 5, 3])
    assert not automaton.accepts([0, 6, 1])
    assert _set(automaton, automaton.advance(automaton.start, 2)) == {0, 2, 5}
    named = complete(_calls(), vocabulary, terminals={"x": [5, 6]})
    assert named.accepts([0, 6, 1])
    assert named.accepts([5])


def test_a_token_that_is_read_and_named_has_two_ways() -> None:
    vocabulary = Vocabulary([b"a", b"b", b""], [2])
    with pytest.raises(NondeterministicGrammar, match="b'a'"):
        complete(_calls(), vocabulary, terminals={"x": [0]})
    automaton = complete(_calls(3), vocabulary, terminals={"x": [0]})
    for inner in range(4):
        assert automaton.accepts([0] * (inner + 1) + [1] * inner)
        assert not automaton.accepts([0] * inner + [1] * inner)


def test_a_name_that_nobody_defines_is_unknown() -> None:
    with pytest.raises(UnknownTerminal):
        complete(_calls(), Vocabulary([b"a", b"b"]))


# Files


@pytest.mark.parametrize("name", CASES)
def test_a_saved_automaton_reads_back(name: str, tmp_path: Path) -> None:
    vocabulary = _vocabulary(name)
    tokens = complete(CASES[name](), vocabulary).within(9)
    tokens.save(tmp_path / "a.safetensors")
    read = tokenfst.load_automaton(tmp_path / "a.safetensors", vocabulary)
    assert (read.max_depth, read.at_text_start, read.start) == (9, False, tokens.start)
    draw, state = random.Random(0), tokens.start
    for _ in range(20):
        assert (read.mask(state) == tokens.mask(state)).all()
        token = draw.choice(sorted(_set(tokens, state)))
        assert read.advance(state, token) == tokens.advance(state, token)
        state = tokens.advance(state, token)


DAMAGES: dict[str, Callable[[dict[str, Any]], object]] = {
    "an array is missing": lambda arrays: arrays.pop("move_room"),
    "no sizes": lambda arrays: arrays.pop("sizes"),
    "a target outside": lambda arrays: arrays["move_target"].__setitem__(0, 99),
    "a child outside": lambda arrays: arrays["child"].__setitem__((0, 0), 9999),
    "a tree with a circle": lambda arrays: arrays["child"].__setitem__((0, 0), 0),
    "a pop too many": lambda arrays: arrays["move_pops"].__setitem__(0, 2),
    "classes out of order": lambda arrays: arrays["edge_class"].__setitem__(slice(None), 1),
    "a symbol outside": lambda arrays: arrays["push_symbols"].__setitem__(0, 5),
    "offsets that fall": lambda arrays: arrays["row_offsets"].__setitem__(1, 9999),
    "a type": lambda arrays: arrays.__setitem__("move_room", arrays["move_room"].astype(np.int64)),
    "runs that end early": lambda arrays: arrays["run_end"].__setitem__(-1, 3),
    "no states": lambda arrays: arrays["sizes"].__setitem__(0, 0),
    "a depth that is not known": lambda arrays: arrays.update(max_depth=np.int32([3]), lacks_bytes=np.int32([1])),
    "a depth below none": lambda arrays: arrays.update(max_depth=np.int32([-2])),
    "several moves": lambda arrays: arrays["sizes"].__setitem__(5, 0),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_tables_that_do_not_fit_together_are_refused(damage: str, tmp_path: Path) -> None:
    vocabulary = _vocabulary("brackets")
    path = tmp_path / "a.safetensors"
    complete(brackets(), vocabulary).save(path)
    with safe_open(str(path), "numpy") as file:
        arrays, header = {name: file.get_tensor(name) for name in file.keys()}, file.metadata()  # noqa: SIM118
    save_file(arrays, str(path), header)
    tokenfst.load_automaton(path, vocabulary)
    DAMAGES[damage](arrays)
    save_file(arrays, str(path), header)
    with pytest.raises(AutomatonFileError):
        tokenfst.load_automaton(path, vocabulary)


def test_too_many_configurations_are_noticed_where_bytes_lack() -> None:
    vocabulary = Vocabulary([b"[", b"]", b"x", b"i", b"e", b""], eos_ids=[5])
    rules = grammar('root ::= "[" a "]"\na ::= "x" | "i" a ("e" a)?', ambiguity="parallel")
    automaton = complete(rules, vocabulary)
    assert automaton.accepts([0, *[3] * 8, 2, 1])
    with pytest.raises(TooManyConfigurations):
        automaton.accepts([0, *[3] * 9, 2, 1])
