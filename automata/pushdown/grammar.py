"""Grammar: rules, each an expression that may call rules by name.

Rules are of two kinds, as in Lark:

    rule            a structure: its text is what its expression matches, calls included
    lexical rule    a word (what a lexer calls a token): a regular expression without calls, read as a whole. The
    longest match counts: where the next character can continue a word, it does, and the word does not end there; so
    `returnx` is one identifier. Of the words that could end at one place, the one with the highest priority does; a
    lazy word ends as soon as it can. Only words that the grammar allows at this point compete (a contextual lexer).

Words of `ignored` rules may stand before and after any word.

A grammar of plain rules has no lexer: every split of a text among its rules counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Literal, TypeAlias, get_args

from automata.drawing import shown
from automata.errors import TokenfstError
from automata.expressions import Expr

Ambiguity: TypeAlias = Literal["error", "parallel"]
# A notebook shows this many rules, and this many characters of each.
_MAX_SHOWN = 30
_MAX_LENGTH = 300


@dataclass(frozen=True, slots=True)
class LexicalRule:
    """A word of a grammar.

    Attributes:
        expr: its texts, without calls; the empty text does not count.
        priority: of the lexical rules that match the same text, the one with the greatest priority counts; tuples
            compare as Python's do, and equal ones by the order of definition.
        lazy: whether its words end as soon as they can, even where they or others could continue.
    """

    expr: Expr
    priority: tuple[int, ...] = (0,)
    lazy: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """Line and column in a grammar's text, both from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Grammar:
    """Rules that call each other; immutable.

    Attributes:
        rules: the rules by name.
        start: the rule that whole texts match.
        lexical: the lexical rules by name, which are called in the same way and share no name with `rules`.
        ignored: names of the lexical rules whose words may stand between any others.
        places: where rules were defined, for errors; rules that were made in Python have none.
        ambiguity: what to do where no deterministic automaton of bounded size tells derivations apart. "error" refuses
            the grammar; "parallel" carries its derivations side by side, and resolves words in each of them alone.
        max_configurations: how many derivations "parallel" carries at most. A text that needs more is an error.

    Raises:
        ValueError: no such `ambiguity`, or `max_configurations` is less than 1.
    """

    rules: Mapping[str, Expr]
    start: str
    lexical: Mapping[str, LexicalRule] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    places: Mapping[str, Place] = field(default_factory=dict)
    ambiguity: Ambiguity = "error"
    max_configurations: int = 8

    def __post_init__(self) -> None:
        check_ambiguity(self.ambiguity, self.max_configurations)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the rules, a call as `(?&name)`, the first rule first."""
        exprs = {**self.rules, **{name: rule.expr for name, rule in self.lexical.items()}}
        names = sorted(exprs, key=lambda name: name != self.start)[:_MAX_SHOWN]
        rules = "".join(
            f"<tr><td>{escape(name)}</td><td><code>{_pattern(exprs[name])}</code></td></tr>" for name in names
        )
        more = f" (the first {_MAX_SHOWN})" if len(exprs) > _MAX_SHOWN else ""
        ignored = f"; ignored: {', '.join(self.ignored)}" if self.ignored else ""
        sizes = f"{len(self.rules):,} rules, {len(self.lexical):,} words{more}; starts with {self.start}{ignored}"
        return f"{shown('grammar', sizes)}<table>{rules}</table>"


def _pattern(expr: Expr) -> str:
    """Return an expression as a pattern for a table, in HTML."""
    try:
        pattern = str(expr)
    except TokenfstError:
        pattern = repr(expr)
    return escape(pattern if len(pattern) <= _MAX_LENGTH else f"{pattern[:_MAX_LENGTH]}…")


def check_ambiguity(ambiguity: str, max_configurations: int) -> None:
    """Raise an error unless these are values of `Grammar.ambiguity` and `Grammar.max_configurations`.

    Raises:
        ValueError: they are not.
    """
    if ambiguity not in get_args(Ambiguity):
        raise ValueError(f'`ambiguity` is "error" or "parallel", not {ambiguity!r}')
    if max_configurations < 1:
        raise ValueError(f"`max_configurations` is at least 1, not {max_configurations}")
