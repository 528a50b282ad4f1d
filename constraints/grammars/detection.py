"""Which syntax a grammar is written in, where that is certain.

    Lark           lines that begin with `name:` or `%ignore` and the like, and none that begin with `name ::=`
    GBNF, EBNF     the other way round

A grammar with `::=` is read as both dialects: if only one of them has a meaning for it, or both have the same, that is
the one that is meant. What has two meanings, such as the comment or character `#x41`, is an error: whoever asks must
say which dialect it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from automata.errors import GrammarError
from automata.pushdown.grammar import Grammar
from constraints.grammars.bnf_reader import RuleReader
from constraints.grammars.dialects import EBNF, GBNF

T = TypeVar("T")

_BNF_RULE = re.compile(r"^[ \t]*(?:\[[0-9]+[a-z]?\][ \t]*)?[A-Za-z0-9_.-]+(?:\[[^\]\r\n]*\])?[ \t]*::=", re.MULTILINE)
_LARK_RULE = re.compile(
    r"^[ \t]*(?:[?!]*_*[A-Za-z][A-Za-z0-9_]*(?:[{\[][^}\]\r\n]*[}\]])?(?:\.-?[0-9]+)?[ \t]*:(?!:=)"
    r"|%(?:import|ignore|declare|override|extend|llguidance)\b)",
    re.MULTILINE,
)


def is_lark(text: str) -> bool:
    """Whether a grammar is in Lark's syntax; otherwise it is written with `::=`.

    Raises:
        GrammarError: neither is certain.
    """
    lark, bnf = _LARK_RULE.search(text) is not None, _BNF_RULE.search(text) is not None
    if lark == bnf:
        found = "lines of more than one syntax" if lark else "no rule of a syntax that is known"
        raise GrammarError(f'there are {found}: say which it is, with syntax="lark", "gbnf" or "ebnf"')
    return lark


def read_either_bnf(text: str, start: str) -> Grammar:
    """The grammar of a text with `::=`, whichever of the two dialects it is.

    Raises:
        GrammarError: the text has a mistake in both dialects, or two meanings.
    """
    readers = [RuleReader(text, dialect) for dialect in (GBNF, EBNF)]
    readable, mistakes = _without_errors([reader.read for reader in readers])
    if not readable:
        # The dialect in which the text makes sense for longer is the likelier one.
        raise max(mistakes, key=lambda error: (error.line or 0, error.column or 0))
    grammars, mistakes = _without_errors([partial(reader.grammar, start) for reader in readable])
    if not grammars:
        raise mistakes[0]
    for other in grammars[1:]:
        _check_same(grammars[0], other)
    return grammars[0]


def _without_errors(calls: Sequence[Callable[[], T]]) -> tuple[list[T], list[GrammarError]]:
    """What calls return, and the errors of those that do not."""
    results: list[T] = []
    mistakes: list[GrammarError] = []
    for each in calls:
        try:
            results.append(each())
        except GrammarError as error:
            mistakes.append(error)
    return results, mistakes


def _check_same(gbnf: Grammar, ebnf: Grammar) -> None:
    """Raises the error for the first rule of which there are two meanings."""
    for name, expr in gbnf.rules.items():
        if expr != ebnf.rules.get(name):
            place = gbnf.places[name]
            raise GrammarError(
                'the rule means one thing in GBNF and another in EBNF: say which it is, with syntax="gbnf" or "ebnf"',
                rule=name,
                line=place.line,
                column=place.column,
            )
