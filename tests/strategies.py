"""What the tests share: all small patterns, random expressions and vocabularies, and slow, plain oracles."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import product
from unittest import mock

from hypothesis import strategies as st

from automata import (
    ANY_CHAR,
    EMPTY,
    EPSILON,
    ByteAutomaton,
    Expr,
    alternation,
    byte_set,
    char_set,
    complement,
    concat,
    difference,
    intersection,
    literal,
    repeat,
)
from automata import expressions as ex
from tokenfst import Vocabulary

# Patterns

ATOMS = ("a", "b", "[ab]", "[^a]", "")
QUANTIFIERS = ("*", "+", "?", "{2}", "{1,2}", "{,2}", "{2,}")
LAZY = ("*?", "+?", "??", "{1,2}?")


@cache
def all_patterns(
    size: int, atoms: tuple[str, ...] = ATOMS, quantifiers: tuple[str, ...] = QUANTIFIERS
) -> tuple[str, ...]:
    """Every pattern with `size` nodes: an atom is one; a quantifier, a bar or a concatenation is one more."""
    if size == 1:
        return atoms
    found = [f"(?:{inner}){mark}" for inner in all_patterns(size - 1, atoms, quantifiers) for mark in quantifiers]
    for left_size in range(1, size - 1):
        lefts, rights = (all_patterns(n, atoms, quantifiers) for n in (left_size, size - 1 - left_size))
        for left, right in product(lefts, rights):
            found += [left + right, f"({left}|{right})"]
    return tuple(dict.fromkeys(found))


def up_to(size: int, **kinds: tuple[str, ...]) -> list[str]:
    """Every pattern with at most `size` nodes."""
    return [pattern for n in range(1, size + 1) for pattern in all_patterns(n, **kinds)]


@cache
def strings(alphabet: bytes, length: int) -> tuple[bytes, ...]:
    """Every string over some bytes, up to a length."""
    return tuple(bytes(s) for n in range(length + 1) for s in product(alphabet, repeat=n))


def accepted(automaton: ByteAutomaton, alphabet: bytes, length: int) -> set[bytes]:
    """The strings over some bytes, up to a length, that an automaton accepts."""
    table, found = automaton.by_byte().tolist(), set()
    level = {b"": automaton.start} if automaton.start >= 0 else {}
    for _ in range(length + 1):
        found |= {text for text, state in level.items() if automaton.final[state]}
        level = {
            text + bytes([byte]): table[state][byte]
            for text, state in level.items()
            for byte in alphabet
            if table[state][byte] >= 0
        }
    return found


# Expressions, and what they denote by definition

# Two characters of one byte, two of two bytes that share a lead, and a byte that no text has.
UNIVERSE = b"ab" + "éà"[:1].encode() + b"\xff"
UNIVERSE_LENGTH = 4


def _code_point_ranges() -> st.SearchStrategy[tuple[int, int]]:
    ends = st.sampled_from(
        [0, 0x61, 0x62, 0x63, 0x7F, 0x80, 0xE8, 0xE9, 0x7FF, 0x800, 0xD800, 0xE000, 0x10000, 0x10FFFF]
    )
    return st.tuples(ends, ends).map(lambda pair: (min(pair), max(pair)))


def _leaves() -> st.SearchStrategy[Expr]:
    return st.one_of(
        st.sampled_from([EMPTY, EPSILON, ANY_CHAR]),
        st.text("abé", max_size=3).map(literal),
        st.lists(st.sampled_from(UNIVERSE), max_size=3).map(lambda values: literal(bytes(values))),
        st.builds(
            lambda items, negated: char_set(*items, negated=negated),
            st.lists(_code_point_ranges(), max_size=3),
            st.booleans(),
        ),
        st.lists(st.one_of(st.sampled_from(UNIVERSE), st.integers(0, 255)), max_size=4).map(byte_set),
        st.lists(st.lists(st.sampled_from(UNIVERSE), max_size=3).map(bytes), max_size=4).map(ex.strings),
    )


def _larger(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    bounds = st.sampled_from([(0, 1), (0, 2), (0, None), (1, None), (1, 2), (2, 2), (2, None), (0, 0), (3, 3)])
    return st.one_of(
        st.lists(inner, max_size=3).map(lambda parts: concat(*parts)),
        st.lists(inner, max_size=3).map(lambda parts: alternation(*parts)),
        st.builds(lambda part, pair: repeat(part, *pair), inner, bounds),
        st.builds(intersection, inner, inner),
        st.builds(difference, inner, inner),
        st.builds(complement, inner),
    )


def exprs(max_leaves: int = 6) -> st.SearchStrategy[Expr]:
    """Random expressions of every kind."""
    return st.recursive(_leaves(), _larger, max_leaves=max_leaves)


def _is_text(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def denotation(expr: Expr) -> frozenset[bytes]:
    """The strings over UNIVERSE, up to UNIVERSE_LENGTH, that an expression denotes: set operations, nothing clever."""
    every = strings(UNIVERSE, UNIVERSE_LENGTH)
    if isinstance(expr, ex.Literal):
        return frozenset({expr.value} & set(every))
    if isinstance(expr, ex.Strings):
        return frozenset(expr.values) & set(every)
    if isinstance(expr, ex.CharSet):
        return frozenset(
            s for s in every if _is_text(s) and len(s.decode()) == 1 and _holds(expr.ranges, ord(s.decode()))
        )
    if isinstance(expr, ex.ByteSet):
        return frozenset(s for s in every if len(s) == 1 and _holds(expr.ranges, s[0]))
    if isinstance(expr, ex.Concatenation):
        result = frozenset({b""})
        for part in expr.parts:
            result = _joined(result, denotation(part))
        return result
    if isinstance(expr, ex.Alternation):
        return frozenset().union(*map(denotation, expr.parts))
    if isinstance(expr, ex.Repetition):
        return _repeated(denotation(expr.inner), expr.low, expr.high)
    if isinstance(expr, ex.Complement):
        return frozenset(s for s in every if _is_text(s)) - denotation(expr.inner)
    assert isinstance(expr, ex.Intersection | ex.Difference)
    left, right = denotation(expr.left), denotation(expr.right)
    return left & right if isinstance(expr, ex.Intersection) else left - right


def _holds(ranges: tuple[tuple[int, int], ...], value: int) -> bool:
    return any(low <= value <= high for low, high in ranges)


def _joined(left: frozenset[bytes], right: frozenset[bytes]) -> frozenset[bytes]:
    return frozenset(a + b for a in left for b in right if len(a + b) <= UNIVERSE_LENGTH)


def _repeated(inner: frozenset[bytes], low: int, high: int | None) -> frozenset[bytes]:
    power = frozenset({b""})
    for _ in range(low):
        power = _joined(power, inner)
    result = power
    # Past this many more, powers hold nothing that is new and short enough.
    for _ in range(UNIVERSE_LENGTH if high is None else high - low):
        power = _joined(power, inner)
        result |= power
    return result


# Labels

# Bytes that no text has; the names are in another order than the bytes.
STAND_INS = {0xFF: "A", 0xC3: "B"}


def relabelled(expr: Expr) -> Expr:
    """The expression with labels in place of their stand-ins; complements, which are texts, have none to replace."""
    if isinstance(expr, ex.Literal):
        return ex.concat(*[ex.Label(STAND_INS[b]) if b in STAND_INS else bytes([b]) for b in expr.value])
    if isinstance(expr, ex.Strings):
        return ex.alternation(*[relabelled(ex.literal(value)) for value in expr.values])
    if isinstance(expr, ex.ByteSet):
        members = {byte for low, high in expr.ranges for byte in range(low, high + 1)}
        names = [ex.Label(STAND_INS[byte]) for byte in members & set(STAND_INS)]
        return ex.alternation(byte_set(members - set(STAND_INS)), *names)
    if isinstance(expr, ex.Concatenation):
        return ex.concat(*map(relabelled, expr.parts))
    if isinstance(expr, ex.Alternation):
        return ex.alternation(*map(relabelled, expr.parts))
    if isinstance(expr, ex.Repetition):
        return ex.repeat(relabelled(expr.inner), expr.low, expr.high)
    if isinstance(expr, ex.Intersection | ex.Difference):
        return type(expr)(relabelled(expr.left), relabelled(expr.right))
    if isinstance(expr, ex.Complement):
        # A text has no label, so all that matters of what is inside is its texts.
        return ex.complement(ex.intersection(ex.ANY_TEXT, relabelled(expr.inner)))
    return expr


# Vocabularies

TEXT = 'aab"\\é€😀\n'


@st.composite
def vocabularies(draw: st.DrawFn) -> Vocabulary:
    """Random vocabularies of pieces of text cut anywhere, with duplicates and empty tokens; some spell every text."""
    text = draw(st.text(TEXT, min_size=1, max_size=12)).encode()
    places = st.integers(0, len(text))
    cuts = draw(st.lists(st.tuples(places, places), min_size=1, max_size=10))
    tokens = [text[min(cut) : max(cut)] for cut in cuts]
    tokens += [b"\xff", b"\x80"] * draw(st.booleans())
    if draw(st.booleans()):
        tokens += [bytes([byte]) for byte in range(256)]
    else:
        tokens += [
            bytes([byte]) for byte in sorted(set(draw(st.binary(max_size=3)) + draw(st.sampled_from([b"", b"ab"]))))
        ]
    num_eos = draw(st.integers(0, 2))
    tokens += [b"", b"a"][:num_eos]
    order = draw(st.permutations(range(len(tokens)))) if len(tokens) < 20 else range(len(tokens))
    eos = [new for new, old in enumerate(order) if old >= len(tokens) - num_eos]
    return Vocabulary([tokens[old] for old in order], eos)


@contextmanager
def all_sparse() -> Iterator[None]:
    """Within it every automaton that is compiled is sparse, even the smallest."""
    with mock.patch("automata.compile.constructions.DENSE_BYTES", -1):
        yield


class BruteForce:
    """The definition, by search: a token is allowed if some sequence of tokens after it completes a text.

    States are those of the byte automaton; one that no sequence of tokens completes is not live.
    """

    def __init__(self, automaton: ByteAutomaton, vocabulary: Vocabulary) -> None:
        self.start, self.vocabulary = automaton.start, vocabulary
        self.final = automaton.final.tolist()
        table = automaton.by_byte().tolist()
        self.steps = [dict(self._steps(table, state)) for state in range(automaton.num_states)]
        # The least number of tokens to the end of the text, for live states.
        self.distance = self._distances()

    def _steps(self, table: list[list[int]], start: int) -> Iterator[tuple[int, int]]:
        for token_id, token in enumerate(self.vocabulary.tokens):
            state = start
            for byte in token:
                state = table[state][byte] if state >= 0 else -1
            if token and state >= 0:
                yield token_id, state

    def _distances(self) -> dict[int, int]:
        closing = 1 if self.vocabulary.eos_ids else 0
        distance = {state: closing for state, final in enumerate(self.final) if final}
        entering: list[set[int]] = [set() for _ in self.steps]
        for state, steps in enumerate(self.steps):
            for target in steps.values():
                entering[target].add(state)
        queue = deque(distance)
        while queue:
            reached = queue.popleft()
            for state in entering[reached]:
                if state not in distance:
                    distance[state] = distance[reached] + 1
                    queue.append(state)
        return distance

    @property
    def is_empty(self) -> bool:
        return self.start not in self.distance

    def allowed(self, state: int) -> set[int]:
        tokens = {token for token, target in self.steps[state].items() if target in self.distance}
        return tokens | (set(self.vocabulary.eos_ids) if self.final[state] else set())
