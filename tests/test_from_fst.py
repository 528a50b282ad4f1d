"""Acceptors of OpenFst as expressions: their languages, weights and labels, and what is refused."""

from __future__ import annotations

import pickle
import subprocess
import sys
import time
from itertools import product
from math import inf, isclose, isinf, nan
from pathlib import Path
from struct import pack
from typing import Any

import pynini
import pytest
import pywrapfst
from hypothesis import given
from hypothesis import strategies as st
from pynini.lib import byte, utf8
from random_fsts import cost_of, fst_arcs, fst_of, total_cost

from automata import (
    ANY_CHAR,
    ByteAutomaton,
    Cancellation,
    Cancelled,
    Expr,
    FstError,
    Label,
    LimitExceeded,
    Limits,
    char_set,
    compile_expr,
    concat,
    equivalent,
    from_fst,
    image,
    is_empty,
    literal,
    lookahead,
    parse,
    strings,
    transducer_of,
)
from automata import enumerate as texts_of
from automata.compile.composition import composed, tables_of
from automata.expressions import Acceptor
from automata.limits import Work
from automata.openfst import read_arrays, to_arcs

LETTERS = [97, 98, 0xC3, 0xA9]
FREE = [0.0]
COSTS = [0.0, 0.5, 1.0, 2.0, inf]
SHORT_TEXTS = [bytes(text) for size in range(4) for text in product(LETTERS, repeat=size)]


def texts(language: Expr | ByteAutomaton) -> list[bytes]:
    return sorted(texts_of(language))


def accepted(fst: Any, text: bytes) -> bool:
    """Whether an acceptor reads a text, by following all its paths at once."""
    _, final, arcs = to_arcs(fst)
    by_source: dict[int, list[tuple[int, int]]] = {}
    for source, symbol, _, target in arcs.T.tolist():
        by_source.setdefault(source, []).append((symbol + 1, target))

    def closed(states: set[int]) -> set[int]:
        waiting = list(states)
        while waiting:
            for symbol, target in by_source.get(waiting.pop(), []):
                if symbol == 0 and target not in states:
                    states.add(target)
                    waiting.append(target)
        return states

    states = closed({fst.start()})
    for letter in text:
        states = closed({t for state in states for symbol, t in by_source.get(state, []) if symbol == letter})
    return any(final[state] for state in states)


@given(fst_arcs(LETTERS, acceptor=True, costs=FREE))
def test_languages_of_random_acceptors(parts: Any) -> None:
    fst = fst_of(*parts)
    automaton = compile_expr(from_fst(fst))
    for text in SHORT_TEXTS:
        assert automaton.accepts(text) == accepted(fst, text), text


@given(fst_arcs([97, 98, 0xE9, 0x20AC, 0x1F600], acceptor=True, costs=FREE))
def test_code_points_are_written_in_utf8(parts: Any) -> None:
    fst = fst_of(*parts)
    expected = pynini.Fst.from_pywrapfst(fst).optimize()
    automaton = compile_expr(from_fst(fst, "utf8"))
    for text in ("", "a", "é", "€", "a😀", "😀é", "éb€"):
        string = fst_of(
            len(text) + 1, [(at, ord(char), ord(char), 0.0, at + 1) for at, char in enumerate(text)], {len(text): 0.0}
        )
        met = pywrapfst.compose(string, expected.arcsort("ilabel")).connect()
        assert automaton.accepts(text.encode()) == (met.num_states() > 0), text


RUNS = st.lists(st.tuples(st.integers(1, 0x10FFFF), st.integers(0, 5000)), min_size=1, max_size=4)


@given(RUNS)
def test_runs_of_code_points(runs: list[tuple[int, int]]) -> None:
    codes = {
        code for first, size in runs for code in range(first, min(first + size, 0x10FFFF) + 1)
        if not 0xD800 <= code <= 0xDFFF
    }  # fmt: skip
    if not codes:
        return
    fst = fst_of(2, [(0, code, code, 0.0, 1) for code in codes], {1: 0.0})
    assert equivalent(from_fst(fst, "utf8"), strings(map(chr, codes)))


