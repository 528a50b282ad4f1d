"""Compiling in the background gives what compiling gives, once for equal content, within its memory; and it stops."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, wait
from dataclasses import dataclass, replace
from typing import Any
from unittest import mock

import numpy as np
import pydantic
import pytest
import torch

import constraints
import tokenfst
from automata import Cancelled, EmptyLanguage, LimitExceeded, Limits, compile_expr, literal, parse
from automata.errors import NondeterministicGrammar
from automata.limits import current_work
from decoding.compiling import BackgroundCompiler, Compiling
from decoding.compiling.content import content_of
from decoding.masking.batch_tracker import BatchTracker
from tokenfst import TokenAutomaton, Vocabulary
from tokenfst.vocabulary.all_bytes import ALL_BYTES

BYTES = Vocabulary(
    [*(bytes([value]) for value in range(256)), b"", b"ab", b'":', b"<x>"], [256], special_tokens={"<x>": 259}
)
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "array"}}, "required": ["a"]}
# A state for each set of names: read in a moment, and tables take longer than the first turns.
MANY_ORDERS = {
    "type": "object",
    "properties": {name: {"type": "string"} for name in "abcdefgh"},
    "required": [*"abcdefgh"],
    "additionalProperties": False,
}
# Seconds that nothing here takes, on a busy machine either.
PATIENCE = 300
GENEROUS = Limits(states=10**9, memory=1 << 33, seconds=30)
ENDLESS = "(?:a|b)*a(?:a|b){60}"


def made() -> list[Any]:
    """One constraint of each kind; each call makes them again."""
    rules = 'start: "a" start "b" | "x"'
    tools = [("add", SCHEMA), ("stop", {"type": "object", "properties": {}, "additionalProperties": False})]
    return [
        "(ab|c)*",
        parse(r"\d{2,4}[^a]"),
        literal("ab") | ~parse("(?:a|b)+"),
        compile_expr(parse("a+b")),
        compile_expr(constraints.choice([f"name {number}" for number in range(3000)])),
        constraints.grammar(rules, syntax="lark"),
        constraints.json(),
        constraints.json_schema(SCHEMA),
        constraints.json_schema({"$defs": {"t": {"items": {"$ref": "#/$defs/t"}}}, "$ref": "#/$defs/t"}),
        constraints.json_schema(MANY_ORDERS, property_order="any"),
        constraints.typed(dict[str, int]),
        constraints.integer(0, 10),
        constraints.tool_calls(tools, format="hermes"),
    ]


@pytest.fixture
def compiler() -> Iterator[BackgroundCompiler]:
    with BackgroundCompiler() as found:
        yield found


def test_an_automaton_keeps_the_limits_of_its_compiler(compiler: BackgroundCompiler) -> None:
    """Its tables, and so its budgets, do not depend on the turn in which it was compiled."""
    schema = constraints.json_schema(MANY_ORDERS, property_order="any")
    automaton = compiler.submit(schema, BYTES).result(PATIENCE)
    alone = tokenfst.compile(schema, BYTES)
    assert automaton.min_tokens(automaton.start) == alone.min_tokens(alone.start)
    assert alone.min_tokens(alone.start) == alone.complete().min_tokens(alone.complete().start)


class Gate:
    """Holds every compilation until it is opened, and counts them."""

    def __init__(self) -> None:
        self.open, self.count, self.begun = threading.Event(), 0, threading.Semaphore(0)
        self.compile: Callable[..., Any] = tokenfst.compile

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        self.count += 1
        self.begun.release()
        assert self.open.wait(20)
        return self.compile(*arguments, **options)


@pytest.fixture
def gate() -> Iterator[Gate]:
    found = Gate()
    with mock.patch("tokenfst.compile", found):
        yield found
    found.open.set()


def same(left: Any, right: Any) -> bool:
    """Whether two automata agree on all masks within three tokens of the start."""
    pairs = [(left.start, right.start)]
    for _ in range(3):
        following = []
        for one, other in pairs:
            mask = left.mask(one)
            if not np.array_equal(mask, right.mask(other)):
                return False
            allowed = [token for token in np.flatnonzero(mask).tolist() if token != 256][:8]
            following += [(left.advance(one, token), right.advance(other, token)) for token in allowed]
        pairs = following[:20]
    return True


def test_it_makes_what_compile_makes(compiler: BackgroundCompiler) -> None:
    requests = [compiler.submit(constraint, BYTES) for constraint in made()]
    for constraint, request in zip(made(), requests, strict=True):
        expected = tokenfst.compile(constraint, BYTES)
        found = request.result(PATIENCE)
        assert type(found) is type(expected)
        assert same(found, expected)


def test_tables_are_made_in_the_background() -> None:
    with BackgroundCompiler(complete=True) as compiler:
        automaton: Any = compiler.submit(constraints.json(), BYTES).result(PATIENCE)
        begun = time.monotonic()
        while automaton._tables.known is None and time.monotonic() < begun + PATIENCE:
            time.sleep(0.01)
        assert automaton.complete().shared is automaton._tables.known
        assert automaton.nbytes > automaton.complete().nbytes
        hopeless = BackgroundCompiler(complete=True, limits=Limits(memory=1 << 17))
        found = hopeless.submit(constraints.choice(f"{number:05}" for number in range(500)), BYTES).result(PATIENCE)
        hopeless.close()
        assert found.accepts("00123")


def test_options_are_passed_on_and_are_part_of_the_key(compiler: BackgroundCompiler) -> None:
    palindromes = constraints.grammar('start: "a" start "a" | "b" start "b" | ""', syntax="lark")
    carried = replace(palindromes, ambiguity="parallel", max_configurations=16)
    parallel = compiler.submit(carried, BYTES).result(PATIENCE)
    assert parallel.accepts(b"abba")
    with pytest.raises(NondeterministicGrammar):
        compiler.submit(palindromes, BYTES).result(PATIENCE)
    label = constraints.token("t")
    for ids in ([97], [98]):
        assert compiler.submit(label, BYTES, terminals={"t": ids}).result(PATIENCE).accepts(ids)


def are_one(left: TokenAutomaton, right: TokenAutomaton) -> bool:
    """Whether two automata share everything but what they were compiled from."""
    parts = vars(left).keys() & vars(right).keys() - {"source", "_completed", "_original"}
    return type(left) is type(right) and all(vars(left)[name] is vars(right)[name] for name in parts)


@dataclass
class Name:
    name: str


@dataclass
class Place:
    name: str


class Never(pydantic.BaseModel):
    name: str

    @pydantic.field_validator("name")
    @classmethod
    def refuse(cls, name: str) -> str:
        raise ValueError("never valid")


def test_constraints_of_one_language_keep_their_own_values(gate: Gate) -> None:
    """While they are compiled, from the cache, and where explanations name a place."""
    whole = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    by_reference = {**whole, "properties": {"name": {"$ref": "#/$defs/name"}}, "$defs": {"name": {"type": "string"}}}
    kinds = [constraints.typed(kind) for kind in (Name, Place, Never)]
    with mock.patch("decoding.compiling.background._FIRST_TURN", PATIENCE), BackgroundCompiler() as compiler:
        requests = [compiler.submit(kind, BYTES) for kind in kinds]
        gate.open.set()
        found = [request.result(PATIENCE) for request in requests]
        found += [compiler.submit(kind, BYTES).result(PATIENCE) for kind in kinds]
        assert (len(compiler), gate.count) == (1, 1)
        for automaton, kind in zip(found, [*kinds, *kinds], strict=True):
            assert are_one(automaton, found[0])
            assert automaton.source is not None
            assert automaton.source.constraint is kind
            assert automaton.shared is found[0].shared
            complete = automaton.complete()
            assert complete is automaton.complete()
            assert complete.source is automaton.source
            assert complete.shared is found[0].complete().shared
        tracker = BatchTracker(found, BYTES, torch.zeros((6, 1), dtype=torch.int64), torch.device("cpu"), len(BYTES))
        assert "1 automata" in repr(tracker._arena)
        assert [result.source and result.source.constraint.parse('{"name": "x"}') for result in found[:2]] == [
            Name("x"),
            Place("x"),
        ]
        schemas = [compiler.submit(constraints.json_schema(schema), BYTES) for schema in (whole, by_reference)]
        explained = [str(request.result(PATIENCE).explain(b'{"name": 1')) for request in schemas]
        assert ["/$defs/name" in text for text in explained] == [False, True]


def test_equal_content_is_compiled_once(gate: Gate) -> None:
    # What is not done within the first turn, as on a busy machine, would begin again.
    with mock.patch("decoding.compiling.background._FIRST_TURN", PATIENCE), BackgroundCompiler() as compiler:
        kinds = made()
        requests = [compiler.submit(constraint, BYTES) for _ in range(3) for constraint in made()]
        gate.open.set()
        results = [request.result(PATIENCE) for request in requests]
        assert gate.count == len(kinds) == len(compiler)
        for number in range(len(kinds)):
            assert are_one(results[number], results[number + len(kinds)])
            assert are_one(results[number], results[number + 2 * len(kinds)])
        again = compiler.submit(made()[7], BYTES)
        assert again.done()
        assert are_one(again.result(), results[7])
        other = Vocabulary([*BYTES.tokens[:256], b"", b"aa"], [256])
        assert compiler.submit("(ab|c)*", other).result(PATIENCE) is not results[0]
        assert gate.count == len(kinds) + 1


def test_a_failure_is_raised_for_all_and_not_kept(compiler: BackgroundCompiler, gate: Gate) -> None:
    requests = [compiler.submit("(?P<NOT>(.|\\n)*)", BYTES) for _ in range(3)]
    gate.open.set()
    for request in requests:
        with pytest.raises(EmptyLanguage):
            request.result(PATIENCE)
    assert (gate.count, len(compiler)) == (1, 0)
    assert isinstance(compiler.submit("(?P<NOT>(.|\\n)*)", BYTES).exception(PATIENCE), EmptyLanguage)
    assert gate.count == 2


def test_a_limit_that_was_passed_is_an_error() -> None:
    with BackgroundCompiler(limits=Limits(states=1000)) as compiler:
        assert isinstance(compiler.submit(ENDLESS, BYTES).exception(PATIENCE), LimitExceeded)


def test_giving_up_stops_the_compilation_and_nothing_else() -> None:
    stopped, original = threading.Event(), tokenfst.compile

    def watched(*arguments: Any, **options: Any) -> Any:
        try:
            return original(*arguments, **options)
        except Cancelled:
            stopped.set()
            raise

    with mock.patch("tokenfst.compile", watched), BackgroundCompiler(threads=1, limits=GENEROUS) as compiler:
        first, second = compiler.submit(ENDLESS, BYTES), compiler.submit(ENDLESS, BYTES)
        time.sleep(0.2)
        assert first.cancel()
        assert first.cancelled()
        with pytest.raises(CancelledError):
            first.result()
        # Somebody still waits for it.
        assert not second.done()
        assert not stopped.wait(0.5)
        assert second.cancel()
        assert stopped.wait(20)
        assert wait([first, second], 1).not_done == set()
        assert second.cancel()


def test_what_takes_long_makes_nobody_wait() -> None:
    with BackgroundCompiler(threads=1, limits=GENEROUS) as compiler:
        long = [compiler.submit(f"{ENDLESS}{number}", BYTES) for number in range(5)]
        short = [compiler.submit(f"abc{number}", BYTES) for number in range(5)]
        for number, request in enumerate(short):
            assert request.result(PATIENCE).accepts(f"abc{number}")
        assert not any(request.done() for request in long)


def test_what_takes_several_turns_is_done_in_the_end() -> None:
    turns, original = list[float](), tokenfst.compile

    def slow(constraint: Any, vocabulary: Any, *, limits: Limits, **options: Any) -> Any:
        turns.append(current_work().limits.seconds)
        if turns[-1] < 1:
            raise LimitExceeded("compiling takes more", limit="seconds")
        return original(constraint, vocabulary, limits=limits, **options)

    with mock.patch("tokenfst.compile", slow), BackgroundCompiler(limits=Limits(seconds=2)) as compiler:
        assert compiler.submit("abc", BYTES).result(PATIENCE).accepts("abc")
        assert compiler.submit("abc", BYTES).result(PATIENCE).accepts("abc")
    assert turns == [0.02, 0.2, 2]


def test_what_was_given_up_can_be_asked_for_again(compiler: BackgroundCompiler, gate: Gate) -> None:
    given_up = compiler.submit("abc", BYTES)
    assert gate.begun.acquire(timeout=PATIENCE)
    assert given_up.cancel()
    again = compiler.submit("abc", BYTES)
    gate.open.set()
    assert again.result(PATIENCE).accepts(b"abc")
    assert gate.count == 2
    assert not again.cancel()
    assert not again.cancelled()


def test_the_least_recently_used_goes() -> None:
    sizes = {text: tokenfst.compile(text, BYTES).nbytes + len(text) for text in ("a{1,90}", "b{1,90}", "c{1,90}")}
    first, second, third = sizes
    with BackgroundCompiler(max_bytes=sum(sizes.values()) - 1, threads=1) as compiler:
        held = {text: compiler.submit(text, BYTES).result(PATIENCE) for text in (first, second)}
        assert compiler.submit(first, BYTES).result() is held[first]
        compiler.submit(third, BYTES).result(PATIENCE)
        assert compiler.nbytes == sizes[first] + sizes[third] <= compiler.max_bytes
        assert compiler.submit(first, BYTES).result() is held[first]
        assert compiler.submit(second, BYTES).result(PATIENCE) is not held[second]
        assert not compiler.submit(third, BYTES).done()
        # What is larger than all there is room for drives nothing else out.
        kept = len(compiler)
        compiler.submit("d{1,4000}e", BYTES).result(PATIENCE)
        assert len(compiler) >= kept
        compiler.clear()
        assert compiler.nbytes == len(compiler) == 0


def commented(kind: str, number: int) -> Any:
    """A constraint with a long text that makes no difference to its language."""
    text = f"{number}" + "x" * 50_000
    schema = {"type": "integer", "minimum": number, "maximum": number + 7, "description": text}
    kinds: dict[str, Callable[[], Any]] = {
        "pattern": lambda: f"a{number}(?#{text})",
        "schema": lambda: constraints.json_schema(schema),
        "sequence": lambda: constraints.sequence("x", constraints.json_schema(schema)),
        "either": lambda: constraints.json_schema(schema) | constraints.json_schema({"const": number}),
        "tool": lambda: constraints.tool_calls(
            [("f", {"type": "object", "properties": {"a": schema}})], format="hermes"
        ),
    }
    return kinds[kind]()


@pytest.mark.parametrize("kind", ["pattern", "schema", "sequence", "either", "tool"])
def test_the_texts_of_constraints_count(kind: str) -> None:
    with BackgroundCompiler(max_bytes=500_000, threads=1) as compiler:
        for number in range(1, 15):
            compiler.submit(commented(kind, number), BYTES).result(PATIENCE)
            assert len(compiler) * 50_000 < compiler.nbytes <= compiler.max_bytes
        assert 2 <= len(compiler) < 10


def test_closing_gives_everything_up() -> None:
    compiler = BackgroundCompiler(threads=1, limits=GENEROUS)
    requests = [compiler.submit(ENDLESS + "c" * number, BYTES) for number in range(3)]
    time.sleep(0.1)
    compiler.close()
    assert all(request.cancelled() for request in requests)
    with pytest.raises(RuntimeError, match="closed"):
        compiler.submit("a", BYTES)


def test_leaving_the_block_closes() -> None:
    with BackgroundCompiler() as compiler:
        pass
    with pytest.raises(RuntimeError, match="closed"):
        compiler.submit("a", BYTES)


def test_a_request_may_be_given_up_after_its_job_let_it_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before it is told, at a moment that other threads hit only by chance."""
    settle, given_up = Compiling.settle, list[bool]()

    def late(request: Compiling, automaton: TokenAutomaton | None, error: BaseException | None) -> None:
        given_up.append(request.cancel())
        settle(request, automaton, error)

    monkeypatch.setattr(Compiling, "settle", late)
    with BackgroundCompiler() as compiler:
        request = compiler.submit("ab", BYTES)
        assert not wait([request], PATIENCE).not_done
        assert given_up == [True]
        assert request.cancelled()


