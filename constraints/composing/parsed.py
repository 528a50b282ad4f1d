"""Parsed: a constraint whose texts stand for Python values, and the way back from text to value.

    Parsed[T]       `to_automaton` returns the automaton of what a model may write; `parse` reads what it wrote
    Composed[T]     a constraint composed of others, as a visibly pushdown grammar or a general grammar
    left | right    a text of either; `parse` returns the value from the first one that allows the text

`parse` never runs code that a model wrote. It accepts exactly the texts of the constraint, so it can also check text
from elsewhere. A token in a constraint (`automata.expressions.extensions.token`) writes no text; `parse` reads it as
its name, which decoders that keep special tokens write.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, overload

from automata.byte_automaton import ByteAutomaton
from automata.compile.blame import excerpt
from automata.compile.compiler import compile_expr
from automata.drawing import shown
from automata.errors import EmptyLanguage, LimitExceeded, NondeterministicGrammar, TextNotAllowed, UnsupportedSchema
from automata.expressions import EMPTY, Expr, literal
from automata.limits import Work, current_work
from automata.pushdown.automaton import PushdownAutomaton
from automata.pushdown.compile import compile_grammar
from automata.pushdown.grammar import Grammar
from automata.texts import bytes_or_none
from automata.visibly_pushdown.compile import check_start
from constraints.composing.ends import Readable, has_text, readable
from constraints.composing.language import calls_grammar, part_grammar, part_rules
from constraints.composing.part import Composable, Part, either, part_of
from constraints.composing.rules import ByRules, Rules
from tokenfst.unique_items.language import UniqueArrays

if TYPE_CHECKING:
    from constraints.json_schema.reading.document import Note

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")
U = TypeVar("U")

# Hints for values that are often passed in place of a text by mistake.
_TEXT_MEANT: Final[tuple[tuple[type, str], ...]] = (
    (list, "pass one of its texts"),
    (bytes, "decode it"),
)


def is_text(text: str) -> bool:
    """Return whether UTF-8 can encode a text, which it cannot if there is a lone surrogate.

    Raises:
        TypeError: the argument is not a text, but a list of texts, for instance.
    """
    if not isinstance(text, str):
        meant = next((f": {meant}" for kind, meant in _TEXT_MEANT if isinstance(text, kind)), "")
        raise TypeError(f"expected a text, not {type(text).__name__}{meant}")
    return bytes_or_none(text) is not None


class Parsed(ABC, Generic[T_co]):
    """A constraint that reads its own texts; immutable. `tokenfst.compile` takes it.

    Attributes:
        openings: the texts or tokens with which its texts begin, if it writes markers of its own, as tool calls do;
            otherwise empty.
        notes: the parts of its schemas that constrain nothing, as in `json_schema`. Each pointer is that within its
            schema; in the arguments of a tool, the tool's name comes first.
    """

    openings: tuple[Expr, ...] = ()
    notes: tuple[Note, ...] = ()

    @abstractmethod
    def to_automaton(self, work: Work | None = None) -> ByteAutomaton | PushdownAutomaton:
        """Return the automaton of the constraint's texts.

        Args:
            work: the limits of the compilation, and the means to stop it; by default, those of the current compilation.

        Raises:
            LimitExceeded: a limit was exceeded.
            Cancelled: another thread cancelled the compilation.
        """

    @abstractmethod
    def parse(self, text: str) -> T_co:
        """Return the value that a text stands for.

        Raises:
            TextNotAllowed: the constraint does not allow the text.
        """

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes to pickle: all but those that are computed on first use, such as `readable`."""
        return {name: value for name, value in self.__dict__.items() if not _is_made_again(type(self), name)}

    def __get_pydantic_json_schema__(
        self, core_schema: object, handler: Callable[[object], dict[str, object]]
    ) -> dict[str, object]:
        """Raise UnsupportedSchema: Pydantic calls this for `Annotated[str, constraint]`, and would ignore it."""
        raise UnsupportedSchema(f"{self!r} in Annotated is not an expression", keyword="pattern")

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the `repr`, which says what the constraint was made from."""
        return shown("constraint", repr(self))

    @cached_property
    def readable(self) -> Readable:
        """The automaton of the texts, with each token read as its name; made on first use."""
        return self.to_automaton()

    def allows(self, text: str) -> bool:
        """Return whether `readable` accepts a text."""
        return is_text(text) and has_text(self.readable, text.encode())

    @overload
    def __or__(self, other: Parsed[U]) -> Parsed[T_co | U]: ...
    @overload
    def __or__(self, other: Composable) -> Parsed[T_co | str]: ...
    def __or__(self, other: Composable) -> Parsed[Any]:
        """Return the union with another constraint; `parse` tries this one first. A string is literal text."""
        return _alternatives(self, other)

    @overload
    def __ror__(self, other: Parsed[U]) -> Parsed[T_co | U]: ...
    @overload
    def __ror__(self, other: Composable) -> Parsed[T_co | str]: ...
    def __ror__(self, other: Composable) -> Parsed[Any]:
        return _alternatives(other, self)

    def united(self, other: Parsed[Any]) -> Parsed[Any] | None:
        """Return the union with another constraint if this class has a better one than the general union, else None."""
        return None


class Composed(Parsed[T_co]):
    """A constraint composed of others; made by `sequence`, `after`, `triggered`, `optional` and `|`. Immutable."""

    def __init__(self, part: Part, read: Callable[[str], T_co]) -> None:
        """Initialize the constraint with its language, and with the function that reads an allowed text."""
        self._part = part
        self._read = read
        self.notes = part.notes

    def __repr__(self) -> str:
        calls = f", grammars and automata called: {len(self._part.called)}" if self._part.called else ""
        return f"<Composed of {excerpt(self._part.expr)}{calls}>"

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the expression, and what a call `(?&0)` in it stands for."""
        called = "".join(
            shown(f"(?&{number}):", "") + (part.grammar if isinstance(part, UniqueArrays) else part)._repr_html_()
            for number, part in enumerate(self._part.called)
        )
        return shown("composed constraint", str(self._part.expr)) + called

    def to_part(self) -> Part:
        """Return the expression, together with the schemas, grammars and automata that it refers to."""
        return self._part

    def walked(self) -> Expr | Grammar | None:
        """Return the expression, whose parts explanations name; None if it calls schemas or automata."""
        return None if self._part.called else self._part.expr

    def parse(self, text: str) -> T_co:
        """Return the value of a text; the function that made the constraint documents it.

        Raises:
            TextNotAllowed: the constraint does not allow the text.
            LimitExceeded: it nests constraints too deeply for Python's stack.
        """
        if not self.allows(text):
            raise TextNotAllowed("the constraint does not allow the text", text)
        try:
            return self._read(text)
        except RecursionError:
            raise LimitExceeded("the constraint is composed too deeply for its texts to be read") from None

    @property
    def alternatives(self) -> list[Parsed[Any]]:
        """The alternatives of a constraint made by `|`; otherwise the constraint alone."""
        if isinstance(self._read, partial) and self._read.func is first_value:
            return [*self._read.args[0]]
        return [self]

    @cached_property
    def readable(self) -> Readable:
        """The automaton of the texts, with each token read as its name.

        It accepts nothing if there is no text, since other parts of a larger constraint may have some. A constraint
        that cannot be compiled alone may still be part of one that is "parallel" or deterministic; its automaton then
        follows several derivations at once.
        """
        try:
            return self.to_automaton() if calls_grammar(self._part) else readable(_checked(part_rules(self._part)))
        except EmptyLanguage:
            return compile_expr(EMPTY)
        except NondeterministicGrammar as error:
            if not calls_grammar(self._part) and isinstance(part_rules(self._part), UniqueArrays):
                raise _begin_alike(error) from error
            return compile_grammar(part_grammar(self._part, parallel=True), work=current_work())


