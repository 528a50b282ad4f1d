"""Constraints between markers equal what a host finds that watches the text, on every text over small alphabets."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
import pytest
from strategies import accepted, strings

import constraints
import tokenfst
from automata import ByteAutomaton, Expr, compile_expr, literal, parse
from automata.limits import Work
from automata.pushdown.grammar import Grammar
from constraints.composing import Composed, Parsed
from decoding import bundled_model, vocabulary_of
from tokenfst import TokenAutomaton, Vocabulary, from_tekken

ANYTHING = r"(.|\n)*"
TREES = {"$defs": {"t": {"type": "array", "items": {"$ref": "#/$defs/t"}}}, "$ref": "#/$defs/t"}
TREE = constraints.json_schema(TREES, whitespace="compact")
SUMS = constraints.grammar('start: NUMBER ("+" NUMBER)*\nNUMBER: /1+/\n%ignore " "', syntax="lark")
BALANCED = constraints.grammar('start: "a" start "b" | "ab"', syntax="lark")


def is_tree(text: bytes) -> bool:
    try:
        value = json.loads(text)
    except ValueError:
        return False
    return isinstance(value, list)


def is_balanced(text: bytes) -> bool:
    half = len(text) // 2
    return half > 0 and text == b"a" * half + b"b" * half


def is_sum(text: bytes) -> bool:
    return re.fullmatch(rb" *1+ *(\+ *1+ *)*", text) is not None


def matches(pattern: str) -> Callable[[bytes], bool]:
    return lambda text: re.fullmatch(pattern.encode(), text) is not None


class Case(NamedTuple):
    """Triggers with what is read behind them, and who knows it: by marker the constraint, its oracle and the end."""

    alphabet: bytes
    length: int
    triggers: dict[str, tuple[Any, Callable[[bytes], bool], str]]
    at_least: int = 0
    at_most: int | None = None

    def constraint(self) -> Composed[Any]:
        triggers = {marker: (part, end) if end else part for marker, (part, _, end) in self.triggers.items()}
        return constraints.triggered(triggers, at_least=self.at_least, at_most=self.at_most)

    def holds(self, text: bytes, count: int = 0) -> bool:
        """Whether a text is allowed, by watching it: the first marker counts, and then each end that may be one."""
        ends = [
            (text.index(marker.encode()) + len(marker), marker) for marker in self.triggers if marker.encode() in text
        ]
        if not ends:
            return self.at_least <= count and (self.at_most is None or count <= self.at_most)
        begin, marker = min(ends)
        _, inside, end = self.triggers[marker]
        return any(
            text.startswith(end.encode(), at)
            and inside(text[begin:at])
            and self.holds(text[at + len(end) :], count + 1)
            for at in range(begin, len(text) + 1)
        )


CASES = {
    "pattern": Case(b"ab<>", 6, {"<": ("a*b?", matches("a*b?"), ">")}),
    "pattern that may hold its end": Case(b"ab<>", 6, {"<": ("[ab>]*", matches("[ab>]*"), ">>")}),
    "no end": Case(b"ab<", 8, {"<": ("a+", matches("a+"), "")}),
    "markers that overlap themselves": Case(b"ab!", 8, {"aba": ("b*", matches("b*"), "!")}),
    "two markers": Case(b"ab!", 8, {"ab": ("a|bb", matches("a|bb"), "!"), "!!": ("b*", matches("b*"), "a")}),
    "markers with one ending": Case(b"ab!", 8, {"a!": ("a", matches("a"), ""), "b!": ("b", matches("b"), "!")}),
    "at least two": Case(b"ab<", 8, {"<": ("a|b", matches("a|b"), "")}, at_least=2),
    "at most one": Case(b"ab<", 8, {"<": ("a*", matches("a*"), "b")}, at_most=1),
    "one or two": Case(b"ab<", 8, {"<": ("", matches(""), "a"), "b": ("a", matches("a"), "")}, 1, 2),
    "automaton": Case(b"ab<", 8, {"<": (compile_expr(parse("(ab)*")), matches("(ab)*"), "<")}),
    "schema": Case(b"[],<", 6, {"<": (TREE, is_tree, "<")}),
    "schema, no end": Case(b"[],<", 6, {"<": (TREE, is_tree, "")}, at_most=2),
    "schema and pattern": Case(b"[],<", 6, {"<": (TREE, is_tree, ","), ",,": ("<*", matches("<*"), "]")}),
    "grammar": Case(b"ab<!", 6, {"<": (BALANCED, is_balanced, "!")}),
    "grammar with words": Case(b"1+ <", 6, {"<": (SUMS, is_sum, "<")}, at_least=1),
    "two grammars": Case(b"ab1 <", 6, {"<": (BALANCED, is_balanced, "<"), "1": (SUMS, is_sum, "b")}),
    "grammar and schema": Case(b"ab[]<", 6, {"<": (BALANCED, is_balanced, ""), "]": (TREE, is_tree, "<")}, at_most=2),
}


def byte_texts(constraint: Any, alphabet: bytes, length: int) -> set[bytes]:
    """The texts of a constraint, up to a length."""
    work = Work()
    if isinstance(constraint, Grammar):
        from automata.pushdown.compile import compile_grammar

        automaton: Any = compile_grammar(constraint, work=work)
    else:
        automaton = constraint.to_automaton(work)
    if isinstance(automaton, ByteAutomaton):
        return accepted(automaton, alphabet, length)
    found, level = set(), [(b"", [(automaton.start, ())])]
    for _ in range(length + 1):
        following = []
        for text, configurations in level:
            if any(automaton.steps_from(each, automaton.num_classes) for each in configurations):
                found.add(text)
            for byte in alphabet:
                column = int(automaton.byte_class[byte])
                reached = [after for each in configurations for after in automaton.steps_from(each, column)]
                if reached:
                    following.append((text + bytes([byte]), reached))
        level = following
    return found


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_triggered_text_is_what_a_host_would_find(case: Case) -> None:
    expected = {text for text in strings(case.alphabet, case.length) if case.holds(text)}
    assert byte_texts(case.constraint(), case.alphabet, case.length) == expected
    assert 0 < len(expected) < len(strings(case.alphabet, case.length))


@pytest.mark.parametrize("name", ["pattern", "schema", "schema and pattern", "grammar"])
@pytest.mark.parametrize("marker", ["<", "<,"])
def test_after_a_marker_the_constraint_holds_to_the_end(name: str, marker: str) -> None:
    case = CASES[name]
    part, inside, _ = next(iter(case.triggers.values()))
    found = byte_texts(constraints.after(marker, part), bytes(sorted({*case.alphabet, *b","})), 5)

    def holds(text: bytes) -> bool:
        _, there, behind = text.partition(marker.encode())
        return bool(there) and inside(behind)

    assert found == {text for text in strings(bytes(sorted({*case.alphabet, *b","})), 5) if holds(text)}


def test_a_sequence_is_one_text_after_the_other() -> None:
    inner = constraints.sequence("(a|,)*", TREE)
    parts: list[tuple[Any, Callable[[bytes], bool]]] = [
        ("a?", matches("a?")),
        (TREE, is_tree),
        (literal("a"), matches("a")),
        (inner, is_late_tree),
    ]

    def holds(text: bytes, at: int = 0) -> bool:
        if at == len(parts):
            return not text
        return any(parts[at][1](text[:end]) and holds(text[end:], at + 1) for end in range(len(text) + 1))

    found = byte_texts(constraints.sequence(*[part for part, _ in parts]), b"[],a", 7)
    assert found == {text for text in strings(b"[],a", 7) if text.count(b"[") == text.count(b"]") and holds(text)}
    assert len(found) == 12


def is_late_tree(text: bytes) -> bool:
    begin = text.find(b"[")
    return begin >= 0 and not text[:begin].strip(b"a,") and is_tree(text[begin:])


def test_free_text_holds_no_marker() -> None:
    found = accepted(compile_expr(constraints.free_text("aba", "bb")), b"ab!", 8)
    assert found == {text for text in strings(b"ab!", 8) if b"aba" not in text and b"bb" not in text}
    assert compile_expr(constraints.free_text("x")).accepts("é".encode())
    assert not compile_expr(constraints.free_text("x")).accepts("é".encode()[:1])


def test_what_a_part_looks_at_is_its_own_text() -> None:
    found = byte_texts(constraints.sequence("a", r"(^a|b$)c?", "c?"), b"abc", 4)
    assert found == {text for text in strings(b"abc", 4) if re.fullmatch(rb"a(ac?|b)c?", text)}
    found = byte_texts(constraints.sequence(BALANCED, r"^a$|b", "a?"), b"ab", 6)
    expected = matches("[ab]a?")
    assert found == {
        text for text in strings(b"ab", 6) if any(is_balanced(text[:-n]) and expected(text[-n:]) for n in (1, 2))
    }


@pytest.mark.parametrize(
    ("inner", "letters"),
    [("a*b", (b"a", b"b")), (BALANCED, (b"a", b"b")), (constraints.typed(int), (b"1", b"0"))],
    ids=["pattern", "grammar", "schema"],
)
def test_markers_may_be_tokens(inner: Any, letters: tuple[bytes, bytes]) -> None:
    """Of all sequences of up to 5 tokens, those of free text, `<on>`, the constraint, `<off>`, and so on."""
    names = {"<on>": 5, "<off>": 6}
    vocabulary = Vocabulary([*letters, letters[0] + b"<", b"!", b"", b"", b""], [4], special_tokens=names)
    on, off = map(constraints.token, names)
    automaton = tokenfst.compile(constraints.triggered({on: (inner, off), "<": ("!", "!")}), vocabulary)
    alone = tokenfst.compile(constraints.sequence(inner), vocabulary)

    def holds(tokens: list[int]) -> bool:
        for at, token in enumerate(tokens):
            if token == names["<on>"]:
                ends = [end for end, other in enumerate(tokens) if other == names["<off>"]]
                return any(alone.accepts(tokens[at + 1 : end]) and holds(tokens[end + 1 :]) for end in ends if end > at)
            if token == names["<off>"]:
                return False
            if token == 2:  # it ends with the marker
                return tokens[at + 1 : at + 3] == [3, 3] and holds(tokens[at + 3 :])
        return True

    found = [tokens for tokens in all_sequences([0, 1, 2, 3, 5, 6], 5) if automaton.accepts(tokens)]
    assert found == [tokens for tokens in all_sequences([0, 1, 2, 3, 5, 6], 5) if holds(tokens)]
    assert sum(5 in tokens for tokens in found) > 5


def all_sequences(tokens: list[int], length: int) -> Iterator[list[int]]:
    level: list[list[int]] = [[]]
    for _ in range(length + 1):
        yield from level
        level = [[*each, token] for each in level for token in tokens]


def test_mistakes_are_said() -> None:
    with pytest.raises(ValueError, match="'<a' occurs in 'x<a>'"):
        constraints.triggered({"<a": "b", "x<a>": "c"})
    for markers in ({}, {"": "a"}):
        with pytest.raises(ValueError, match="marker"):
            constraints.triggered(markers)
    with pytest.raises(ValueError, match="`at_most` is 1, which is less than `at_least`, 2"):
        constraints.triggered({"<": "a"}, at_least=2, at_most=1)
    work = Work()
    stacked: Any = TREE.to_automaton(work)
    with pytest.raises(TypeError, match=r"compiled already: give what"):
        constraints.after("<", stacked)


# With real tokenizers

RECORD = {
    "type": "object",
    "properties": {"name": {"enum": ["Ann", "Zoë"]}, "tags": {"type": "array", "items": {"$ref": "#"}}},
    "required": ["name"],
    "additionalProperties": False,
}


def is_record(text: bytes) -> bool:
    def holds(value: Any) -> bool:
        return (
            isinstance(value, dict)
            and value.get("name") in ("Ann", "Zoë")
            and set(value) <= {"name", "tags"}
            and isinstance(value.get("tags", []), list)
            and all(map(holds, value.get("tags", [])))
        )

    try:
        return holds(json.loads(text))
    except ValueError:
        return False


AGENT = Case(
    b"",
    0,
    {
        "<tool_call>": (constraints.json_schema(RECORD), is_record, "</tool_call>"),
        "<date>": (r"\d{4}-\d\d", matches(r"\d{4}-\d\d"), "</date>"),
    },
)


def agent_text(rng: random.Random) -> str:
    """A text that the agent's constraint allows."""
    parts = []
    for _ in range(rng.randrange(4)):
        parts.append(rng.choice(["", "Let me see. ", "Größe < 3, <tool> or <dat", "<<", "a\n"]))
        record: dict[str, Any] = {"name": rng.choice(["Ann", "Zoë"])}
        if rng.random() < 0.5:
            record["tags"] = [{"name": "Ann"}] * rng.randrange(3)
        parts.append(
            rng.choice(["<date>2024-05</date>", f"<tool_call>{json.dumps(record, ensure_ascii=False)}</tool_call>"])
        )
    return "".join([*parts, rng.choice(["", "Done.", "</tool_call>", "<tool_cal", "<date"])])


