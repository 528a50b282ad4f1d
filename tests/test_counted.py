"""Automata with a register are the automata with their repetitions written out.

On small bounds, where both can be made, they are walked together through every pair of states that some text, or some
sequence of tokens, leads to. Both are trim and deterministic, so they accept the same if neither takes a step that the
other refuses and both end together: no text is too long for this check.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import load_file, save_file
from strategies import BruteForce, strings, vocabularies

import tokenfst
from automata import (
    ANY_CHAR,
    EMPTY,
    Expr,
    alternation,
    char_set,
    compile_expr,
    complement,
    concat,
    difference,
    intersection,
    literal,
    parse,
    repeat,
)
from automata.counted import CountedByteAutomaton, compile_counted
from automata.errors import AutomatonFileError, Cancelled, EmptyLanguage, LimitExceeded, TokenNotAllowed
from automata.limits import Cancellation, Limits
from automata.register_distance import FAR
from decoding import AutomatonTensors
from tokenfst import TokenAutomaton, Vocabulary, from_tekken
from tokenfst.compile import from_bytes
from tokenfst.counted_automaton import CountedAutomaton, from_counted
from tokenfst.text_start import TextStart

E_ACUTE, EURO = "é".encode(), "€".encode()

# Patterns, each with a repetition that can be counted.
PATTERNS = [
    "a{2,5}", "a{0,6}", "a{6}", "(ab){2,3}", "(ab?){0,3}", "(a|ab){2,3}", "a{3,}", "b*a{3,}b*", ".*a{3,}.*",
    "a{0,3}b", "(a{0,3}b){0,2}", "(a{3})*", "(a{3}b?)*", "(a?){2,4}b", "b(a?b?){3,5}", "(a?){3,}b", "a{2,4}[ab]{1,3}",
    "a{0,3}[ab]{0,2}", "(a{2,3}|b{1,4})a", "(a{2,4}|b{1,3})+", "(aa|b){2,}a", "(a+b?){1,4}", "(a+ ?){1,4}",
    "((a|b){3}b)*", "a*(ab){2,3}", "[^b]{0,4}", '"[^"]{0,3}"', '"([^"é]|é€){2,4}"?', "(é|a){2,3}b", r"\s*[^b]{0,3}",
    "(a{2}){3}", "((a{0,3}b){2,4}a)?", "a{1,2}(ba{2,3}){0,2}", "(aa){2,3}(aa)*", "(a{5})|(b{2,4})", "[ab]{0,5}|a{2,9}b",
]  # fmt: skip
# Patterns in which every count that is left over would need another one at the same time.
AMBIGUOUS = [".*a{2}", "(a|aa){2,3}", "(a{2,3}b?a?){2,3}"]


def counted(constraint: str | Expr) -> CountedByteAutomaton | None:
    return compile_counted(parse(constraint) if isinstance(constraint, str) else constraint, threshold=0)


def certainly_counted(pattern: str) -> CountedByteAutomaton:
    automaton = counted(pattern)
    assert automaton is not None, pattern
    return automaton


# Bytes


@pytest.mark.parametrize("pattern", PATTERNS)
def test_counted_automata_accept_what_re_matches(pattern: str) -> None:
    automaton, matcher = certainly_counted(pattern), re.compile(pattern.encode() if pattern.isascii() else pattern)
    if not pattern.isascii():
        texts = ["".join(letters) for length in range(7) for letters in product('aé€b"', repeat=length)]
        assert [text for text in texts if automaton.accepts(text.encode())] == list(filter(matcher.fullmatch, texts))
        return
    alphabet = bytes(sorted(set(pattern.encode()) & set(b'ab" ')))
    for text in strings(alphabet, 14 if len(alphabet) == 1 else 9):
        assert automaton.accepts(text) == bool(matcher.fullmatch(text)), text


def check_bytes(expr: Expr) -> None:
    """The counted automaton, if there is one, and the one written out are one language."""
    automaton = compile_counted(expr, threshold=0)
    if automaton is None:
        return
    written_out = compile_expr(expr)
    assert automaton.is_empty == written_out.is_empty
    table, classes = written_out.next.tolist(), written_out.byte_class.tolist()
    # One byte for each pair of classes.
    bytes_of = {(int(automaton.byte_class[byte]), classes[byte]): byte for byte in range(256)}
    pairs = {((automaton.start, 0), written_out.start)} if not automaton.is_empty else set()
    waiting = list(pairs)
    while waiting:
        (state, register), other = waiting.pop()
        assert (0 <= automaton.final_from[state] <= register) == written_out.final[other]
        for (_, column), byte in bytes_of.items():
            reached, expected = automaton.step(state, register, byte), table[other][column]
            assert (reached is None) == (expected < 0), (expr, state, register, byte)
            if reached is not None and (reached, expected) not in pairs:
                assert 0 <= reached[1] <= automaton.max_register
                pairs.add((reached, expected))
                waiting.append((reached, expected))


def _exprs() -> st.SearchStrategy[Expr]:
    leaves = st.one_of(
        st.sampled_from([literal("a"), literal("b"), literal("ab"), literal("é"), ANY_CHAR, EMPTY]),
        st.sampled_from([char_set("ab"), char_set("aé€"), char_set("a", negated=True)]),
    )
    bounds = st.sampled_from([*((m, n) for m in range(7) for n in range(m, 7) if n), (0, None), (1, None), (3, None)])

    def larger(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
        return st.one_of(
            st.lists(inner, min_size=1, max_size=3).map(lambda parts: concat(*parts)),
            st.lists(inner, min_size=1, max_size=3).map(lambda parts: alternation(*parts)),
            st.builds(lambda part, pair: repeat(part, *pair), inner, bounds),
            st.builds(lambda part, pair: repeat(part, *pair), inner, bounds),
            st.builds(intersection, inner, inner),
            st.builds(difference, inner, inner),
        )

    return st.recursive(leaves, larger, max_leaves=6)


EXPRS = _exprs().filter(lambda expr: expr.size < 2000)


@settings(max_examples=600)
@given(EXPRS)
def test_random_expressions_are_one_language_counted_and_written_out(expr: Expr) -> None:
    check_bytes(expr)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns_are_one_language_counted_and_written_out(pattern: str) -> None:
    check_bytes(parse(pattern))


@pytest.mark.parametrize("pattern", AMBIGUOUS)
def test_what_needs_two_counts_is_written_out(pattern: str) -> None:
    assert counted(pattern) is None


def test_only_what_is_ambiguous_is_written_out() -> None:
    automaton = certainly_counted("(ab){0,6}c.*a{2}")
    assert automaton.max_register == 6
    check_bytes(parse("(ab){0,6}c.*a{2}"))


def test_the_largest_of_nested_bounds_is_counted() -> None:
    assert certainly_counted("((a{5}b){2,4}c){3}").max_register == 5
    assert certainly_counted("((a{2}b){2,7}c){3}").max_register == 7
    assert certainly_counted("((a{2}b){2,4}c){9}").max_register == 9


def test_small_repetitions_are_not_counted() -> None:
    assert compile_counted(parse("a{0,300}")) is None
    assert compile_counted(parse("a{0,301}")) is not None
    assert compile_counted(parse("(abcd){0,76}")) is not None
    assert compile_counted(parse("a*b+c?")) is None


PRODUCTS = [
    parse("[ab]{2,5}") & "abab",
    parse("[ab]{3,5}") & parse("a*b|b*a"),
    parse("[ab]{4,6}") & parse("b*|a{2}"),
    parse("[ab]{2,6}") & parse("(ab)*a?"),
    parse("[ab]{3,}") - parse(".*aa.*"),
    parse("(ab?){2,5}") - parse("(ab)*"),
    concat('"', parse('[^"]{0,4}') & parse(".*b.*"), '"'),
    repeat(concat(parse("[ab]{1,3}") - "ab", ","), 0, None),
    (parse("[ab]{0,5}") & parse("a.*")) - parse(".*b"),
    parse("[ab]{2,4}") & parse("c*"),
]


@pytest.mark.parametrize("expr", PRODUCTS, ids=str)
def test_intersections_and_differences_are_counted(expr: Expr) -> None:
    assert counted(expr) is not None
    check_bytes(expr)


def test_one_side_of_an_intersection_is_counted() -> None:
    both_sides = parse("[ab]{2,4}") & parse("a{0,3}")
    automaton = counted(both_sides)
    assert automaton is not None
    assert automaton.max_register == 4
    check_bytes(both_sides)
    large = compile_counted(parse(r"[^\"]{0,100000}") & parse(r"(\w+ ?)*"))
    assert large is not None
    assert len(large.arcs) < 30
    assert [large.accepts(b"a" * length) for length in (0, 100_000, 100_001)] == [True, True, False]


def test_where_an_intersection_leaves_single_counts_all_is_written_out() -> None:
    assert compile_counted(parse("[ab]{4000}") & parse("(..)*")) is None
    assert counted(complement(parse("a{2,4}"))) is None


def test_bounds_may_be_very_large() -> None:
    automaton = compile_counted(parse("[a-z]{1000000,1000000000}x?"))
    assert automaton is not None
    assert automaton.num_states < 5
    with pytest.raises(LimitExceeded, match="counts to"):
        compile_counted(repeat("a", 0, 10**10))


# Tokens

VOCABULARIES = {
    "bytes": Vocabulary([b"a", b"b", b'"', b" ", b"\xc3", b"\xa9", b""], [6]),
    "tokens across bounds": Vocabulary(
        [b"", b"a", b"aa", b"aaa", b"aaaaa", b"aab", b"ab", b"b", b"ba", b"abab", b"bb", b'"', b'"a', b'a"', b" a"], [0]
    ),
    "every byte": Vocabulary(
        [*(bytes([byte]) for byte in range(256)), b"ab", b"aaa", b"", E_ACUTE + b"a", b'a"', b"aa" + EURO[:2]], [258]
    ),
    "no byte a": Vocabulary([b"aa", b"b", b"ab", b"aab", b""], [4]),
    "pairs only": Vocabulary([b"aa", b"ab", b"ba", b"bb", b"aba", b""], [5]),
    "triples only": Vocabulary([b"aaa", b"b", b"aba", b"", b"aab"], [3]),
    "no end token": Vocabulary([b"a", b"b", b"ab", b"aaa"]),
    "several end tokens": Vocabulary([b"", b"a", b"b", b"a", b"baa", b""], [0, 3, 5]),
    "characters in parts": Vocabulary(
        [b"a", b"b", b"\xc3", b"\xa9", b"a\xc3", b"\xa9b", E_ACUTE, EURO[:2], EURO[2:], b"b" + EURO[:1], b"\xff", b""],
        [11],
    ),
}


def both(constraint: str | Expr, vocabulary: Vocabulary) -> tuple[TokenAutomaton, TokenAutomaton] | None:
    """The counted automaton and the one written out; None where nothing is counted or nothing can be written."""
    expr = parse(constraint) if isinstance(constraint, str) else constraint
    byte_automaton, written_out = compile_counted(expr, threshold=0), compile_expr(expr)
    if byte_automaton is None:
        return None
    if BruteForce(written_out, vocabulary).is_empty:
        with pytest.raises(EmptyLanguage):
            from_counted(byte_automaton, vocabulary)
        return None
    return from_counted(byte_automaton, vocabulary), from_bytes(written_out, vocabulary)


def check_tokens(automaton: TokenAutomaton, written_out: TokenAutomaton) -> list[tuple[int, int]]:
    """Masks, steps, ends and least numbers of tokens are equal wherever tokens lead; returns the pairs of states."""
    vocabulary = automaton.vocabulary
    pairs = {(automaton.start, written_out.start)}
    waiting = list(pairs)
    while waiting:
        state, other = waiting.pop()
        mask = automaton.mask(state)
        assert np.array_equal(mask, written_out.mask(other)), (vocabulary.tokens, state)
        assert automaton.is_final(state) == written_out.is_final(other)
        assert automaton.min_tokens(state) == written_out.min_tokens(other)
        assert (state == automaton.end_state) == (other == written_out.end_state)
        for token in range(len(vocabulary)):
            if not mask[token]:
                with pytest.raises(TokenNotAllowed):
                    automaton.advance(state, token)
                continue
            pair = automaton.advance(state, token), written_out.advance(other, token)
            if pair not in pairs:
                pairs.add(pair)
                waiting.append(pair)
    return sorted(pairs)


@pytest.mark.parametrize("name", VOCABULARIES)
def test_masks_and_steps_are_those_of_the_automaton_written_out(name: str) -> None:
    checked = 0
    for pattern in PATTERNS:
        automata = both(pattern, VOCABULARIES[name])
        if automata is not None:
            checked += 1
            check_tokens(*automata)
    assert checked > len(PATTERNS) / 2
    for expr in PRODUCTS:
        automata = both(expr, VOCABULARIES[name])
        if automata is not None:
            check_tokens(*automata)


TOKENS = [b" ", b" a", b"  ab", b"a", b"ab", b"b", b"  ", b"#a", b"", b"aaa", b" aa", b"bab"]
RULES = [
    TextStart(),
    TextStart(exceptions={10: b" ", 1: b"", 4: b"b"}, ignored=frozenset({0, 6})),
    TextStart(b"a", {2: b"aa", 9: b"b"}, ignored=frozenset({5})),
    TextStart(b"aaaaa"),
    TextStart(exceptions=dict(enumerate(TOKENS))),
]


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("bytes_too", [False, True])
def test_texts_of_their_own_are_counted_alike(rule: TextStart, bytes_too: bool) -> None:
    tokens = TOKENS + [bytes([byte]) for byte in range(256)] * bytes_too
    vocabulary, checked = Vocabulary(tokens, [8], text_start=rule), 0
    for expr in [*map(parse, PATTERNS), *PRODUCTS, *(parse(f" ?(?:{pattern})") for pattern in PATTERNS)]:
        automaton = counted(expr)
        assert automaton is not None
        try:
            written_out = from_bytes(compile_expr(expr), vocabulary, at_text_start=True)
        except EmptyLanguage:
            with pytest.raises(EmptyLanguage):
                from_counted(automaton, vocabulary, at_text_start=True)
            continue
        check_tokens(from_counted(automaton, vocabulary, at_text_start=True), written_out)
        checked += 1
    assert checked > len(PATTERNS)


@settings(max_examples=400)
@given(EXPRS, vocabularies())
def test_random_constraints_over_random_vocabularies(expr: Expr, vocabulary: Vocabulary) -> None:
    automata = both(expr, vocabulary)
    if automata is not None:
        check_tokens(*automata)


@pytest.mark.parametrize("name", ["every byte", "tokens across bounds"])
def test_tokens_with_one_function_are_one_class(name: str) -> None:
    """However guards were cut on the way to a function, equal functions are found to be equal."""
    for pattern in PATTERNS:
        automaton = from_counted(certainly_counted(pattern), VOCABULARIES[name])
        form = automaton.transitions
        columns = {
            tuple(form.target(state, number) for state in range(form.num_states)) for number in range(form.num_classes)
        }
        assert len(columns) == form.num_classes, pattern
        assert automaton.num_states == len(automaton.min_tokens_by_state)


# Tensors and files


@pytest.mark.parametrize("pattern", ["a{2,5}", '"[^"]{0,3}"', "(a{3}b?)*", "b*a{3,}b*", "(ab?){2,6}a"])
@pytest.mark.parametrize("name", ["tokens across bounds", "pairs only", "no end token"])
def test_tensors_are_the_automaton(pattern: str, name: str) -> None:
    automata = both(pattern, VOCABULARIES[name])
    if automata is None:
        return
    automaton, vocabulary = automata[0], VOCABULARIES[name]
    tensors = AutomatonTensors(automaton, width=len(vocabulary) + 2)
    states = torch.tensor([*{state for state, _ in check_tokens(*automata)}, automaton.end_state, tensors.dead])
    masks = tensors.mask(states)
    within = [tensors.mask(states, remaining) for remaining in range(7)]
    each = tensors.mask(states, torch.arange(len(states)) % 7)
    assert not masks[-1].any()
    for row, state in enumerate(states[:-1].tolist()):
        assert masks[row, : len(vocabulary)].tolist() == automaton.mask(state).tolist()
        assert torch.equal(each[row], within[row % 7][row])
        assert not masks[row, len(vocabulary) :].any()
        reached = tensors.advance(states[row].expand(len(vocabulary)), torch.arange(len(vocabulary))).tolist()
        for token in range(len(vocabulary)):
            if state == automaton.end_state:
                assert reached[token] == automaton.end_state
            elif not masks[row, token]:
                assert reached[token] == tensors.dead
            else:
                assert reached[token] == automaton.advance(state, token)
            for remaining in range(7):
                fits = bool(masks[row, token]) and automaton.min_tokens(automaton.advance(state, token)) < remaining
                assert bool(within[remaining][row, token]) == fits
    assert set(tensors.advance(states[-1:].expand(4), torch.arange(4)).tolist()) == {tensors.dead}


def test_tensors_are_one_graph() -> None:
    automaton = from_counted(certainly_counted('"[^"]{2,5}"'), VOCABULARIES["tokens across bounds"])
    tensors = AutomatonTensors(automaton)

    def step(states: torch.Tensor, logits: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        tokens = logits.masked_fill(~tensors.mask(states, 9), float("-inf")).argmax(-1)
        return tensors.advance(states, tokens), tokens

    # fullgraph: a read of a tensor on the host would break the graph, and that is an error here.
    compiled = torch.compile(step, fullgraph=True, backend="aot_eager", dynamic=False)
    states = compiled_states = tensors.starts(4)
    for seed in range(6):
        logits = torch.randn(4, tensors.width, generator=torch.Generator().manual_seed(seed))
        states, tokens = step(states, logits)
        compiled_states, compiled_tokens = compiled(compiled_states, logits)
        assert torch.equal(tokens, compiled_tokens)
        assert torch.equal(states, compiled_states)


@pytest.mark.parametrize("name", ["tokens across bounds", "no byte a", "no end token"])
def test_a_saved_automaton_reads_back(name: str, tmp_path: Path) -> None:
    automaton = from_counted(certainly_counted("b*(aa){2,4}"), VOCABULARIES[name])
    automaton.save(tmp_path / "a.safetensors")
    read = TokenAutomaton.load(tmp_path / "a.safetensors", VOCABULARIES[name])
    assert type(read) is type(automaton)
    check_tokens(read, automaton)
    assert np.array_equal(read.final, automaton.final)
    assert read.nbytes == automaton.nbytes


DAMAGES: dict[str, Callable[[dict[str, np.ndarray]], object]] = {
    "no guards": lambda arrays: arrays.pop("counted_low"),
    "no greatest value": lambda arrays: arrays.pop("max_register"),
    "greatest value empty": lambda arrays: arrays.update(max_register=np.zeros(0, np.int32)),
    "greatest value too small": lambda arrays: arrays.update(max_register=np.array([2], np.int32)),
    "greatest value negative": lambda arrays: arrays.update(max_register=np.array([-1], np.int32)),
    "classes outside": lambda arrays: arrays.update(counted_edge_class=arrays["counted_edge_class"] + 90),
    "targets outside": lambda arrays: arrays.update(counted_edge_target=arrays["counted_edge_target"] + 90),
    "targets missing": lambda arrays: arrays.update(counted_edge_target=arrays["counted_edge_target"][:-1].copy()),
    "guards backwards": lambda arrays: arrays.update(
        counted_low=arrays["counted_high"], counted_high=arrays["counted_low"]
    ),
    "guards that overlap": lambda arrays: arrays.update(
        counted_low=np.zeros_like(arrays["counted_low"]), counted_high=np.full_like(arrays["counted_high"], 4)
    ),
    "a guard below nothing": lambda arrays: arrays.update(counted_low=arrays["counted_low"] - 1),
    "a guard past the greatest value": lambda arrays: arrays.update(counted_high=arrays["counted_high"] + 1),
    "a sum past the greatest value": lambda arrays: arrays.update(
        counted_action=np.where(arrays["counted_action"] >= 0, 4, arrays["counted_action"]).astype(np.int32)
    ),
    "set past the greatest value": lambda arrays: arrays.update(
        counted_action=np.where(arrays["counted_action"] < 0, ~5, arrays["counted_action"]).astype(np.int32)
    ),
    "offsets backwards": lambda arrays: arrays.update(counted_row_offsets=arrays["counted_row_offsets"][::-1].copy()),
    "offsets too short": lambda arrays: arrays.update(counted_row_offsets=np.minimum(arrays["counted_row_offsets"], 2)),
    "fewer places": lambda arrays: arrays.update(final=arrays["final"][:-1].copy()),
    "start outside": lambda arrays: arrays.update(start=np.array([99], np.int32)),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_refused(damage: str, tmp_path: Path) -> None:
    vocabulary, path = VOCABULARIES["tokens across bounds"], tmp_path / "a.safetensors"
    from_counted(certainly_counted('"a{2,4}"b{0,2}'), vocabulary).save(path)
    arrays = load_file(path)
    with safe_open(path, "numpy") as file:
        metadata = file.metadata()
    DAMAGES[damage](arrays)
    save_file(arrays, path, metadata)
    with pytest.raises(AutomatonFileError):
        TokenAutomaton.load(path, vocabulary)


# Bounds as large as they are meant to be


def test_large_bounds_are_exact_for_every_token() -> None:
    vocabulary = VOCABULARIES["tokens across bounds"]
    automaton = tokenfst.compile("[ab]{50000,100000}", vocabulary)
    assert automaton.nbytes < 2000
    assert automaton.min_tokens(automaton.start) == 10_001
    five, one = vocabulary.tokens.index(b"aaaaa"), vocabulary.tokens.index(b"a")
    lengths = [len(token) if set(token) <= set(b"ab") else 0 for token in vocabulary.tokens]
    state, length = automaton.start, 0
    while length < 100_000:
        step = five if not (49_980 < length < 50_010 or length > 99_980) else one
        state, length = automaton.advance(state, step), length + lengths[step]
        if 100 < length < 49_980 or 50_010 < length < 99_980:
            continue
        allowed = {token for token, size in enumerate(lengths) if size and length + size <= 100_000}
        assert set(np.flatnonzero(automaton.mask(state)).tolist()) == allowed | ({0} if length >= 50_000 else set())
        assert automaton.is_final(state) == (length >= 50_000)
        assert automaton.min_tokens(state) == 1 + max(0, -(-(50_000 - length) // 5))
    assert automaton.advance(state, 0) == automaton.end_state


def test_counts_that_tokens_cannot_spell_are_no_dead_ends() -> None:
    vocabulary = Vocabulary([b"aa", b"aaaa", b"b", b""], [3])
    automaton = tokenfst.compile("a{1001}b|a{0,600}", vocabulary)
    state = automaton.start
    for count in range(0, 600, 2):
        # Only even numbers can be written, so nothing leads on to 1001.
        assert set(np.flatnonzero(automaton.mask(state)).tolist()) == ({0, 1, 3} if count < 598 else {0, 3})
        state = automaton.advance(state, 0)
    assert np.flatnonzero(automaton.mask(state)).tolist() == [3]
    with pytest.raises(EmptyLanguage):
        tokenfst.compile("a{1001}", vocabulary)


def test_limits_hold_where_something_is_counted() -> None:
    explosive, vocabulary = "(?:a|b)*a(?:a|b){60}c{1000}", Vocabulary([b"a" * length for length in range(1, 65)])
    with pytest.raises(LimitExceeded, match=r"more than 2,000 deterministic states \(limit `states`\)"):
        tokenfst.compile(explosive, vocabulary, limits=Limits(states=2000))
    with pytest.raises(LimitExceeded, match=r"takes more than 1,000,000 bytes \(limit `table_bytes`\)"):
        tokenfst.compile(explosive, vocabulary, limits=Limits(table_bytes=1_000_000))
    with pytest.raises(LimitExceeded, match=r"states that count takes more than 1,000,000 bytes"):
        tokenfst.compile("a" * 5000 + "b{1000}", vocabulary, limits=Limits(table_bytes=1_000_000))
    cancellation = Cancellation()
    cancellation.cancel()
    with pytest.raises(Cancelled):
        tokenfst.compile("a{1000}", vocabulary, cancellation=cancellation)


def test_a_distance_that_changes_too_often_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("automata.register_distance.MAX_PIECES", 5000)
    automaton = tokenfst.compile("a{9000}", VOCABULARIES["bytes"])
    with pytest.raises(LimitExceeded, match="least numbers"):
        automaton.min_tokens(automaton.start)
    assert FAR not in tokenfst.compile("a{4000}", VOCABULARIES["bytes"]).min_tokens_by_state[:1]


@pytest.fixture(scope="module")
def tekken() -> Vocabulary:
    return from_tekken(str(files("mistral_common") / "data" / "tekken_240911.json"))


JSON_CHARACTER = r'(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-f]{4}))'


@pytest.mark.parametrize(
    ("pattern", "opening", "many", "rounds", "one", "rest", "bound"),
    [
        ('"[^"]{0,100000}"', '"', "information", 11, "é", '[^"]{0,%d}"', 100_000),
        (f'"{JSON_CHARACTER}{{0,100000}}"', '"', "information", 11, r"\n", JSON_CHARACTER + '{0,%d}"', 100_000),
        (r"(\w+ ){1,500}", "", "information ", 1, "a ", r"(\w+ ){0,%d}", 500),
        ("[a-z]{50000,100000}", "", "information", 11, "i", "[a-z]{0,%d}", 100_000),
        ("[a-z]{50000,100000}", "", "information", 11, "i", "[a-z]{%d,300}", 50_000),
    ],
)
def test_near_a_large_bound_everything_is_as_for_what_is_left(
    pattern: str, opening: str, many: str, rounds: int, one: str, rest: str, bound: int, tekken: Vocabulary
) -> None:
    automaton = tokenfst.compile(pattern, tekken)
    assert isinstance(automaton, CountedAutomaton)
    assert automaton.transitions.nbytes < 50_000
    state, written = spell(automaton, automaton.start, opening), 0
    for left in (40, 17, 8, 3, 1, 0):
        while written + rounds <= bound - left:
            state, written = spell(automaton, state, many), written + rounds
        while written < bound - left:
            state, written = spell(automaton, state, one), written + 1
        expected = from_bytes(compile_expr(parse(rest % left)), tekken)
        assert np.array_equal(automaton.mask(state), expected.mask(expected.start)), left
        assert automaton.min_tokens(state) == expected.min_tokens(expected.start)
        assert automaton.is_final(state) == expected.is_final(expected.start)


def spell(automaton: TokenAutomaton, state: int, text: str) -> int:
    """The state after a text, written with the longest tokens from its beginning on."""
    place_of, data = token_places(automaton.vocabulary), text.encode()
    while data:
        end = next(end for end in range(len(data), 0, -1) if data[:end] in place_of)
        state, data = automaton.advance(state, place_of[data[:end]]), data[end:]
    return state


@cache
def token_places(vocabulary: Vocabulary) -> dict[bytes, int]:
    return {token: place for place, token in enumerate(vocabulary.tokens) if token}
