"""Check one pattern: compare this project's automata with an independent matcher, text by text.

    Case            a pattern and how to read it                                          matchers
    texts           the texts to try on it                                                candidates
    verdicts        the matcher's answer for each text; bytes that are not UTF-8 do not match
    byte level      the byte automaton must give the same answers
    token level     the token automaton must give the same answers for three tokenizations of a text; at states on the
                    way, its mask must consist of the tokens that the byte automaton can read, and of the end tokens if
                    the matcher accepts the text so far; some of the allowed tokens are tried, and the matcher must
                    accept a text that continues with each of them

A mask has an entry for each of 131,072 tokens, too many for the matcher. So whole masks are compared with the byte
automaton, which in turn is compared with the matcher.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple
from unicodedata import category

import numpy as np
import numpy.typing as npt
from candidates import Walks, letters_of, may_explode, near_misses, random_texts, sampled
from matchers import Case, Matcher, matcher, tables_differ

import tokenfst
from automata import ByteAutomaton, compile_expr
from automata.errors import TokenNotAllowed
from tokenfst import TokenAutomaton, Vocabulary

# The maximum length of a text in bytes. If backtracking may take exponential time, texts have at most MORE_LENGTH bytes
# more than the shortest text of the language.
MAX_LENGTH, MORE_LENGTH = 1_000, 14
# Random texts of this length, in bytes, end as soon as they can.
WALK_LENGTH = 24


@dataclass(frozen=True, slots=True)
class Effort:
    """How many strings to try on a pattern.

    Attributes:
        walks: the number of random texts of the automaton, of texts through its arcs, and of texts from another parser.
        edits: the number of near misses of each of these texts.
        randoms: the number of short strings over the characters of the pattern and some others.
        cut: the number of texts that match, and of texts that do not, that are cut into tokens in three ways each.
        masks: the number of states whose masks are checked.
        tokens: the number of allowed tokens that are tried in each of these states.
    """

    walks: int
    edits: int
    randoms: int
    cut: int
    masks: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A text for which this project gives a wrong answer.

    Attributes:
        case: the pattern.
        level: the check that failed, and the tokens that it concerns.
        text: the text, or for a mask the text before it.
        expected: whether the text should be accepted, according to the matcher. For a mask: whether the token should be
            allowed, according to the byte automaton.
    """

    case: Case
    level: str
    text: bytes
    expected: bool


@dataclass(slots=True)
class Tally:
    """The mismatches so far, and how much has been checked."""

    cases: int = 0
    texts: int = 0
    matching: int = 0
    cuts: int = 0
    masks: int = 0
    tokens: int = 0
    mismatches: list[Mismatch] = field(default_factory=list)


class Level(NamedTuple):
    """The prefixes of tokens that have one length.

    Attributes:
        parents: for each prefix, the place of the one without its last byte, in the level before.
        last: the last byte of each.
        tokens: the tokens of this length.
        places: the prefix that each of these tokens is.
    """

    parents: npt.NDArray[np.int64]
    last: npt.NDArray[np.int64]
    tokens: npt.NDArray[np.int64]
    places: npt.NDArray[np.int64]


