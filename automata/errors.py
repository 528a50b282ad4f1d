"""Every exception that the project raises on purpose, in one tree.

    TokenfstError
    ├── PatternError (ValueError)          a pattern that cannot be honoured, with the place and the reason
    │   └── IrregularPattern               a valid pattern that does not describe a regular language
    ├── ExpressionError (ValueError)       parts of an expression that cannot be combined
    ├── GrammarError (ValueError)          a grammar that cannot be honoured, with the place and the rule
    │   └── NondeterministicGrammar        two derivations that no bounded look-ahead tells apart
    ├── SchemaError (ValueError)           a schema, or a Python type, that cannot be honoured, with the place
    │   ├── UnsupportedSchema              a keyword that no automaton of bounded size can hold exactly
    │   └── UnsatisfiableSchema            a schema that no value satisfies
    ├── TooManyConfigurations (RuntimeError)  an ambiguous grammar needs more configurations than its maximum
    ├── EmptyLanguage (ValueError)         nothing can be written: no string, or no token sequence
    ├── InfiniteLanguage (ValueError)      a question that has an answer only for finite languages
    ├── LabelledLanguage (ValueError)      a question about texts, asked of a language with labels
    ├── WeightedLanguage (ValueError)      an expression with weights, for a construction that would ignore them
    ├── FstError (ValueError)              an FST of the wrong kind, or one that cannot be read
    ├── LimitExceeded (RuntimeError)       a construction exceeded a limit, which the message names
    ├── Cancelled (RuntimeError)           a compilation that another thread stopped
    ├── VocabularyError (ValueError)       tokens, ids or a file that do not make a vocabulary
    │   ├── UnsupportedTokenizer           a tokenizer that cannot be modelled exactly
    │   └── UnknownTerminal                a name of tokens in a constraint that is not defined
    ├── AutomatonFileError (ValueError)    a saved automaton that is damaged, or for another vocabulary
    ├── TokenNotAllowed (ValueError)       a token was given to an automaton that forbids it
    ├── TextNotAllowed (ValueError)        a text that its constraint, or an automaton, does not allow
    ├── IncompleteOutput (RuntimeError)    text that was cut off before the constraint was satisfied
    └── NotOffered (RuntimeError)          a name or an option of another package that has no stand-in here

This module is at the bottom of the import order, so that every package can raise these exceptions.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from automata.fst_type import is_fst

# The maximum number of characters of a text that a message shows.
_SHOWN: Final = 80
# The maximum number of characters of a pattern that a message shows whole.
_LONG: Final = 400


def _around(text: str, position: int) -> str:
    """Return a text, or the part of a long one around a position."""
    if len(text) <= _LONG:
        return text
    begin, end = max(0, position - _LONG // 4), position + _LONG // 4
    return ("..." if begin else "") + text[begin:end] + ("..." if end < len(text) else "")


class TokenfstError(Exception):
    """The base class of the project's exceptions: catch it to catch them all."""


class PatternError(TokenfstError, ValueError):
    """A pattern that cannot be honoured.

    Attributes:
        pattern: the whole pattern.
        position: index of the offending character, `0 <= position <= len(pattern)`.
        reason: what is wrong at that position.
    """

    def __init__(self, reason: str, pattern: str, position: int) -> None:
        super().__init__(f"{reason} (at position {position} of {_around(pattern, position)!r})")
        self.reason = reason
        self.pattern = pattern
        self.position = position

    def __reduce__(self) -> tuple[type[PatternError], tuple[str, str, int]]:
        return type(self), (self.reason, self.pattern, self.position)


class IrregularPattern(PatternError):
    """A valid pattern that does not describe a regular language, such as one with a back-reference or an atomic
    group."""


class ExpressionError(TokenfstError, ValueError):
    """Parts of an expression that cannot be combined; the message says which and why."""


class WeightedLanguage(TokenfstError, ValueError):
    """An expression with weights, for a construction that would ignore them; the message names one that uses them."""