def test_any_character_is_a_handful_of_arcs() -> None:
    # Above are private planes, where pynini numbers the symbols that it generates.
    codes = [code for code in range(1, 0xF0000) if not 0xD800 <= code <= 0xDFFF]
    fst = pywrapfst.VectorFst()
    fst.add_states(2)
    fst.set_start(0)
    fst.set_final(1)
    weight = pywrapfst.Weight("tropical", 0)
    for code in codes:
        fst.add_arc(0, pywrapfst.Arc(code, code, weight, 1))
    expr = from_fst(fst, "utf8")
    assert isinstance(expr, Acceptor)
    assert len(expr.tables.arcs) < 40
    assert equivalent(expr, char_set((1, 0xEFFFF)))


@pytest.mark.parametrize("arc_type", ["standard", "log", "log64"])
@given(fst_arcs([97, 98], acceptor=True, costs=COSTS))
def test_costs_are_those_of_openfst(arc_type: str, parts: Any) -> None:
    num_states, arcs, final = parts
    # Cycles of epsilon arcs would take OpenFst long to sum up.
    arcs = [arc for arc in arcs if arc[1] or arc[0] < arc[4]]
    fst = fst_of(num_states, arcs, final, arc_type)
    expr = from_fst(fst)
    # Where every weight is trivial, there are none, though OpenFst sums up the paths of a text.
    finite = [arc for arc in arcs if arc[3] < inf], {state: cost for state, cost in final.items() if cost < inf}
    useful = fst_of(num_states, *finite, arc_type).connect()
    weights = [float(arc.weight) for state in useful.states() for arc in useful.arcs(state)]
    has_weights = any(weights) or any(float(useful.final(state)) not in (0, inf) for state in useful.states())
    assert isinstance(expr, Acceptor) or useful.num_states() == 0
    assert not isinstance(expr, Acceptor) or (expr.tables.costs is not None) == has_weights
    for text in (b"", b"a", b"ab", b"bab"):
        expected = total_cost(fst, text, arc_type)
        if not has_weights and expected < inf:
            expected = 0.0
        found = cost_of(expr.tables, text) if isinstance(expr, Acceptor) else inf
        assert isclose(found, expected, abs_tol=1e-5) or (isinf(found) and isinf(expected))


def test_trivial_weights_are_none() -> None:
    plain, weighted = from_fst(pynini.accep("ab")), from_fst(pynini.accep("ab", weight=1.5))
    assert isinstance(plain, Acceptor)
    assert isinstance(weighted, Acceptor)
    assert plain.tables.costs is None
    assert weighted.tables.costs is not None
    assert weighted.tables.costs.semiring == "tropical"
    assert cost_of(weighted.tables, b"ab") == 1.5


def test_arrays_of_every_type_of_fst() -> None:
    fst = pynini.union("ab", "cd").optimize()
    for fst_type in ("vector", "const", "compact_acceptor"):
        converted = pywrapfst.convert(fst, fst_type)
        assert (read_arrays(converted).arcs == read_arrays(fst).arcs).all()
        assert texts(from_fst(converted)) == [b"ab", b"cd"]
    assert read_arrays(pywrapfst.VectorFst()).start == -1
    assert is_empty(from_fst(pywrapfst.VectorFst()))


def test_expressions_of_fsts_combine() -> None:
    expr = from_fst(pynini.union("ab", "cd", "x"))
    assert texts(expr & parse("[ab].")) == [b"ab"]
    assert texts(expr - "x") == [b"ab", b"cd"]
    assert texts("<" + expr + ">") == [b"<ab>", b"<cd>", b"<x>"]
    assert texts(expr.repeat(0, 1) | "y") == [b"", b"ab", b"cd", b"x", b"y"]
    assert equivalent(~(~expr), expr)
    assert texts(concat(lookahead("a"), expr)) == [b"ab"]
    assert from_fst(pynini.union("ab", "cd", "x")) == expr
    assert hash(pickle.loads(pickle.dumps(expr))) == hash(expr)
    assert "6 arcs" not in repr(expr)
    assert repr(expr).startswith("Acceptor(<")