class Tokens:
    """A vocabulary with the prefixes of its tokens by length, so that an automaton can read all tokens at once."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.ids = {token: number for number, token in enumerate(vocabulary.tokens) if token}
        # The length of the longest token that begins with the same two bytes.
        self.longest: dict[bytes, int] = {}
        for token in self.ids:
            self.longest[token[:2]] = max(self.longest.get(token[:2], 1), len(token))
        self.levels = list(_levels(vocabulary))

    def readable(self, automaton: ByteAutomaton, state: int) -> npt.NDArray[np.bool_]:
        """Return whether a state of a byte automaton reads each token, `[V]`; False for tokens that write nothing."""
        result = np.zeros(len(self.vocabulary), np.bool_)
        states = np.array([state], np.int32)
        for level in self.levels:
            before = states[level.parents]
            read = np.flatnonzero(before >= 0)
            if not len(read):
                break
            states = np.full(len(before), -1, np.int32)
            states[read] = automaton.next[before[read], automaton.byte_class[level.last[read]]]
            result[level.tokens] = states[level.places] >= 0
        return result

    def cuts(self, text: bytes, random: Random) -> Iterator[list[int]]:
        """Yield three tokenizations of a text, which always take the longest, the shortest, and a random token."""
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


def _levels(vocabulary: Vocabulary) -> Iterator[Level]:
    data = np.frombuffer(b"".join(vocabulary.tokens), np.uint8)
    lengths = np.array([len(token) for token in vocabulary.tokens])
    begins = np.cumsum(lengths) - lengths
    tokens = np.flatnonzero(lengths)
    places = np.zeros(len(tokens), np.int64)
    for length in range(1, lengths.max() + 1):
        prefixes, places = np.unique(places << 8 | data[begins[tokens] + length - 1], return_inverse=True)
        is_whole = lengths[tokens] == length
        yield Level(prefixes >> 8, prefixes & 0xFF, tokens[is_whole], places[is_whole])
        tokens, places = tokens[~is_whole], places[~is_whole]


class Check:
    """The check of one case."""

    def __init__(self, case: Case, effort: Effort, tally: Tally) -> None:
        self.case, self.effort, self.tally = case, effort, tally
        self.judged = case.pattern if case.reference is None else case.reference
        self.matches: Matcher = matcher(case)
        self.expr = case.expr()
        self.automaton = automaton = compile_expr(self.expr)
        self.random = Random(case.pattern)
        self.walks = None if automaton.is_empty else Walks(automaton)

    def verdicts(self, texts: list[bytes]) -> dict[bytes, bool]:
        """Return the matcher's verdicts, without texts on which it has none; bytes that are not UTF-8 do not match."""
        asked = [text for text in texts if _is_text(text)]
        given = dict(zip(asked, self.matches([text.decode() for text in asked]), strict=True))
        verdicts = {text: given.get(text, False) for text in texts}
        return {text: verdict for text, verdict in verdicts.items() if verdict is not None}

    def expect(self, level: str, text: bytes, expected: bool, found: bool) -> None:
        if expected != found and not (_is_text(text) and tables_differ(self.case, text.decode())):
            self.tally.mismatches.append(Mismatch(self.case, level, text, expected))

    # Texts

    def texts(self, material: Sequence[str]) -> list[bytes]:
        """Return all strings to try, each once, except long ones and those on which versions of Unicode may differ."""
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
        # Some texts are cut within their last character, so that they are not UTF-8.
        found += [text[:-1] for text in found if text[-1:] >= b"\x80"][: effort.walks]
        return [text for text in dict.fromkeys(found) if len(text) <= limit and self.fair(text)]

    def fair(self, text: bytes) -> bool:
        """Return whether engines with different versions of Unicode must agree on a text."""
        if not self.case.depends_on_unicode_version or text.isascii():
            return True
        return all(category(char) not in ("Cn", "Co") for char in text.decode(errors="ignore"))

    # Bytes

    def bytes_level(self, material: Sequence[str]) -> dict[bytes, bool]:
        """Check the byte automaton; return the texts that were tried, with their verdicts."""
        verdicts = self.verdicts(self.texts(material))
        for text, expected in verdicts.items():
            self.expect("bytes", text, expected, self.automaton.accepts(text))
        self.tally.texts += len(verdicts)
        self.tally.matching += sum(verdicts.values())
        return verdicts

    # Tokens

    def token_level(self, verdicts: dict[bytes, bool], tokens: Tokens) -> None:
        """Check the token automaton on texts with known verdicts."""
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
            # The mask of the start is checked first, then masks at random positions of matching texts.
            text = self.random.choice(matching) if number and matching else b""
            cut = next(tokens.cuts(text, self.random))
            finished.update(self.mask(automaton, tokens, cut[: self.random.randrange(len(cut) + 1)]))
        self.tally.tokens += len(finished)
        for whole, expected in self.verdicts([*finished]).items():
            self.expect("after a mask", whole, expected, finished[whole])

    def mask(self, automaton: TokenAutomaton, tokens: Tokens, before: list[int]) -> dict[bytes, bool]:
        """Check the mask after some tokens; return texts that should match, or should not, according to the mask."""
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
        """Return the tokens that the byte automaton reads after a text, and the end tokens if it accepts the text."""
        state = self.automaton.step(self.automaton.start, text)
        readable = tokens.readable(self.automaton, state)
        readable[list(tokens.vocabulary.eos_ids)] = self.automaton.accepts(text)
        return readable

    def finish(self, text: bytes) -> bytes:
        """Return a text with a shortest completion, or the text itself if the automaton does not read it."""
        assert self.walks is not None
        state = self.automaton.step(self.automaton.start, text)
        return text + self.walks.finish(state, self.random) if state >= 0 else text


def check(case: Case, tokens: Tokens, effort: Effort, tally: Tally, material: Sequence[str] = ()) -> None:
    """Check a case and add the results to a tally.

    Args:
        case: the case.
        tokens: the vocabulary.
        effort: how many strings to try.
        tally: receives the results.
        material: further strings to try.

    Raises:
        TokenfstError: this project refuses the pattern.
        Unreadable: the matcher refuses the pattern or takes too long.
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
