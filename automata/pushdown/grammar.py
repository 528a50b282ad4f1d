"""Grammar: rules, each an expression that may call rules by name.

Rules are of two kinds, as in Lark:

    rule            a structure: its texts are those that its expression matches, including calls
    lexical rule    a word (in a lexer's terms, a token): a regular expression without calls, read as a whole

Words take the longest match: if the next character can continue a word, the word does not end there, so `returnx` is
one identifier. If several words could end at one position, the one with the highest priority wins. A lazy word ends as
soon as it can, before any other. Only words that the grammar allows at this point compete (a contextual lexer).

Words of `ignored` rules may appear at the beginning of the text and after any other word.

A grammar that has only plain rules has no lexer: all ways to split a text among its rules are possible. If it has both
kinds, a plain rule may have text of its own beside the words that it calls. Such text does not keep a word from ending.

A composed grammar has *composing* rules, which put the texts of whole grammars in a row, each with a lexer of its own:
words of different grammars do not compete, and a grammar's last word may end wherever a text of the grammar may end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, ClassVar, Literal, TypeAlias, get_args

from automata.drawing import shown
from automata.expressions import Expr

Ambiguity: TypeAlias = Literal["error", "parallel"]
MAX_CONFIGURATIONS = 2**30
# The maximum number of rules that a notebook shows, and of characters of each.
_MAX_SHOWN = 30
_MAX_LENGTH = 300


@dataclass(frozen=True, slots=True)
class LexicalRule:
    """A word of a grammar.

    Attributes:
        expr: the texts of the word, without calls; the empty text is ignored.
        priority: if several lexical rules match the same text, a lazy one wins, and then the one with the greatest
            priority; tuples are compared as in Python, and ties are resolved by the order of definition.
        lazy: whether the word ends as soon as it can, even if it or another word could continue.
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
    """Rules that call each other; immutable, but not hashable, because its mappings are not.

    Attributes:
        rules: the rules by name.
        start: the name of the rule that whole texts match.
        lexical: the lexical rules by name; they are called like rules, and their names differ from those in `rules`.
        ignored: the names of the lexical rules whose words may appear between any others.
        places: where rules were defined, for error messages; rules made in Python have no place.
        ambiguity: what to do if no deterministic automaton of bounded size can tell derivations apart. "error" refuses
            the grammar; "parallel" follows its derivations side by side, and resolves words in each of them separately.
        max_configurations: the maximum number of derivations that "parallel" follows. A text that needs more raises an
            error.
        composing: the names of rules that call grammars with lexers of their own. No other rules call these.

    Raises:
        TypeError: `rules` or `lexical` is not a mapping, `ignored` is not a sequence, a name is not a text, or
            `max_configurations` is not an integer.
        ValueError: `ambiguity` is neither of these values, or `max_configurations` is less than 1 or more than 2**30.
    """

    rules: Mapping[str, Expr]
    start: str
    lexical: Mapping[str, LexicalRule] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    places: Mapping[str, Place] = field(default_factory=dict)
    ambiguity: Ambiguity = "error"
    max_configurations: int = 8
    composing: tuple[str, ...] = ()

    __hash__: ClassVar[None] = None  # type: ignore[assignment]  # as typeshed declares it for dict

    def __post_init__(self) -> None:
        for what, given in (("rules", self.rules), ("lexical", self.lexical)):
            if not isinstance(given, Mapping):
                raise TypeError(f"`{what}` is a dict from names to rules, not {given!r}")
        if isinstance(self.ignored, str) or not isinstance(self.ignored, Sequence):
            raise TypeError(f"`ignored` is a list of names, not {self.ignored!r}")
        for name in (self.start, *self.rules, *self.lexical, *self.ignored):
            if not isinstance(name, str):
                raise TypeError(f"the name of a rule is a text, not {name!r}")
        check_ambiguity(self.ambiguity, self.max_configurations)

    def __or__(self, other: object) -> Any:
        """Raise TypeError for a grammar, an expression or text; other constraints define the union with a grammar."""
        if isinstance(other, Grammar | Expr | str):
            raise TypeError("a grammar alone has no operator `|`: write constraints.sequence(grammar) | other")
        return NotImplemented

    __ror__ = __or__

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
    pattern = str(expr)
    return escape(pattern if len(pattern) <= _MAX_LENGTH else f"{pattern[:_MAX_LENGTH]}…")


def check_ambiguity(ambiguity: str, max_configurations: int) -> None:
    """Check values of `Grammar.ambiguity` and `Grammar.max_configurations`.

    Raises:
        TypeError: `max_configurations` is not an integer.
        ValueError: a value is not valid.
    """
    if ambiguity not in get_args(Ambiguity):
        raise ValueError(f'`ambiguity` is "error" or "parallel", not {ambiguity!r}')
    if isinstance(max_configurations, bool) or not isinstance(max_configurations, int):
        raise TypeError(f"`max_configurations` is an integer, not {type(max_configurations).__name__}")
    if not 1 <= max_configurations <= MAX_CONFIGURATIONS:
        raise ValueError(
            f"`max_configurations` lies between 1 and {MAX_CONFIGURATIONS:,}, and is {max_configurations:,}"
        )
