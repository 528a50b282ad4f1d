"""Detect the syntax of a grammar, if it is certain.

    Lark           lines that begin with `name:`, `%ignore` and so on, and none that begin with `name ::=`
    GBNF, EBNF     the reverse

A text without such lines that contains `::=` is also GBNF or EBNF: in EBNF, a line may end between a name and `::=`.

A grammar with `::=` is read as EBNF first. If that fails, it is read as GBNF. A grammar that is valid in both dialects
has the same meaning in both, except that `#x41` is a character in EBNF and a comment in GBNF, and that `\\x414` is one
character in EBNF and two in GBNF. So valid EBNF is also read as GBNF only if it contains one of these. If the two
readings differ, that is an error: the caller must name the dialect. It is also an error if a text contains one of
these, or a set that looks like a constraint in prose, and uses a feature of EBNF that is not supported here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from os import PathLike

from automata.errors import GrammarError
from automata.pushdown.grammar import Grammar
from constraints.grammars.bnf_reader import UNSUPPORTED, RuleReader
from constraints.grammars.dialects import EBNF, GBNF

# Texts that both dialects read, but not always in the same way.
_TWO_MEANINGS = re.compile(r"#x[0-9A-Fa-f]|\\x[0-9A-Fa-f]{3}|\[[ \t]*(?:wfc|WFC|vc|VC):[ \t]")
_PATH = re.compile(r"[^\s:=|]*[^\s:=|/\\.]\.(?:lark|gbnf|ebnf|bnf|txt|json)|(?:[A-Za-z]:)?[^\s:=|]*[/\\][^\s:=|/\\.]+")
_BNF_RULE = re.compile(
    r"^(?:[^\r\n]*\*/)?[ \t]*(?:\[[0-9]+[a-z]?\][ \t]*)?[A-Za-z0-9_.-]+(?:\[[^\]\r\n]*\])?[ \t]*::=", re.MULTILINE
)
_LARK_RULE = re.compile(
    r"^[ \t]*(?:[?!]*_*[A-Za-z][A-Za-z0-9_-]*(?:[{\[][^}\]\r\n]*[}\]])?(?:\.-?[0-9]+)?[ \t]*:(?!:=)"
    r"|%(?:import|ignore|declare|override|extend|llguidance)\b)",
    re.MULTILINE,
)


def check_text(text: str) -> None:
    """Raise an error with a hint if the argument is not the text of a grammar.

    Raises:
        TypeError: the argument is not text.
        GrammarError: the text is JSON, or the path of a file.
    """
    if isinstance(text, Mapping | bool):
        raise TypeError("a grammar is a text; a JSON Schema is read by json_schema(...)")
    if isinstance(text, PathLike):
        raise TypeError("a grammar is a text: give what the file holds, grammar(path.read_text())")
    if isinstance(text, Grammar):
        raise TypeError("this is a grammar already, and no text of one")
    if not isinstance(text, str):
        raise TypeError(f"a grammar is a text, not {type(text).__name__}")
    if _PATH.fullmatch(text):
        raise GrammarError(f"this is a path, and not a grammar: give what the file holds, Path({text!r}).read_text()")
    if _is_json(text):
        raise GrammarError("this is JSON, and not a grammar: json_schema(json.loads(text)) reads a JSON Schema")


def _is_json(text: str) -> bool:
    if not text.lstrip().startswith(("{", "[")):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def is_lark(text: str) -> bool:
    """Return whether a grammar is in Lark's syntax; otherwise it is written with `::=`.

    Raises:
        GrammarError: the text has lines of both syntaxes, or of neither.
    """
    lark = _LARK_RULE.search(text) is not None
    bnf = _BNF_RULE.search(text) is not None if lark else "::=" in text
    if lark == bnf:
        found = "are lines of more than one syntax" if lark else "is no line that begins with a rule"
        raise GrammarError(f'there {found}: say which it is, with syntax="lark", "gbnf" or "ebnf"')
    return lark


def read_either_bnf(text: str, start: str) -> Grammar:
    """Return the grammar of a text with `::=`, whichever of the two dialects it is.

    Raises:
        GrammarError: the text has a mistake in both dialects, or two meanings.
    """
    grammars: list[Grammar] = []
    mistakes: list[GrammarError] = []
    sense: list[tuple[int, int, int]] = []  # of each mistake: progress, line, column
    for dialect in (EBNF, GBNF):
        reader = RuleReader(text, dialect)
        try:
            grammars.append(reader.read().grammar(start))
        except GrammarError as error:
            mistakes.append(error)
            sense.append((reader.progress, error.line or 0, error.column or 0))
        if grammars and not _TWO_MEANINGS.search(text):
            break
    if mistakes and (not grammars or (sense[0][0] == UNSUPPORTED and _TWO_MEANINGS.search(text))):
        # The likelier dialect is the one whose unsupported feature was found, or else the one that was read further.
        raise mistakes[max(range(len(sense)), key=sense.__getitem__)]
    for other in grammars[1:]:
        _check_same(grammars[0], other)
    return grammars[0]


def _check_same(one: Grammar, other: Grammar) -> None:
    """Raise an error for the first rule that means different things in the two dialects."""
    for name, expr in one.rules.items():
        if expr != other.rules.get(name):
            place = one.places[name]
            raise GrammarError(
                'the rule means one thing in GBNF and another in EBNF: say which it is, with syntax="gbnf" or "ebnf"',
                rule=name,
                line=place.line,
                column=place.column,
            )