class FstError(TokenfstError, ValueError):
    """An FST of the wrong kind, or one that cannot be read; the message says what is wrong, and which function to use
    instead."""


class GrammarError(TokenfstError, ValueError):
    """A grammar that cannot be honoured.

    Attributes:
        reason: what is wrong, without the place.
        rule: the name of the rule that the error is in, if it is in one.
        line, column: the position in the grammar's text, from 1; None for grammars made in Python.
    """

    reason: str
    rule: str | None
    line: int | None
    column: int | None

    def __init__(
        self, reason: str, *, rule: str | None = None, line: int | None = None, column: int | None = None
    ) -> None:
        places = [f"line {line}, column {column}"] if line is not None else []
        places += [f"in rule {rule!r}"] if rule is not None else []
        super().__init__(f"{reason} ({', '.join(places)})" if places else reason)
        self.reason, self.rule, self.line, self.column = reason, rule, line, column

    def __reduce__(self) -> tuple[object, ...]:
        return partial(type(self), self.reason, rule=self.rule, line=self.line, column=self.column), ()


class NondeterministicGrammar(GrammarError):
    """Two derivations that no deterministic pushdown automaton of bounded size tells apart."""


class SchemaError(TokenfstError, ValueError):
    """A JSON Schema that cannot be honoured.

    Attributes:
        reason: what is wrong, without the place.
        pointer: the place in the schema, as a JSON pointer; "" is the whole schema.
        keyword: the keyword that causes the error, if there is one.
    """

    reason: str
    pointer: str
    keyword: str | None

    def __init__(self, reason: str, *, pointer: str = "", keyword: str | None = None) -> None:
        place = f"at {pointer or 'the root'}" + (f", keyword {keyword!r}" if keyword else "")
        super().__init__(f"{reason} ({place})")
        self.reason, self.pointer, self.keyword = reason, pointer, keyword

    def __reduce__(self) -> tuple[object, ...]:
        return partial(type(self), self.reason, pointer=self.pointer, keyword=self.keyword), ()


class UnsupportedSchema(SchemaError):
    """A keyword that cannot be expressed exactly; the message says why."""


class UnsatisfiableSchema(SchemaError):
    """A schema that no value satisfies; the message names the conflict."""


class TooManyConfigurations(TokenfstError, RuntimeError):
    """A text has more derivations side by side than the automaton may follow (`max_configurations`)."""


class EmptyLanguage(TokenfstError, ValueError):
    """The constraint allows no string at all, or none that the vocabulary can spell."""


class InfiniteLanguage(TokenfstError, ValueError):
    """The language has infinitely many texts, so the question has no answer."""


class LabelledLanguage(TokenfstError, ValueError):
    """The question is about texts, which are bytes, but the language has labels."""


class LimitExceeded(TokenfstError, RuntimeError):
    """A construction exceeded a limit, which the message names.

    Attributes:
        limit: the field of `automata.limits.Limits` that was exceeded; "" for a bound of another kind.
        reason: the predicate of the message, such as "has more than 10 states", without its subject; "" if the message
            cannot be split in this way.
    """

    limit: str
    reason: str

    def __init__(self, message: str, *, limit: str = "", reason: str = "") -> None:
        super().__init__(message)
        self.limit, self.reason = limit, reason

    def of(self, subject: str) -> LimitExceeded:
        """Return the same error, with `subject` (what grew too large) as the subject of its message."""
        return LimitExceeded(f"{subject} {self.reason}", limit=self.limit, reason=self.reason) if self.reason else self

    def __reduce__(self) -> tuple[object, ...]:
        return partial(type(self), str(self), limit=self.limit, reason=self.reason), ()