# Symbols


def test_generated_symbols_name_tokens() -> None:
    for token_type in ("byte", "utf8"):
        fst = pynini.accep("[some_name]a[other_name]", token_type=token_type)
        expected = concat(Label("some_name"), "a", Label("other_name"))
        assert equivalent(from_fst(fst, token_type), expected)


def test_byte_and_utf8_strings_of_pynini() -> None:
    assert texts(from_fst(pynini.accep("né"))) == ["né".encode()]
    assert texts(from_fst(pynini.accep("né", token_type="utf8"), "utf8")) == ["né".encode()]
    assert equivalent(from_fst(byte.BYTE), parse(r"(?P<BYTES>[\x01-\xff])"))
    assert equivalent(from_fst(utf8.VALID_UTF8_CHAR), ANY_CHAR - "\0")


def table(*symbols: str) -> Any:
    made = pywrapfst.SymbolTable()
    for label, symbol in enumerate(("<epsilon>", *symbols)):
        made.add_symbol(symbol, label)
    return made


def word_fst(*labels: int) -> Any:
    size = len(labels)
    return fst_of(size + 1, [(at, label, label, 0.0, at + 1) for at, label in enumerate(labels)], {size: 0.0})


def test_symbol_tables() -> None:
    characters = table("a", "é", "<eos>", "[noise]")
    assert texts(from_fst(word_fst(1, 0, 2), characters)) == ["aé".encode()]
    assert equivalent(from_fst(word_fst(1, 3, 4), characters), concat("a", Label("<eos>"), Label("[noise]")))
    fst = word_fst(1, 2)
    fst.set_input_symbols(characters)
    fst.set_output_symbols(characters)
    assert texts(from_fst(fst)) == ["aé".encode()]
    assert texts(from_fst(fst, "byte")) == [b"\x01\x02"]


def test_symbols_of_several_characters_need_a_separator() -> None:
    words = table("the", "cat", "<s>")
    with pytest.raises(FstError, match=r"the symbol 'the' has more than one character: say what stands between"):
        from_fst(word_fst(1, 2), words)
    assert texts(from_fst(word_fst(1, 2, 1), words, separator=" ")) == [b"the cat the"]
    assert texts(from_fst(word_fst(1, 2), words, separator="")) == [b"thecat"]
    assert texts(from_fst(word_fst(0, 1, 0, 2), words, separator="--")) == [b"the--cat"]
    assert texts(from_fst(word_fst(0), words, separator=" ")) == [b""]
    expected = concat(Label("<s>"), "the cat", Label("<s>"), "cat")
    assert equivalent(from_fst(word_fst(3, 1, 2, 3, 2), words, separator=" "), expected)


@given(fst_arcs([1, 2, 3], acceptor=True, costs=FREE))
def test_separators_stand_between_words(parts: Any) -> None:
    fst = fst_of(*parts)
    words = ["", "x", "yy", "z"]
    found = compile_expr(from_fst(fst, table(*words[1:]), separator=" "))
    for size in range(4):
        for labels in product((1, 2, 3), repeat=size):
            text = " ".join(words[label] for label in labels)
            assert found.accepts(text.encode()) == accepted(fst, bytes(labels)), text


def test_a_loop_over_a_large_lexicon() -> None:
    words = {number: f"w{number}" for number in range(1, 100_001)}
    loop = fst_of(1, [(0, number, number, 0.0, 0) for number in words], {0: 0.0})
    started = time.monotonic()
    found = compile_expr(from_fst(loop, words, separator=" "))
    assert time.monotonic() - started < 10  # each word's end would take as long as all words together
    assert all(map(found.accepts, (b"", b"w1", b"w77 w100000 w3")))
    assert not any(map(found.accepts, (b" ", b"w1 ", b" w1", b"w1  w2", b"w1w2", b"w0", b"w100001")))


