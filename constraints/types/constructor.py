"""`dataclass(T)`: constructor calls as a constraint, and reading them (Koo, Liu & He 2024, section 5.2)."""

from __future__ import annotations

from typing import Any, Generic, TypeVar, cast, overload

from automata.byte_automaton import ByteAutomaton
from automata.compile.compiler import compile_expr
from automata.errors import TextNotAllowed, UnsupportedSchema
from automata.expressions import Expr
from automata.limits import Work
from automata.pushdown.automaton import PushdownAutomaton
from automata.pushdown.compile import compile_grammar
from automata.pushdown.grammar import Grammar
from constraints.composing.parsed import Parsed, is_text
from constraints.composing.part import Part, part_of
from constraints.types.calls import Calls
from constraints.types.evaluation import Evaluation, Mismatch, tree
from constraints.types.mistakes import TOO_DEEP, check_annotation
from constraints.types.reflection import Reflection

T = TypeVar("T")


class ConstructorCalls(Parsed[T], Generic[T]):
    """The constructor calls that make the values of a type; made by `dataclass`. Immutable.

    Attributes:
        annotation: the type.
    """

    def __init__(self, annotation: Any) -> None:
        self.annotation = annotation
        self._reflection = Reflection()
        self._shape = self._reflection.shape(annotation)
        self._language = Calls(self._reflection).language(self._shape)

    def __repr__(self) -> str:
        return f"dataclass({getattr(self.annotation, '__qualname__', self.annotation)})"

    def to_expr(self) -> Expr:
        """Return the texts as an expression, to combine with others; its `str` is the regular expression of section
        5.2, unless the multiples of a step, such as 13, take too long a one.

        Raises:
            ValueError: the type is recursive, or so large that it needs a grammar.
        """
        if isinstance(self._language, Grammar):
            raise ValueError("a recursive type, or one of this size, is a grammar and not a regular expression")
        return self._language

    def to_grammar(self) -> Grammar:
        """Return the texts as a grammar; it has one rule if `to_expr` returns an expression."""
        return self._language if isinstance(self._language, Grammar) else Grammar({"whole": self._language}, "whole")

    def to_part(self) -> Part:
        """Return the texts, for use within composed constraints."""
        return part_of(self._language)

    def to_automaton(self, work: Work | None = None) -> ByteAutomaton | PushdownAutomaton:
        """Return the automaton of the texts; it has a stack if `to_expr` returns no expression.

        Raises:
            EmptyLanguage: no value of the type can be written, because each value contains another one.
            NondeterministicGrammar: a union has recursive options that begin in the same way.
            LimitExceeded, Cancelled: see `Parsed.to_automaton`.
        """
        if isinstance(self._language, Grammar):
            return compile_grammar(self._language, work=work)
        return compile_expr(self._language, work)

    def parse(self, text: str) -> T:
        """Return the value that a constructor call makes.

        Only the types' own constructors run, and only if the constraint allows the text.

        Raises:
            TextNotAllowed: the constraint does not allow the text; or Python cannot read it, because it is nested
                more than about 150 deep, or has an integer of more than 4,300 digits; or the constructor of a Pydantic
                dataclass refuses it, because of validators in the class, for example.
            Exception: anything that a `__post_init__` raises.
        """
        if not is_text(text):
            raise TextNotAllowed("half a surrogate pair is not text", text)
        try:
            node = tree(text)
            if not self.allows(text):
                # Evaluation explains better what is wrong than the automaton does.
                Evaluation(self._reflection, makes_records=False).value(node, self._shape)
                raise Mismatch("it is not written as the constraint writes it")
            return cast(T, Evaluation(self._reflection).value(node, self._shape))
        except Mismatch as error:
            raise TextNotAllowed(str(error), text) from None
        except RecursionError:
            raise TextNotAllowed("it is nested too deeply to be read", text) from None


@overload
def dataclass(annotation: type[T]) -> ConstructorCalls[T]: ...


@overload
def dataclass(annotation: Any) -> ConstructorCalls[Any]: ...


def dataclass(annotation: Any) -> ConstructorCalls[Any]:
    """Return the constraint of the constructor calls `T(x=1, name="a", child=C(...))` of a dataclass.

    Fields are written by keyword, in order; fields with a default may be left out. The `repr` of an instance is
    allowed, and so are other spellings (`constraints.types.calls`). Fields may be int, float, Decimal, bool, str, None,
    Literal, Enum, Optional and Union, list, tuple, set, frozenset, dict, date, time, datetime, timedelta, UUID,
    dataclasses and NamedTuples (including recursive ones), and `Annotated` with bounds, lengths and patterns.

    The exceptions are values whose `repr` is not valid Python, or leaves out what the constructor needs: members of an
    Enum are written as `Color.RED`; fields with `init=False` are not written; fields with `repr=False` are written; and
    the fields of a Pydantic dataclass are written with their aliases if its constructor does not take their names.
    Defaults that are not values of their field's type (`count: int = None`), which dataclasses do not check, can be
    left out but not written.

    Args:
        annotation: a dataclass, or any type that is made of those above.

    Raises:
        TypeError: the argument is a schema, an instance or a text instead of a type.
        UnsupportedSchema: a type or an annotation is not supported; the pointer of the error is the field.
        UnsatisfiableSchema: no value satisfies the bounds.
        PatternError: a compiled pattern is not regular.
    """
    check_annotation(annotation)
    try:
        return ConstructorCalls(annotation)
    except RecursionError:
        raise UnsupportedSchema(TOO_DEEP) from None