class _ByRules(ByRules, Composed[T_co]):
    """A composed constraint without a general grammar in it."""

    readable = Composed.readable

    def to_automaton(self, work: Work | None = None) -> ByteAutomaton | PushdownAutomaton:
        """Return the automaton of the texts.

        Raises:
            EmptyLanguage: there is no text.
            LimitExceeded, Cancelled: see `Parsed.to_automaton`.
            NondeterministicGrammar: two alternatives with nested rules begin with the same text.
        """
        try:
            return super().to_automaton(work)
        except NondeterministicGrammar as error:
            raise _begin_alike(error) from error

    @cached_property
    def rules(self) -> Rules:
        """The rules that read a text."""
        try:
            return _checked(part_rules(self._part))
        except NondeterministicGrammar as error:
            raise _begin_alike(error) from error


def _checked(rules: Rules) -> Rules:
    """Return rules unless their start is found to be nondeterministic.

    Raises:
        NondeterministicGrammar: see `check_start`.
    """
    check_start(rules.grammar if isinstance(rules, UniqueArrays) else rules, current_work())
    return rules


def _begin_alike(error: NondeterministicGrammar) -> NondeterministicGrammar:
    message = (
        "two alternatives begin alike, so that the start of a schema, a type or a grammar cannot be recognized: give "
        "them different first characters, put different texts before them, or write one schema for all; a text before "
        "one must end, as [^{]* and constraints.after(...) do"
    )
    return NondeterministicGrammar(f"{message} ({error})")