@given(fst_arcs([1, 2, 3], acceptor=False, costs=[1.0, 2.0]))
def test_separators_on_either_side_of_a_transducer(parts: Any) -> None:
    """Paths with separators are the paths without, one by one: sums of costs in the log semiring tell."""
    size, arcs, final = parts
    fst = fst_of(size, [arc for arc in arcs if (arc[1] and arc[2]) or arc[0] < arc[4]], final, "log64")
    letters = {1: "a", 2: "b", 3: "c"}
    plain = transducer_of(fst, letters)
    types = (letters, (letters, {**letters, 9: "d"}))
    spaced = [transducer_of(fst, token_type, separator=" ") for token_type in types]
    for read, written in product(("", "a", "bc"), ("", "b", "ca")):
        costs = [
            cost_of(composed(tables_of(compile_expr(literal(one))), tables, Work()), other.encode())
            for tables, one, other in (
                (plain, read, written),
                *((each, " ".join(read), " ".join(written)) for each in spaced),
            )
        ]
        assert all(isclose(cost, costs[0], abs_tol=1e-6) or (isinf(cost) and isinf(costs[0])) for cost in costs)


def test_mappings() -> None:
    mapping = {1: "a", 2: Label("eos"), 7: " "}
    assert equivalent(from_fst(word_fst(1, 7, 2), mapping), concat("a ", Label("eos")))


# Files


def test_files(tmp_path: Path) -> None:
    fst = pynini.union("ab", "cd")
    path = tmp_path / "some.fst"
    fst.write(str(path))
    assert texts(from_fst(path)) == texts(from_fst(str(path))) == [b"ab", b"cd"]
    far = tmp_path / "some.far"
    with pynini.Far(str(far), "w") as archive:
        archive["one"] = fst
        archive["two"] = pynini.accep("x")
    assert texts(from_fst(far, key="two")) == [b"x"]
    with pynini.Far(str(far)) as archive:
        assert texts(from_fst(archive["one"])) == [b"ab", b"cd"]
    with pytest.raises(
        FstError,
        match=r"some.far is a FAR: transducer_of or from_fst with key= reads one of its entries: 'one', 'two'",
    ):
        from_fst(far)
    with pytest.raises(FstError, match=r"some.far has no entry 'three'; its keys are 'one', 'two'"):
        from_fst(far, key="three")
    with pytest.raises(FstError, match=r"some.fst is not a FAR, and a key names an entry of one"):
        from_fst(path, key="one")
    with pytest.raises(FstError, match=r"missing.fst cannot be read: No such file"):
        from_fst(tmp_path / "missing.fst")
    for content in (b"", b"0 1 a a\n1\n"):
        (tmp_path / "text.fst").write_bytes(content)
        with pytest.raises(FstError, match=r"text.fst holds no FST in OpenFst's binary form"):
            from_fst(tmp_path / "text.fst")
    (tmp_path / "cut.fst").write_bytes(path.read_bytes()[:40])
    with pytest.raises(FstError, match=r"cut.fst: the file is damaged: 8 bytes cannot follow byte 34"):
        from_fst(tmp_path / "cut.fst")
    with pytest.raises(TypeError, match="a key names an entry of a FAR file, and this is an FST"):
        from_fst(fst, key="one")


# What is refused


def test_transducers_are_refused_with_the_functions_that_take_them() -> None:
    message = (
        r"the FST is a transducer \(an arc reads label 97 and writes label 98\), and an acceptor is needed: "
        r"automata.image\(constraint, fst\) is what it writes, automata.preimage\(fst, constraint\) what it reads"
    )
    with pytest.raises(FstError, match=message):
        from_fst(pynini.cross("a", "b"))


@pytest.mark.parametrize("side", ["input", "output"])
def test_a_symbol_table_of_one_side_is_that_of_an_acceptor(side: str) -> None:
    fst = word_fst(1)
    getattr(fst, f"set_{side}_symbols")(table("x"))
    assert texts(from_fst(fst)) == [b"x"]