def test_a_server_with_an_event_loop_waits_for_it(compiler: BackgroundCompiler) -> None:
    async def serve() -> list[bool]:
        found = await asyncio.gather(*[asyncio.wrap_future(compiler.submit("a+b", BYTES)) for _ in range(5)])
        return [automaton.accepts(b"aab") for automaton in found]

    assert asyncio.run(serve()) == [True] * 5


def test_many_threads_ask_for_and_give_up_many_things() -> None:
    patterns = [f"(?:a|b){{{low},{low + 3}}}c*" for low in range(12)]
    wrong: list[str] = []

    def client(number: int) -> None:
        order = np.random.default_rng(number).permutation(len(patterns) * 4) % len(patterns)
        for at, which in enumerate(order.tolist()):
            request = shared.submit(patterns[which], BYTES)
            if (at + number) % 5 == 0 and request.cancel():
                continue
            if not request.result(PATIENCE).accepts(b"a" * which) or request.result().accepts(b"a" * (which + 4)):
                wrong.append(patterns[which])

    with BackgroundCompiler(max_bytes=4 * tokenfst.compile(patterns[-1], BYTES).nbytes, threads=3) as shared:
        threads = [threading.Thread(target=client, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        assert not any(thread.is_alive() for thread in threads)
        assert not wrong
        shared.submit("what is cached has grown", BYTES).result(PATIENCE)
        assert shared.nbytes <= shared.max_bytes


def test_what_cannot_be_seen_is_known_by_itself(compiler: BackgroundCompiler) -> None:
    def add(a: int, b: int) -> int:
        raise AssertionError

    calls, others = (constraints.tool_calls([add], format="pythonic") for _ in range(2))
    assert content_of(calls) is calls
    assert compiler.submit(calls, BYTES).result(PATIENCE) is compiler.submit(calls, BYTES).result()
    assert compiler.submit(others, BYTES).result(PATIENCE) is not compiler.submit(calls, BYTES).result()


def test_a_cancelled_compilation_says_so_to_nobody_else() -> None:
    """The error of a compilation that was stopped never reaches a request that was made after."""
    with BackgroundCompiler(limits=GENEROUS) as compiler:
        for _ in range(20):
            compiler.submit(ENDLESS, BYTES).cancel()
            request = compiler.submit(ENDLESS, BYTES)
            time.sleep(0.01)
            assert not (request.done() and isinstance(request.exception(), Cancelled))
            request.cancel()


def test_a_compiler_from_before_a_fork_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with BackgroundCompiler() as compiler:
        known = compiler.submit("a+", ALL_BYTES).result()
        monkeypatch.setattr("os.getpid", lambda: 0)
        assert compiler.submit("a+", ALL_BYTES).result() is known
        with pytest.raises(RuntimeError, match="do not survive a fork"):
            compiler.submit("b+", ALL_BYTES)


def test_what_is_no_constraint_is_said_at_once() -> None:
    wrong: Any
    with BackgroundCompiler() as compiler:
        for wrong in (set(), 3, None):
            with pytest.raises(TypeError, match="is not a constraint"):
                compiler.submit(wrong, ALL_BYTES)
        for wrong in ([1], {"X": 97}):
            with pytest.raises(TypeError, match="terminals give names their token ids"):
                compiler.submit("a", ALL_BYTES, terminals=wrong)


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ({"max_bytes": None}, TypeError),
        ({"max_bytes": -1}, ValueError),
        ({"threads": "2"}, TypeError),
        ({"limits": None}, TypeError),
    ],
)
def test_a_compiler_of_wrong_arguments_is_refused(given: dict[str, Any], kind: type[Exception]) -> None:
    with pytest.raises(kind):
        BackgroundCompiler(**given)


def test_a_request_is_answered_even_if_its_automaton_cannot_be_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise MemoryError

    with BackgroundCompiler() as compiler:
        monkeypatch.setattr(compiler, "_keep", fails)
        assert compiler.submit("abc", BYTES).result(timeout=30).accepts("abc")


def test_a_callback_may_close_the_compiler() -> None:
    compiler, errors = BackgroundCompiler(), list[BaseException]()

    def close(_: object) -> None:
        try:
            compiler.close()
        except BaseException as error:
            errors.append(error)

    request = compiler.submit("(a|b)*a(a|b){8}", BYTES)
    request.add_done_callback(close)
    request.result(timeout=30)
    compiler.close()  # waits for the thread of the callback
    assert errors == []
    assert len(compiler) == 0