@pytest.fixture(scope="module", params=["bundled", "tekken"])
def vocabulary(request: pytest.FixtureRequest) -> Vocabulary:
    if request.param == "bundled":
        return vocabulary_of(bundled_model()[1])
    return from_tekken(str(files("mistral_common") / "data" / "tekken_240911.json"))


@pytest.fixture(scope="module")
def automata_of_agent(vocabulary: Vocabulary) -> tuple[TokenAutomaton, TokenAutomaton]:
    constraint = AGENT.constraint()
    assert isinstance(constraint, Composed)
    return tokenfst.compile(constraint, vocabulary).complete(), tokenfst.compile(constraint, vocabulary)


@cache
def numbers(vocabulary: Vocabulary) -> dict[bytes, int]:
    return {token: number for number, token in enumerate(vocabulary.tokens) if token}


def cut(text: bytes, vocabulary: Vocabulary, rng: random.Random) -> list[int]:
    """Some tokenization of a text."""
    known, tokens, at = numbers(vocabulary), list[int](), 0
    while at < len(text):
        lengths = [length for length in range(1, 17) if text[at : at + length] in known]
        length = rng.choice(lengths)
        tokens.append(known[text[at : at + length]])
        at += length
    return tokens


def test_real_tokens_spell_what_is_allowed(
    vocabulary: Vocabulary, automata_of_agent: tuple[TokenAutomaton, TokenAutomaton]
) -> None:
    rng = random.Random(4)
    for _ in range(60):
        text = agent_text(rng).encode()
        assert AGENT.holds(text)
        tokens = cut(text, vocabulary, rng)
        # With one byte more or less it may be something else.
        place = rng.randrange(len(text) + 1)
        other = text[:place] + rng.choice([b"x", b"<", b">", b""]) + text[place + 1 :]
        for automaton in automata_of_agent:
            assert automaton.accepts(tokens), text
            try:
                other.decode()
            except UnicodeDecodeError:
                continue
            assert automaton.accepts(cut(other, vocabulary, rng)) == AGENT.holds(other), other


