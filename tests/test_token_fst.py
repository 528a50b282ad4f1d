"""Token automata to OpenFst and back, with OpenFst as the judge of what they accept."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import inf, nan
from pathlib import Path
from struct import pack
from typing import Any

import mistral_common
import numpy as np
import pynini
import pytest
import pywrapfst
from arena_walks import check_everywhere
from hypothesis import given, settings
from hypothesis import strategies as st
from random_fsts import fst_of
from strategies import exprs, vocabularies

import tokenfst
from automata import (
    ByteAutomaton,
    EmptyLanguage,
    Expr,
    ExpressionError,
    FstError,
    Grammar,
    Label,
    Limits,
    call,
    compile_expr,
    concat,
    parse,
)
from automata.errors import LimitExceeded
from automata.openfst import to_fst
from decoding.arena import Arena
from tokenfst import TextStart, TokenAutomaton, Vocabulary
from tokenfst.counted.automaton import CountedTokenAutomaton
from tokenfst.finite import to_fst as writing
from tokenfst.reference import compose_by_definition

TOKENS = [b"a", b"b", b"ab", b"ba", b"a", b"c", b"", b"<call>", b" ", b""]
VOCABULARY = Vocabulary(TOKENS, eos_ids=9, special_tokens={"<call>": 6})
ENDS = set(VOCABULARY.eos_ids)


def deterministic(fst: Any) -> Any:
    return pynini.determinize(fst.copy().rmepsilon()).connect()


def sequences(fst: Any, length: int) -> set[tuple[int, ...]]:
    """The token sequences up to a length that a deterministic acceptor accepts."""
    found: set[tuple[int, ...]] = set()
    level: dict[tuple[int, ...], int] = {(): fst.start()} if fst.start() >= 0 else {}
    for _ in range(length + 1):
        found |= {tokens for tokens, state in level.items() if fst.final(state) != pywrapfst.Weight.zero("tropical")}
        level = {(*tokens, arc.ilabel - 1): arc.nextstate for tokens, state in level.items() for arc in fst.arcs(state)}
    return found


@st.composite
def acceptors(draw: st.DrawFn) -> Any:
    """Acceptors over the tokens above, with epsilon arcs and states that lead nowhere."""
    num_states = draw(st.integers(1, 5))
    state = st.integers(0, num_states - 1)
    token = st.sampled_from([-1, *(token for token in range(len(TOKENS)) if token not in ENDS)])
    arcs = draw(st.lists(st.tuples(state, token, state), max_size=12))
    final = np.array(draw(st.lists(st.booleans(), min_size=num_states, max_size=num_states)))
    return to_fst(draw(state), final, *np.array(arcs, np.int32).reshape(-1, 3).T)


# Out


@settings(max_examples=40)
@given(exprs(), vocabularies(), st.booleans())
def test_what_comes_out_is_the_composition_by_definition(
    expr: Expr, vocabulary: Vocabulary, at_text_start: bool
) -> None:
    automaton = compile_expr(expr)
    definition = compose_by_definition(automaton, vocabulary, at_text_start=at_text_start)
    try:
        compiled = tokenfst.compile(automaton, vocabulary, at_text_start=at_text_start)
    except EmptyLanguage:
        assert definition.num_states() == 0
        return
    fst = compiled.fst()
    assert isinstance(fst, pynini.Fst)
    assert fst.verify()
    assert fst.properties(pywrapfst.ACCEPTOR | pywrapfst.I_DETERMINISTIC | pywrapfst.UNWEIGHTED, True)
    assert pynini.equivalent(fst, definition)
    again = TokenAutomaton.from_fst(fst, vocabulary, at_text_start=at_text_start)
    assert pynini.equivalent(again.fst(), definition)
    assert pynini.isomorphic(pynini.determinize(fst).minimize(), again.fst())


def test_states_are_final_where_a_text_may_end() -> None:
    automaton = tokenfst.compile("a(ba)*", VOCABULARY)
    fst = automaton.fst()
    found = sequences(fst, 3)
    every = product([token for token in range(len(TOKENS)) if token not in ENDS], repeat=3)
    assert {tokens for tokens in found if len(tokens) == 3} == {tokens for tokens in every if automaton.accepts(tokens)}
    assert not {arc.ilabel - 1 for state in fst.states() for arc in fst.arcs(state)} & ENDS


def test_a_table_names_the_tokens() -> None:
    fst = tokenfst.compile(concat(parse("ab") | Label("<call>"), "c"), VOCABULARY).fst()
    assert set(fst.paths(output_token_type=fst.output_symbols()).ostrings()) == {
        "a b c",
        r"a\#4 b c",
        "ab c",
        "<call> c",
    }
    table = fst.input_symbols()
    assert [table.find(token + 1) for token in range(len(VOCABULARY))] == list(VOCABULARY.names)


def test_counts_are_written_out() -> None:
    vocabulary = Vocabulary([b"a", b"aa", b"b", b""], 3)
    automaton = tokenfst.compile("(?:a{2,4000}|b)b", vocabulary).complete()
    assert isinstance(automaton, CountedTokenAutomaton)
    fst = automaton.fst()
    for tokens in ([0, 0, 2], [1] * 2000 + [2], [1] * 2000 + [0, 2], [0, 2], [2, 2]):
        assert accepts(fst, tokens) == automaton.accepts(tokens)
    again = TokenAutomaton.from_fst(fst, vocabulary)
    assert pynini.equivalent(again.fst(), fst)


def accepts(fst: Any, tokens: list[int]) -> bool:
    chain = np.arange(len(tokens) + 1, dtype=np.int32)
    text = to_fst(0, chain == len(tokens), chain[:-1], np.array(tokens, np.int32), chain[1:])
    return bool(pywrapfst.compose(fst, text).connect().num_states())


def test_a_stack_has_no_acceptor() -> None:
    grammar = Grammar({"s": concat("a", parse("c") | call("s"), "b")}, "s")
    with pytest.raises(FstError, match=r"PushdownTokenAutomaton has no acceptor.*stack.*automata\.to_pdt"):
        tokenfst.compile(grammar, VOCABULARY).fst()


def test_canonical_tokenization_has_no_acceptor() -> None:
    vocabulary = Vocabulary([b"a", b"b", b"ab", b""], 3, bpe=tokenfst.BPE(None, None, False))
    with pytest.raises(FstError, match=r"CanonicalTokenAutomaton has no acceptor.*tokenization='any'"):
        tokenfst.compile("(ab)*", vocabulary, tokenization="canonical").fst()


def test_arcs_that_take_too_much_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "DEFAULT_LIMITS", Limits(memory=64 * 3 + 16 * 6))
    assert tokenfst.compile("ab", VOCABULARY).fst().num_states() == 3
    with pytest.raises(LimitExceeded, match=r"over tokens of 4 states and \d+ arcs would take \d+ bytes.*`memory`"):
        tokenfst.compile("[ab]*c[ab]*c[ab]*c", VOCABULARY).fst()
    with pytest.raises(LimitExceeded, match=r"of [\d,]+ states and [\d,]+ arcs"):
        tokenfst.compile("(?:a{2,4000}|b)b", VOCABULARY).fst()


# In


@settings(max_examples=100)
@given(acceptors())
def test_any_acceptor_is_an_automaton(fst: Any) -> None:
    expected = deterministic(fst)
    if expected.num_states() == 0:
        with pytest.raises(EmptyLanguage, match="accepts no sequence of tokens"):
            TokenAutomaton.from_fst(fst, VOCABULARY)
        return
    automaton = TokenAutomaton.from_fst(fst, VOCABULARY)
    assert pynini.isomorphic(automaton.fst(), expected.minimize())
    found = sequences(expected, 2)
    for length in range(3):
        for tokens in product(range(len(TOKENS) - 1), repeat=length):
            assert automaton.accepts(tokens) == (tokens in found)


@settings(max_examples=30)
@given(acceptors())
def test_it_runs_in_the_arena(fst: Any) -> None:
    try:
        automaton = TokenAutomaton.from_fst(fst, VOCABULARY)
    except EmptyLanguage:
        return
    arena = Arena(VOCABULARY, max_bytes=1 << 20)
    arena.add(automaton)
    check_everywhere(arena, automaton)


def test_labels_are_read_by_a_table() -> None:
    fst = tokenfst.compile("(ab)+c", VOCABULARY).fst()
    table = pywrapfst.SymbolTable()
    table.add_symbol("<epsilon>", 0)
    for name in reversed(VOCABULARY.names):
        table.add_symbol(name)
    renumbered = pynini.accep("a b c", token_type=table) | pynini.accep("ab c", token_type=table)
    automaton = TokenAutomaton.from_fst(renumbered, VOCABULARY, symbols=table)
    assert sequences(deterministic(automaton.fst()), 4) == {(0, 1, 5), (2, 5)}
    renumbered.set_input_symbols(table)
    assert TokenAutomaton.from_fst(renumbered, VOCABULARY).accepts([0, 1, 5])
    # Without a table, a label is the token's id and one.
    fst.set_input_symbols(None)
    assert TokenAutomaton.from_fst(fst, VOCABULARY).accepts([2, 0, 1, 5])


@pytest.mark.parametrize("pattern", [r'"[^"\\]{0,20}"', r"[a-z ]+\.", r"\d{4}-\d\d-\d\d"])
def test_a_real_vocabulary(pattern: str) -> None:
    vocabulary = tokenfst.from_tekken(Path(mistral_common.__file__).parent / "data" / "tekken_240911.json")
    before = tokenfst.compile(pattern, vocabulary).complete()
    fst = before.fst()
    after = TokenAutomaton.from_fst(fst, vocabulary)
    assert pynini.equivalent(after.fst(), fst)
    assert np.array_equal(after.mask(after.start), before.mask(before.start))
    assert after.min_tokens(after.start) == before.min_tokens(before.start)


def test_where_it_begins_is_remembered() -> None:
    vocabulary = Vocabulary([b" a", b" b", b""], 2, text_start=TextStart())
    fst = tokenfst.compile("a b", vocabulary, at_text_start=True).fst()
    automaton = TokenAutomaton.from_fst(fst, vocabulary, at_text_start=True)
    assert automaton.at_text_start
    assert automaton.text([0, 1]) == b"a b"


def test_files_and_pictures(tmp_path: Path) -> None:
    fst = tokenfst.compile("(ab)*", VOCABULARY).fst()
    fst.write(str(tmp_path / "tokens.fst"))
    automaton = TokenAutomaton.from_fst(pynini.Fst.read(str(tmp_path / "tokens.fst")), VOCABULARY)
    automaton.save(tmp_path / "tokens.safetensors")
    assert tokenfst.load_automaton(tmp_path / "tokens.safetensors", VOCABULARY).accepts([2, 2])
    assert "ab" in automaton.draw().dot


def test_a_composition_made_by_hand_with_another_detokenizer() -> None:
    """A decoder in lower case, composed by pynini alone."""
    vocabulary = Vocabulary([b"A", b"b", b"AB", b""], 3)
    written = {1: "a", 2: "b", 3: "ab"}
    tokens = pynini.union(
        *(pynini.cross(pynini.accep(f"[{token}]"), text) for token, text in written.items())
    ).closure()
    composed = pynini.project(tokens @ "abab", "input")
    automaton = TokenAutomaton.from_fst(composed, vocabulary)
    assert sequences(deterministic(automaton.fst()), 5) == {(0, 1, 0, 1), (0, 1, 2), (2, 0, 1), (2, 2)}


def test_other_fsts_are_refused() -> None:
    read: Callable[..., object] = lambda fst, **options: TokenAutomaton.from_fst(fst, VOCABULARY, **options)  # noqa: E731
    with pytest.raises(
        FstError, match=r'a transducer cannot be used as an acceptor over tokens: pynini\.project\(fst, "input"\)'
    ):
        read(pynini.cross("[1]", "[2]"))
    below_zero = pynini.accep("[1]") + pynini.accep("", weight=-1).closure()
    with pytest.raises(ExpressionError, match=r"lowers the cost without bound.*, in the acceptor over tokens"):
        read(below_zero)
    with pytest.raises(FstError, match="label 98 would be token 97, of a vocabulary of 10 tokens"):
        read(pynini.accep("b"))
    with pytest.raises(
        FstError, match=r"an arc reads token 9 \(\\#9\), which ends a sequence: the state before it has to"
    ):
        read(pynini.accep("[1][10]"))
    with pytest.raises(TypeError, match=r"expected an FST of pynini or pywrapfst, not str: pynini\.Fst\.read"):
        read("tokens.fst")
    with pytest.raises(TypeError, match=r"not ByteAutomaton$"):
        read(ByteAutomaton.dense(-1, np.zeros(256, np.uint8), np.zeros((0, 0), np.int32), np.zeros(0, np.bool_)))
    with pytest.raises(EmptyLanguage, match="accepts no sequence of tokens"):
        read(pynini.Fst())
    table = pywrapfst.SymbolTable()
    table.add_symbol("<epsilon>", 0)
    table.add_symbol("hello", 1)
    with pytest.raises(FstError, match=r"label 1 is 'hello' in the table of symbols, and no token has this name"):
        read(pynini.accep("hello", token_type=table), symbols=table)


@pytest.mark.parametrize("arc_type", ["standard", "log"])
def test_arcs_that_no_sequence_takes_do_not_count(arc_type: str) -> None:
    end, plain = 10, fst_of(2, [(0, 1, 1, 0.0, 1)], {1: 0.0}, arc_type)
    without = [(0, 2, 2, inf, 1), (0, 0, 0, inf, 1), (0, 2, 2, 1.0, 2), (2, 0, 0, -1.0, 2), (2, end, end, 0.0, 3)]
    cut = TokenAutomaton.from_fst(fst_of(4, [(0, 1, 1, 0.0, 1), *without], {1: 0.0}, arc_type), VOCABULARY)
    assert not cut.is_weighted
    assert pynini.isomorphic(cut.fst(), TokenAutomaton.from_fst(plain, VOCABULARY).fst())


def test_labels_below_zero_are_no_tokens() -> None:
    with pytest.raises(FstError, match="label -1 would be token -2, of a vocabulary of 10 tokens"):
        TokenAutomaton.from_fst(fst_of(2, [(0, -1, -1, 0.0, 1)], {1: 0.0}), VOCABULARY)


@pytest.mark.parametrize("cost", [nan, -inf])
def test_weights_that_are_none_are_refused(tmp_path: Path, cost: float) -> None:
    # OpenFst makes no such weight, but it reads files that have one.
    fst = fst_of(2, [(0, 1, 1, 0.0, 1)], {0: 0.0, 1: 0.5})
    path = tmp_path / "bad.fst"
    path.write_bytes(fst.write_to_string().replace(pack("<f", 0.5), pack("<f", cost)))
    with pytest.raises(FstError, match="the FST has a weight that is not a number, or minus infinity"):
        TokenAutomaton.from_fst(pywrapfst.Fst.read(str(path)), VOCABULARY)


def test_weights_of_another_semiring_are_weights() -> None:
    plain = pywrapfst.arcmap(pynini.accep("[1]"), map_type="to_log")
    assert TokenAutomaton.from_fst(plain, VOCABULARY).accepts([0])
    weighted = pywrapfst.arcmap(pynini.accep("[1]", weight=2), map_type="to_log")
    assert TokenAutomaton.from_fst(weighted, VOCABULARY).weight([0]) == 2


def test_determinization_has_limits() -> None:
    # The eleventh token from the end is an a.
    any_token = pynini.union("[1]", "[2]")
    fst = pynini.closure(any_token) + "[1]" + any_token**10
    with pytest.raises(LimitExceeded, match="the deterministic acceptor over tokens has more than 1,000 states"):
        TokenAutomaton.from_fst(fst, VOCABULARY, limits=Limits(states=1000))
    assert TokenAutomaton.from_fst(fst, VOCABULARY).accepts([0] * 11)


def test_weights_are_written() -> None:
    source, symbol, target = np.array([[1, 0, 0], [1, 0, 1], [0, 1, 1]], np.int32)
    weight, final_weight = np.array([0.5, 1.5, 2.5], np.float32), np.array([7, 0.25], np.float32)
    final = np.array([False, True])
    fst = to_fst(0, final, source, symbol, target, final_weight=final_weight, weight=weight)
    found = {(s, a.ilabel, float(a.weight), a.nextstate) for s in fst.states() for a in fst.arcs(s)}
    assert found == {(1, 2, 0.5, 0), (0, 1, 1.5, 1), (0, 2, 2.5, 1)}
    assert float(fst.final(1)) == 0.25
    assert fst.final(0) == pywrapfst.Weight.zero("tropical")
    assert fst.verify()


def test_wrong_arguments() -> None:
    fst, table = pynini.accep("[1][2]"), pywrapfst.SymbolTable()
    table.add_symbol("<epsilon>", 0)
    with pytest.raises(FstError, match="label 1 is not in the table of symbols"):
        TokenAutomaton.from_fst(fst, VOCABULARY, symbols=table)
    wrong: Any
    for wrong in ({1: "a"}, "a"):
        with pytest.raises(TypeError, match="`symbols` is a symbol table of pywrapfst, not"):
            TokenAutomaton.from_fst(fst, VOCABULARY, symbols=wrong)
    wrong = "a"
    with pytest.raises(TypeError, match="is not a vocabulary"):
        TokenAutomaton.from_fst(fst, wrong)