class _OfGrammars(Composed[T_co]):
    """A composed constraint with a general grammar in it."""

    def to_grammar(self) -> Grammar:
        """Return the grammar of the texts."""
        return self._grammar

    def walked(self) -> Grammar:
        """Return the grammar, whose rules explanations name."""
        return self._grammar

    def to_automaton(self, work: Work | None = None) -> ByteAutomaton | PushdownAutomaton:
        """Return the automaton of the texts.

        Raises:
            GrammarError, NondeterministicGrammar, EmptyLanguage: as for `automata.compile_grammar`.
            LimitExceeded, Cancelled: see `Parsed.to_automaton`.
        """
        return compile_grammar(self._grammar, work=work)

    @cached_property
    def _grammar(self) -> Grammar:
        return part_grammar(self._part)


def composed(part: Part, read: Callable[[str], T]) -> Composed[T]:
    """Return the constraint of a part; `read` returns the value of an allowed text."""
    return _OfGrammars(part, read) if calls_grammar(part) else _ByRules(part, read)


def parsed(constraint: Composable) -> Parsed[Any]:
    """Return a constraint that reads its texts: the given one if it does, otherwise one whose values are the texts.

    Raises:
        PatternError, TypeError: as for `part_of`.
    """
    return constraint if isinstance(constraint, Parsed) else composed(part_of(constraint), str)


def _alternatives(left: Composable, right: Composable) -> Parsed[Any]:
    # A string is literal text, as it is beside the operators of expressions.
    first, second = (parsed(literal(each) if isinstance(each, str) else each) for each in (left, right))
    united = first.united(second)
    if united is not None:
        return united
    each = [one for side in (first, second) for one in (side.alternatives if isinstance(side, Composed) else [side])]
    return composed(either([part_of(first), part_of(second)]), partial(first_value, each))


def first_value(alternatives: list[Parsed[Any]], text: str) -> Any:
    """Return the value from the first alternative that allows a text.

    Raises:
        TextNotAllowed: no alternative allows it; the reason is that of the last one.
    """
    refused = TextNotAllowed("the constraint does not allow the text", text)
    for each in alternatives:
        try:
            return each.parse(text)
        except TextNotAllowed as error:
            refused = error
    raise refused


def _is_made_again(kind: type, name: str) -> bool:
    return isinstance(inspect.getattr_static(kind, name, None), cached_property)
