"""The differential check of one pattern: this project's automata against an independent matcher, text by text.

    Case            a pattern and how to read it                                          matchers
    texts           what to try on it                                                     candidates
    verdicts        the independent matcher's answer to each text; bytes that are not text are not a match
    byte level      the byte automaton gives the same answers
    token level     so does the token automaton, however a text is cut into tokens; and at states on the way its mask
                    is just the tokens that the byte automaton can read, each of those that are tried can be finished to
                    a text that the matcher accepts, and the end token is allowed where the matcher accepts

The byte automaton answers for whole masks, since nothing else could answer 131,072 questions a state; the matcher
answers for the byte automaton.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from unicodedata import category

import numpy as np
import numpy.typing as npt
from candidates import Walks, letters_of, may_explode, near_misses, random_texts, sampled
from matchers import Case, Matcher, matcher, tables_differ

import tokenfst
from automata import ByteAutomaton, compile_expr
from automata.errors import TokenNotAllowed
from tokenfst import TokenAutomaton, Vocabulary

# Bytes of the texts to try; and how many more than the shortest one where an engine that backtracks may never end.
MAX_LENGTH, MORE_LENGTH = 1_000, 14
# From this length on random texts take a shortest way to an end.
WALK_LENGTH = 24


@dataclass(frozen=True, slots=True)
class Effort:
    """How many strings to try on a pattern.

    Attributes:
        walks: random texts of the automaton, as many again through arcs, and as many again from another parser.
        edits: near misses of each of them.
        randoms: short strings that know nothing of the pattern but its characters.
        cut: texts that are cut into tokens, in three ways each.
        masks: states whose masks are checked.
        tokens: allowed tokens that are tried in each of them.
    """

    walks: int
    edits: int
    randoms: int
    cut: int
    masks: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A string on which the two do not agree; `expected` is the independent matcher's verdict."""

    case: Case
    level: str
    text: bytes
    expected: bool


@dataclass(slots=True)
class Tally:
    """What has been checked so far."""

    cases: int = 0
    texts: int = 0
    matching: int = 0
    cuts: int = 0
    masks: int = 0
    tokens: int = 0
    mismatches: list[Mismatch] = field(default_factory=list)


