"""What the package offers: the language, the truth and the emptiness of a formula about strings."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache

from automata import expr as ex
from automata.byte_automaton import ByteAutomaton
from automata.expr import Expr
from automata.nested import Counted, CountedPaths, Language
from automata.ranges import ALL_CHARACTERS, Ranges
from constraints.json_schema.formulas.connectives import Always, Formula, Never, Not, conjunction, parts_of
from constraints.json_schema.formulas.statements import Pattern, StringIn, TextLength
from constraints.json_schema.strings.content import content, holds, listed, normalized, repeated_set, written
from constraints.json_schema.strings.lengths import counted_length, counted_texts, length_spellings
from constraints.json_schema.strings.lists import spellings_besides, spellings_of
from constraints.json_schema.strings.spelling import spelled

# Of lists with more characters than this in all, only the usual spellings are taken.
MOST_LETTERS = 2_000

# Lengths up to this are written out where they need not be.
MOST_WRITTEN = 32
# The same of lengths where more is said: so many states for each character are written out where they need not be.
MOST_STATES = 4_096


def string_language(formula: Formula, *, usual: bool = False) -> Expr | ByteAutomaton:
    """The JSON spellings, quotes included, of all strings for which a formula about strings holds.

    All spellings of a word take seven states for each letter, the usual ones take one. So a list of strings that has
    more than `MOST_LETTERS` characters has `usual_spellings` alone; everything else has all.

    Args:
        formula: about strings alone.
        usual: only the spellings that programs write (`spelled`): no state more for escapes that nobody needs, where
            there are many words, or all but many words.

    Raises:
        PatternError: a pattern that is none, or is not regular.
        LimitExceeded: an automaton is too large.
        TypeError: the formula is about something else.
    """
    return _language(normalized(formula), usual)


def counted_language(formula: Formula, *, usual: bool = False) -> Language:
    """`string_language`, where long strings are counted in place of being written out.

    Raises: as `string_language`.
    """
    formula = normalized(formula)
    counted = None if usual else _counted(formula) or _counted_texts(formula)
    return _language(formula, usual) if counted is None else counted


@lru_cache(maxsize=4096)
def _counted(formula: Formula) -> Counted | None:
    """What is counted where a formula says no more than how many characters there are, and of which they are."""
    ranges: Ranges = ALL_CHARACTERS
    low = 0
    high: int | None = None
    for part in parts_of(formula):
        if isinstance(part, TextLength):
            least, most = part.low, part.high
        elif isinstance(part, Pattern) and ranges is ALL_CHARACTERS:
            repeated = repeated_set(part.source)
            if repeated is None:
                return None
            ranges, least, most = repeated
        else:
            return None
        low = max(low, least)
        high = most if high is None or (most is not None and most < high) else high
    if max(low, high or 0) <= MOST_WRITTEN or (high is not None and low > high):
        return None
    return counted_length(low, high, ranges)


@lru_cache(maxsize=4096)
def _counted_texts(formula: Formula) -> CountedPaths | None:
    """What is counted where a formula says how many characters there are, and what else there is of them."""
    parts = parts_of(formula)
    length = next((part for part in parts if isinstance(part, TextLength)), None)
    if length is None or len(parts) == 1 or listed(formula) is not None:
        return None
    language, most = _language(conjunction(part for part in parts if part is not length), False), length.high
    bound = max(length.low, most or 0)
    if not isinstance(language, ByteAutomaton) or language.is_empty:
        return None
    if bound <= MOST_WRITTEN and bound * language.num_states <= MOST_STATES:
        return None
    return counted_texts(language, length.low, most)


@lru_cache(maxsize=4096)
def _language(formula: Formula, usual: bool) -> Expr | ByteAutomaton:
    if isinstance(formula, TextLength) and not usual:
        return length_spellings(formula.low, formula.high)
    texts = listed(formula)
    if texts is not None:
        return usual_spellings(texts) if usual or sum(map(len, texts)) > MOST_LETTERS else spellings_of(texts)
    if _only_excludes(formula):
        return spellings_besides(_excluded(formula), usual=usual)
    return spelled(content(formula), usual=usual)


def usual_spellings(texts: Iterable[str]) -> Expr:
    """The two spellings, quotes included, that programs give to each of some strings: escapes only where there must be
    some, or also for all characters beyond ASCII. Those are what `json.dumps` writes, and `JSON.stringify` the first.
    """
    kept = written(frozenset(texts))
    return ex.strings([json.dumps(text, ensure_ascii=ascii_only) for text in kept for ascii_only in (False, True)])


def string_matches(formula: Formula, text: str) -> bool:
    """Whether a formula about strings holds for one string.

    Raises: as `string_language`.
    """
    return holds(formula, text)


@lru_cache(maxsize=4096)
def string_is_empty(formula: Formula) -> bool:
    """Whether a formula about strings holds for no string that can be spelled.

    Raises: as `string_language`.
    """
    if isinstance(formula, Always | Never):
        return isinstance(formula, Never)
    if isinstance(formula, TextLength):
        return formula.high is not None and formula.high < formula.low
    texts = listed(formula)
    if texts is not None:
        return not texts
    if _only_excludes(formula):
        return False
    return content(formula).is_empty


def _only_excludes(formula: Formula) -> bool:
    """Whether a formula says no more than which strings it does not hold for."""
    return all(isinstance(part, Not) and isinstance(part.part, StringIn) for part in parts_of(formula))


def _excluded(formula: Formula) -> list[str]:
    """The strings that UTF-8 can write among those."""
    lists = [part.part.texts for part in parts_of(formula) if isinstance(part, Not) and isinstance(part.part, StringIn)]
    return written(frozenset().union(*lists))
