"""What the package offers: the language, the truth and the emptiness of a formula about strings."""

from __future__ import annotations

from functools import lru_cache

from automata.byte_automaton import ByteAutomaton
from automata.expr import Expr
from constraints.json_schema.formula import Always, Formula, Never, StringIn, TextLength
from constraints.json_schema.strings.content import content, holds, written
from constraints.json_schema.strings.spelling import spelled


@lru_cache(maxsize=4096)
def string_language(formula: Formula) -> Expr | ByteAutomaton:
    """The JSON spellings, quotes included, of all strings for which a formula about strings holds.

    Raises:
        PatternError: a pattern that is none, or is not regular.
        LimitExceeded: an automaton is too large.
        TypeError: the formula is about something else.
    """
    return spelled(content(formula))


def string_matches(formula: Formula, text: str) -> bool:
    """Whether a formula about strings holds for one string.

    Raises: as `string_language`.
    """
    return holds(formula, text)


@lru_cache(maxsize=4096)
def string_is_empty(formula: Formula) -> bool:
    """Whether no string that can be spelled is so.

    Raises: as `string_language`.
    """
    if isinstance(formula, Always | Never):
        return isinstance(formula, Never)
    if isinstance(formula, StringIn):
        return not written(formula.texts)
    if isinstance(formula, TextLength):
        return formula.high is not None and formula.high < formula.low
    return content(formula).is_empty
