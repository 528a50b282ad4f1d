"""The functions of the package: the language, the truth and the emptiness of a formula about strings."""

from __future__ import annotations

import numpy as np

from automata.byte_automaton import ByteAutomaton
from automata.cache import kept
from automata.compile.compiler import compile_expr
from automata.expressions import Expr
from automata.expressions.ranges import ALL_CHARACTERS, Ranges
from automata.visibly_pushdown import ArcLanguage, CountedPaths, CountedUnits, counted_paths
from constraints.json_schema.formulas.connectives import Always, Formula, Never, Not, conjunction, parts_of
from constraints.json_schema.formulas.statements import Pattern, StringIn, TextLength
from constraints.json_schema.strings.content import content, listed, normalized, repeated_set
from constraints.json_schema.strings.lengths import counted_length, counted_texts, length_spellings
from constraints.json_schema.strings.lists import spellings_besides, spellings_of
from constraints.json_schema.strings.spelling import encodable, plain_spellings, spelled

# Lists with more characters than this in all have only plain spellings.
MAX_LETTERS = 2_000
# Plain lists with more characters than this are compiled, and not left as expressions.
MANY_LETTERS = 100

# Lengths up to this are written out where they need not be.
MAX_WRITTEN = 32
# The same for lengths beside other statements: the most states of the copies for all characters together.
MAX_STATES = 4_096

# The bytes of a character in UTF-8 after its first one.
_FIRST_CONTINUATION, _LAST_CONTINUATION = 0x80, 0xBF


def string_language(formula: Formula, *, plain: bool = False) -> Expr | ByteAutomaton:
    """Return the JSON spellings, quotes included, of all strings for which a formula about strings holds.

    All spellings of a word take seven states for each letter, the plain ones take one. So a list of strings with more
    than `MAX_LETTERS` characters has only its plain spellings; any other formula has all spellings unless `plain`.

    Args:
        formula: about strings alone.
        plain: whether only plain spellings are wanted (`spelling`). Of strings that the formula lists, these are the
            two that `json.dumps` writes.

    Raises:
        PatternError: a pattern is malformed, or is not regular.
        LimitExceeded: an automaton is too large.
        TypeError: the formula is about something else.
    """
    return _language(normalized(formula), plain)


@kept(4096)
def counted_language(formula: Formula, *, plain: bool = False) -> ArcLanguage:
    """Return `string_language`, with the characters of long strings counted instead of written out.

    Args, Raises: as for `string_language`.
    """
    formula = normalized(formula)
    counted = _counted(formula, plain) or _counted_texts(formula, plain)
    return _language(formula, plain) if counted is None else counted


@kept(1024)
def counted_content(formula: Formula) -> ByteAutomaton | CountedPaths:
    """Return the strings for which a formula holds, not spelled in JSON, with the characters of long ones counted.

    Raises: as for `string_language`.
    """
    formula = normalized(formula)
    parts = parts_of(formula)
    length = next((part for part in parts if isinstance(part, TextLength)), None)
    if length is None or max(length.low, length.high or 0) <= MAX_WRITTEN:
        return content(formula)
    others = content(conjunction(part for part in parts if part is not length))
    arcs = others.range_arcs()
    between = np.ones(others.num_states, np.bool_)
    between[arcs.source[(arcs.low >= _FIRST_CONTINUATION) & (arcs.low <= _LAST_CONTINUATION)]] = False
    counted = None if others.is_empty else counted_paths(others, between, length.low, length.high)
    return content(formula) if counted is None else counted


def _counted(formula: Formula, plain: bool) -> CountedUnits | None:
    """Return the counted spellings if a formula says only how many characters there are, and of which set; None if it
    says more, or if the lengths are short or contradict each other."""
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
    if max(low, high or 0) <= MAX_WRITTEN or (high is not None and low > high):
        return None
    return counted_length(low, high, ranges, plain=plain)


def _counted_texts(formula: Formula, plain: bool) -> CountedPaths | None:
    """Return the counted spellings if a formula bounds the length and says more about the string; None if it does not,
    if the automaton is small enough to be written out, or if counting would not be exact."""
    parts = parts_of(formula)
    length = next((part for part in parts if isinstance(part, TextLength)), None)
    if length is None or len(parts) == 1 or listed(formula) is not None:
        return None
    language, most = _language(conjunction(part for part in parts if part is not length), plain), length.high
    bound = max(length.low, most or 0)
    if not isinstance(language, ByteAutomaton) or language.is_empty:
        return None
    if bound <= MAX_WRITTEN and bound * language.num_states <= MAX_STATES:
        return None
    return counted_texts(language, length.low, most, plain=plain)


@kept(4096)
def _language(formula: Formula, plain: bool) -> Expr | ByteAutomaton:
    if isinstance(formula, TextLength):
        return length_spellings(formula.low, formula.high, plain=plain)
    texts = listed(formula)
    if texts is not None:
        return _list_language(texts, plain)
    if _only_excludes(formula):
        return spellings_besides(_excluded(formula), plain=plain)
    return spelled(content(formula), plain=plain)


def _list_language(texts: list[str], plain: bool) -> Expr | ByteAutomaton:
    letters = sum(map(len, texts))
    if not plain and letters <= MAX_LETTERS:
        return spellings_of(texts)
    return plain_spellings(texts) if letters <= MANY_LETTERS else compile_expr(plain_spellings(texts))


@kept(4096)
def string_is_empty(formula: Formula) -> bool:
    """Return whether a formula about strings holds for no string that can be spelled.

    Raises: as for `string_language`.
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
    """Return whether a formula only excludes listed strings."""
    return all(isinstance(part, Not) and isinstance(part.part, StringIn) for part in parts_of(formula))


def _excluded(formula: Formula) -> list[str]:
    """Return the listed strings that a formula excludes, without those that UTF-8 cannot encode."""
    lists = [part.part.texts for part in parts_of(formula) if isinstance(part, Not) and isinstance(part.part, StringIn)]
    return encodable(frozenset().union(*lists))