def test_random_walks_are_texts_that_a_host_would_take(
    vocabulary: Vocabulary, automata_of_agent: tuple[TokenAutomaton, TokenAutomaton]
) -> None:
    eager, lazy = automata_of_agent
    rng = random.Random(7)
    for _ in range(15):
        state, other, written = eager.start, lazy.start, []
        text = agent_text(rng).encode()
        begin = cut(text[: rng.randrange(len(text) + 1)], vocabulary, rng)
        for at in range(len(begin) + 12):
            mask = eager.mask(state)
            assert np.array_equal(mask, lazy.mask(other))
            token = begin[at] if at < len(begin) else rng.choice(np.flatnonzero(mask).tolist())
            if token in vocabulary.eos_ids:
                break
            state, other = eager.advance(state, token), lazy.advance(other, token)
            written.append(token)
        while not eager.is_final(state):
            least = eager.min_tokens(state)
            token = next(
                token
                for token in np.flatnonzero(eager.mask(state)).tolist()
                if eager.min_tokens(eager.advance(state, token)) < least
            )
            state = eager.advance(state, token)
            written.append(token)
        text = vocabulary.detokenize(written)
        assert AGENT.holds(text), text


def test_expressions_are_parts_as_values_are() -> None:
    day: Expr = parse(r"\d\d")
    found = constraints.sequence(constraints.integer(1, 12), "-", day, constraints.choice(["a", "b"]))
    automaton = tokenfst.compile(found, Vocabulary([bytes([value]) for value in range(256)]))
    assert automaton.accepts(b"12-30a")
    assert not automaton.accepts(b"13-30a")


def test_notes_of_schemas_are_kept() -> None:
    first, second = (constraints.json_schema({"format": name}) for name in ("color", "flavor"))
    both = [*first.notes, *second.notes]
    assert len(both) == 2
    made: list[Parsed[Any]] = [
        first | second,
        first | literal("a") | second,
        constraints.sequence(first, constraints.optional(second)),
        constraints.triggered({"<": (first, ">"), "(": (second, ")")}),
        constraints.sequence("a", constraints.after("b", first), second, first),
    ]
    for constraint in made:
        assert list(constraint.notes) == both
    assert constraints.sequence("a", TREE).notes == ()