def limit_exceeded(limit: str, amount: float) -> LimitExceeded:
    """Return the error for a limit that the native core has exceeded; `amount` is the amount that the limit allows."""
    if limit == "seconds":
        return LimitExceeded(f"compiling takes more than {amount:g} seconds (limit `seconds`)", limit=limit)
    has, unit = {"memory": ("takes", "bytes"), "states": ("has", "states")}[limit]
    reason = f"{has} more than {int(amount):,} {unit} (limit `{limit}`)"
    return LimitExceeded(f"a construction {reason}", limit=limit, reason=reason)


def forgotten_state(max_bytes: int) -> LimitExceeded:
    """Return the error for a state that an automaton has forgotten; `max_bytes` is the memory that it may take."""
    message = f"the state was forgotten to make room for later texts within {max_bytes:,} bytes (limit `memory`)"
    return LimitExceeded(message, limit="memory")


class Cancelled(TokenfstError, RuntimeError):
    """A compilation that its `Cancellation` stopped."""


class VocabularyError(TokenfstError, ValueError):
    """The tokens, the ids or the file given do not make a vocabulary."""


class UnsupportedTokenizer(VocabularyError):
    """A tokenizer whose detokenization cannot be modelled exactly; the message names it and the reason."""


class UnknownTerminal(VocabularyError):
    """A constraint asks for tokens by a name that neither the vocabulary nor the caller defines."""


class AutomatonFileError(TokenfstError, ValueError):
    """A saved automaton that is damaged, of another format version, or for another vocabulary."""


class TokenNotAllowed(TokenfstError, ValueError):
    """A token that the automaton forbids in this state."""


class TextNotAllowed(TokenfstError, ValueError):
    """A text that its constraint does not allow, and so cannot be read as a value or followed through an automaton.

    Attributes:
        text: the whole text.
        reason: what is wrong with it.
    """

    text: str
    reason: str

    def __init__(self, reason: str, text: str) -> None:
        shown = text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
        super().__init__(f"{reason}: {shown!r}")
        self.reason, self.text = reason, text

    def __reduce__(self) -> tuple[type[TextNotAllowed], tuple[str, str]]:
        return type(self), (self.reason, self.text)


class IncompleteOutput(TokenfstError, RuntimeError):
    """Generation stopped before the constraint was satisfied."""


class NotOffered(TokenfstError, RuntimeError):
    """A name or an option of another package that has no stand-in here.

    Attributes:
        name: the name or option, as the other package calls it.
        instead: what to use in its place.
    """

    def __init__(self, name: str, instead: str) -> None:
        super().__init__(f"{name} is not offered: {instead}")
        self.name, self.instead = name, instead

    def __reduce__(self) -> tuple[type[NotOffered], tuple[str, str]]:
        return type(self), (self.name, self.instead)


# The hint for an FST of pynini or pywrapfst in the wrong place.
FST_MEANT: Final = (
    "automata.from_fst(fst) makes an expression of an acceptor, automata.image and automata.preimage take transducers"
)
# The hints for values that are often passed by mistake.
_MEANT: Final[tuple[tuple[type, str], ...]] = (
    (re.Pattern, "parse(...) reads it"),
    (str, "parse(...) reads a pattern, literal(...) makes a text of it"),
    (bytes, "literal(...) makes a text of it"),
    (type, "constraints.typed(...) makes a constraint of a type"),
    (dict, "constraints.json_schema(...) reads a JSON Schema"),
)


def wrong_type(expected: str, value: object) -> TypeError:
    """Return the error for an argument of the wrong type; the message says what was probably meant."""
    hint = next((f": {meant}" for kind, meant in _MEANT if isinstance(value, kind)), "")
    if not hint and hasattr(value, "expr"):
        hint = ": its attribute `expr` is an expression"
    elif not hint and hasattr(value, "to_automaton") and not isinstance(value, type):
        hint = ": its method `to_automaton` returns its automaton"
    if is_fst(value):
        hint = f": {FST_MEANT}"
    return TypeError(f"expected {expected}, not {type(value).__name__}{hint}")