def test_two_symbol_tables_make_a_transducer() -> None:
    fst = word_fst(1)
    fst.set_input_symbols(table("a"))
    fst.set_output_symbols(table("b"))
    with pytest.raises(FstError, match=r"two symbol tables, .*, and an acceptor is needed: automata\.image"):
        from_fst(fst)
    assert texts(image("a", fst)) == [b"b"]
    assert texts(from_fst(fst, table("c"))) == [b"c"]


def test_labels_that_stand_for_nothing() -> None:
    with pytest.raises(
        FstError, match="label 300 is neither a byte nor a symbol that pynini has generated in this process"
    ):
        from_fst(word_fst(300))
    with pytest.raises(FstError, match="label 55296 is a surrogate, which UTF-8 cannot write"):
        from_fst(word_fst(0xD800), "utf8")
    for label in (0x110000, 0x110002, 2**31 - 1):
        with pytest.raises(FstError, match=f"label {label} is not a code point"):
            from_fst(word_fst(label), "utf8")
        with pytest.raises(FstError, match=f"label {label} is neither a byte nor"):
            from_fst(word_fst(label))
    with pytest.raises(FstError, match="label 9 is not in the symbol table"):
        from_fst(word_fst(1, 9), table("a"))
    with pytest.raises(FstError, match="label 1 stands for an empty text; label 0 is epsilon"):
        from_fst(word_fst(1), {1: ""})
    with pytest.raises(FstError, match="has a surrogate"):
        from_fst(word_fst(1), {1: "\ud800"})


def test_wrong_arguments() -> None:
    with pytest.raises(TypeError, match="expected an FST of pynini or pywrapfst, or the path of a file, not int"):
        from_fst(3)
    with pytest.raises(TypeError, match=r"a token type is .*, not int"):
        from_fst(word_fst(97), 3)
    with pytest.raises(TypeError, match="label 1 stands for a text or a Label, not for bytes"):
        from_fst(word_fst(1), {1: b"a"})
    with pytest.raises(ValueError, match="a token type is 'byte', 'utf8', a symbol table or a mapping, not 'utf-8'"):
        from_fst(word_fst(97), "utf-8")
    with pytest.raises(ValueError, match="a separator stands between the symbols of a symbol table, and there is none"):
        from_fst(word_fst(97), separator=" ")


@pytest.mark.parametrize("cost", [nan, -inf])
@pytest.mark.parametrize("place", [1, 2])
def test_weights_that_are_none(tmp_path: Path, cost: float, place: int) -> None:
    # OpenFst makes no such weight, but it reads files that have one.
    fst = fst_of(2, [(0, 97, 97, 0.25 * place, 1)], {1: 0.5 / place})
    path = tmp_path / "bad.fst"
    path.write_bytes(fst.write_to_string().replace(pack("<f", 0.5), pack("<f", cost)))
    with pytest.raises(FstError, match="the FST has a weight that is not a number, or minus infinity"):
        from_fst(path)


def test_arc_types_that_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    class Odd(pynini.Fst):
        def arc_type(self) -> str:
            return "expectation"

    with pytest.raises(FstError, match="an FST with arcs of type 'expectation' is not supported"):
        from_fst(Odd())


def test_openfst_is_imported_on_first_use() -> None:
    code = (
        "import sys, automata, constraints, tokenfst; sys.exit('pywrapfst' in sys.modules or 'pynini' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# Limits


def test_limits_and_cancellation() -> None:
    fst = pynini.union(*[str(number) for number in range(2000)])
    message = r"reading an FST of .* arcs takes.*limit `memory`"
    with Work(Limits(memory=1000)).current(), pytest.raises(LimitExceeded, match=message):
        from_fst(fst)
    cancellation = Cancellation()
    work = Work(cancellation=cancellation)
    with work.current():
        cancellation.cancel()
        with pytest.raises(Cancelled):
            compile_expr(image(from_fst(fst), pynini.closure(byte.BYTE)))
    large = from_fst(pynini.union("a", "b").closure() + "a" + pynini.union("a", "b") ** 12)
    with pytest.raises(LimitExceeded, match=r"limit `states`.*the part responsible is Acceptor\(<"):
        compile_expr("x" + large, Work(Limits(states=1000)))