class Tokens:
    """A vocabulary by its bytes, laid out for running every token at once."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.ids = {token: number for number, token in enumerate(vocabulary.tokens) if token}
        # The length of the longest token with the same first two bytes.
        self.longest: dict[bytes, int] = {}
        for token in self.ids:
            self.longest[token[:2]] = max(self.longest.get(token[:2], 1), len(token))
        self.data = np.frombuffer(b"".join(vocabulary.tokens), np.uint8)
        self.offsets = np.concatenate([[0], np.cumsum([len(token) for token in vocabulary.tokens])]).astype(np.int64)

    def readable(self, automaton: ByteAutomaton, state: int) -> npt.NDArray[np.bool_]:
        """Whether a state of a byte automaton reads each token, `[V]`; no token that emits nothing."""
        return _readable(self.data, self.offsets, automaton.next, automaton.byte_class, state)

    def cuts(self, text: bytes, random: Random) -> Iterator[list[int]]:
        """A text as tokens: always the longest, byte by byte, and at random."""
        yield self._cut(text, lambda ends: ends[-1])
        yield self._cut(text, lambda ends: ends[0])
        yield self._cut(text, random.choice)

    def _cut(self, text: bytes, choose: Callable[[list[int]], int]) -> list[int]:
        place, result = 0, []
        while place < len(text):
            last = min(place + self.longest.get(text[place : place + 2], 1), len(text))
            end = choose([end for end in range(place + 1, last + 1) if text[place:end] in self.ids])
            result.append(self.ids[text[place:end]])
            place = end
        return result


def _readable(
    data: npt.NDArray[np.uint8],
    offsets: npt.NDArray[np.int64],
    next_state: npt.NDArray[np.int32],
    byte_class: npt.NDArray[np.uint8],
    start: int,
) -> npt.NDArray[np.bool_]:
    """Whether a state reads each token, byte by byte of all those that are read so far."""
    lengths = np.diff(offsets)
    result = np.zeros(len(lengths), np.bool_)
    tokens = np.flatnonzero(lengths)
    states = np.full(len(tokens), start)
    for place in range(lengths.max(initial=0)):
        states = next_state[states, byte_class[data[offsets[tokens] + place]]]
        is_read = states >= 0
        tokens, states = tokens[is_read], states[is_read]
        is_over = lengths[tokens] == place + 1
        result[tokens[is_over]] = True
        tokens, states = tokens[~is_over], states[~is_over]
    return result


class Check:
    """One case being checked."""

    def __init__(self, case: Case, effort: Effort, tally: Tally) -> None:
        self.case, self.effort, self.tally = case, effort, tally
        self.judged = case.pattern if case.reference is None else case.reference
        self.matches: Matcher = matcher(case)
        self.expr = case.expr()
        self.automaton = automaton = compile_expr(self.expr)
        self.random = Random(case.pattern)
        self.walks = None if automaton.is_empty else Walks(automaton)

    def verdicts(self, texts: list[bytes]) -> dict[bytes, bool]:
        """The matcher's verdict on every text that it has one on; bytes that are not text do not match."""
        asked = [text for text in texts if _is_text(text)]
        given = dict(zip(asked, self.matches([text.decode() for text in asked]), strict=True))
        verdicts = {text: given.get(text, False) for text in texts}
        return {text: verdict for text, verdict in verdicts.items() if verdict is not None}

    def expect(self, level: str, text: bytes, expected: bool, found: bool) -> None:
        if expected != found and not (_is_text(text) and tables_differ(self.case, text.decode())):
            self.tally.mismatches.append(Mismatch(self.case, level, text, expected))

    # Texts

    def texts(self, material: Sequence[str]) -> list[bytes]:
        """All strings to try: each once, none on which versions of Unicode differ."""
        effort, random, letters = self.effort, self.random, letters_of(self.judged)
        found, limit = [b""], MAX_LENGTH
        if self.walks is not None:
            found = [self.walks.finish(self.walks.start, random)]
            if may_explode(self.judged):
                limit = len(found[0]) + MORE_LENGTH
            found += [self.walks.random(random, min(limit, WALK_LENGTH)) for _ in range(effort.walks)]
            found += [self.walks.through(random) for _ in range(effort.walks)]
        drawn = [*sampled(self.judged, effort.walks, random), *material]
        for text in [text.decode() for text in found if _is_text(text)] + drawn:
            drawn += near_misses(text, letters, effort.edits, random)
        drawn += random_texts(letters, effort.randoms, random)
        found += [text.encode() for text in drawn if not any("\ud800" <= c <= "\udfff" for c in text)]
        # Texts cut inside a character are not texts.
        found += [text[:-1] for text in found if text[-1:] >= b"\x80"][: effort.walks]
        return [text for text in dict.fromkeys(found) if len(text) <= limit and self.fair(text)]

    def fair(self, text: bytes) -> bool:
        """Whether engines that know other versions of Unicode have to agree on a text."""
        if not self.case.depends_on_unicode_version or text.isascii():
            return True
        return all(category(char) not in ("Cn", "Co") for char in text.decode(errors="ignore"))

    # Bytes

    def bytes_level(self, material: Sequence[str]) -> dict[bytes, bool]:
        """Checks the byte automaton; the texts that were tried, with their verdicts."""
        verdicts = self.verdicts(self.texts(material))
        for text, expected in verdicts.items():
            self.expect("bytes", text, expected, self.automaton.accepts(text))
        self.tally.texts += len(verdicts)
        self.tally.matching += sum(verdicts.values())
        return verdicts

    # Tokens

    def token_level(self, verdicts: dict[bytes, bool], tokens: Tokens) -> None:
        if self.walks is None:
            return
        automaton = tokenfst.compile(self.expr, tokens.vocabulary)
        matching = [text for text, expected in verdicts.items() if expected]
        others = [text for text, expected in verdicts.items() if not expected]
        for texts in (matching, others):
            for text in self.random.sample(texts, min(self.effort.cut, len(texts))):
                for cut in tokens.cuts(text, self.random):
                    self.tally.cuts += 1
                    self.expect(f"tokens {cut}", text, verdicts[text], automaton.accepts(cut))
        finished: dict[bytes, bool] = {}
        for number in range(self.effort.masks):
            # The start always, then places inside of texts.
            text = self.random.choice(matching) if number and matching else b""
            cut = next(tokens.cuts(text, self.random))
            finished.update(self.mask(automaton, tokens, cut[: self.random.randrange(len(cut) + 1)]))
        self.tally.tokens += len(finished)
        for whole, expected in self.verdicts([*finished]).items():
            self.expect("after a mask", whole, expected, finished[whole])

    def mask(self, automaton: TokenAutomaton, tokens: Tokens, before: list[int]) -> dict[bytes, bool]:
        """Checks the mask after some tokens; the texts that it says do match or not."""
        text, vocabulary = tokens.vocabulary.detokenize(before), tokens.vocabulary
        state = automaton.start
        try:
            for token in before:
                state = automaton.advance(state, token)
        except TokenNotAllowed:
            self.expect(f"prefix {before}", text, True, False)
            return {}
        mask, expected = automaton.mask(state), self.readable(tokens, text)
        self.tally.masks += 1
        for token in np.flatnonzero(mask != expected)[:3].tolist():
            self.expect(f"mask, token {token}", text, bool(expected[token]), bool(mask[token]))
        ends = list(vocabulary.eos_ids)
        may_end, mask[ends] = bool(mask[ends].any()), False
        allowed = np.flatnonzero(mask)
        tried = [int(self.random.choice(allowed)) for _ in range(min(self.effort.tokens, len(allowed)))]
        finished = [self.finish(text + vocabulary.tokens[token]) for token in tried]
        return {whole: True for whole in finished if self.fair(whole)} | {text: may_end}

    def readable(self, tokens: Tokens, text: bytes) -> npt.NDArray[np.bool_]:
        """The tokens that the byte automaton reads after a text, and the end tokens where it accepts the text."""
        state = self.automaton.step(self.automaton.start, text)
        readable = tokens.readable(self.automaton, state)
        readable[list(tokens.vocabulary.eos_ids)] = self.automaton.accepts(text)
        return readable

    def finish(self, text: bytes) -> bytes:
        """A text with a shortest end behind it; the text itself where there is none."""
        assert self.walks is not None
        state = self.automaton.step(self.automaton.start, text)
        return text + self.walks.finish(state, self.random) if state >= 0 else text


def check(case: Case, tokens: Tokens, effort: Effort, tally: Tally, material: Sequence[str] = ()) -> None:
    """Checks a case and adds to a tally.

    Args:
        case: the case.
        tokens: the vocabulary.
        effort: how much to try.
        tally: what to add to.
        material: further strings to try.

    Raises:
        TokenfstError: this project refuses the pattern.
        Unreadable: the other engine does.
    """
    one = Check(case, effort, tally)
    one.token_level(one.bytes_level(material), tokens)
    tally.cases += 1


def _is_text(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True
