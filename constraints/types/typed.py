"""`typed(T)`: JSON texts of a Python type as a constraint, and reading them, with Pydantic.

Pydantic defines the meaning of a type (its schema, made exact by `constraints.types.generation`), `json_schema` makes
the automaton, and Pydantic's validator reads the texts. So a text that the constraint allows parses; and the text that
the type's serializer writes for an instance, compact or not, is allowed and parses to an equal instance. The exceptions
are values that have no JSON or are read as other values, among them defaults that are not values of their field's type
(`count: int = None`), which Pydantic does not check:

    infinities and NaN, which Pydantic serializes as null          offsets with seconds, which are cut off
    values of a union that an earlier option writes the same way   computed fields, which are never parsed
    integers of more than 4,300 digits, and values nested more than 200 deep, which Pydantic does not read: the
    automaton allows them, because it does not count digits or depth, and `parse` refuses them
"""

from __future__ import annotations

import inspect
import re
import typing
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from automata.byte_automaton import ByteAutomaton
from automata.drawing import shown
from automata.errors import TextNotAllowed, TokenfstError, UnsupportedSchema
from automata.limits import Work
from automata.pushdown.automaton import PushdownAutomaton
from automata.visibly_pushdown import compile_visibly_pushdown
from constraints.composing.parsed import is_text
from constraints.json_schema.alternatives import JsonTexts, shown_schema
from constraints.json_schema.building.layout import Layout, check_option
from constraints.json_schema.building.schema_grammar import schema_grammar
from constraints.json_schema.building.whitespace import Habit, Whitespace, whitespace_at
from constraints.json_schema.explaining.subschemas import SchemaSource
from constraints.json_schema.strings import Spellings
from constraints.types.mistakes import TOO_DEEP, check_annotation
from constraints.types.parameters import is_field_info
from constraints.types.plain import plain_document

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pydantic import TypeAdapter

T = TypeVar("T")


class Typed(JsonTexts[T], Generic[T]):
    """The JSON texts of the values of a type; made by `typed`. Immutable.

    Attributes:
        annotation: the type, or the function.
        adapter: the Pydantic adapter that reads and writes its values; `adapter.json_schema()` is a schema to show to
            a model.
        schema: the exact schema; numbers in it may be Decimals.
        layout: the schema as it was read, and how its values are written.
    """

    annotation: Any
    adapter: TypeAdapter[Any]
    schema: dict[str, Any]
    layout: Layout

    def __init__(
        self,
        annotation: Any,
        adapter: TypeAdapter[Any],
        schema: dict[str, Any],
        whitespace: Habit | Whitespace,
        spellings: Spellings,
    ) -> None:
        self.annotation = annotation
        self.adapter = adapter
        self.schema = schema
        self.layout = Layout(plain_document(self.schema), whitespace, "schema", spellings)
        self._grammar = schema_grammar(self.layout)

    def __repr__(self) -> str:
        is_generic = typing.get_origin(self.annotation) is not None
        return f"typed({self.annotation if is_generic else getattr(self.annotation, '__qualname__', self.annotation)})"

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes to pickle: all but the adapter, whose type may have been made for a function."""
        return {name: value for name, value in super().__getstate__().items() if name != "adapter"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the pickled attributes, and make the adapter of the type again."""
        self.__dict__.update(state)
        self.adapter = _adapter_of(self.annotation)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the type, and its exact schema."""
        return shown("JSON of a type", repr(self)) + shown_schema(self.schema)

    @property
    def source(self) -> SchemaSource:
        """The schema, and how it is read."""
        return SchemaSource(self.schema, "draft2020-12", None, partial(plain_document, self.schema))

    def to_automaton(self, work: Work | None = None) -> ByteAutomaton | PushdownAutomaton:
        """Return the automaton of the texts.

        Raises:
            LimitExceeded, Cancelled: see `Parsed.to_automaton`.
        """
        return compile_visibly_pushdown(self._grammar.alone(), work=work)

    def parse(self, text: str) -> T:
        """Return the value of a text.

        Raises:
            TextNotAllowed: the constraint does not allow the text; or functions of the type, such as a model's
                validators, refuse it.
            Exception: any other error of these functions, for a text that is allowed.
        """
        if not self.allows(text):
            raise TextNotAllowed(self._why_not(text), text)
        return self.value(text)

    def _why_not(self, text: str) -> str:
        """Return why the constraint does not allow a text: Pydantic's reason, if it refuses the text too."""
        try:
            self.value(text)
        except TextNotAllowed as error:
            return error.reason
        except Exception:  # a validator of the type expects only texts that are allowed
            pass
        return "it is not written as the constraint writes it"

    def value(self, text: str) -> T:
        """Return the value that Pydantic reads, even if the constraint does not allow the text.

        Raises:
            TextNotAllowed: the text is not the JSON of a value of the type; or functions of the type refuse it.
        """
        from pydantic import ValidationError

        if not is_text(text):
            raise TextNotAllowed("half a surrogate pair is not text", text)
        try:
            value: T = self.adapter.validate_json(text)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False, include_input=False)[0]
            place = "".join(f"/{step}" for step in first["loc"])
            raise TextNotAllowed(f"{first['msg']} (at {place or 'the root'})", text) from error
        except TypeError as error:  # a signaling NaN has no hash
            raise TextNotAllowed(str(error), text) from error
        return value


@overload
def typed(
    annotation: type[T], *, whitespace: Habit | Whitespace = "default", spellings: Spellings = "plain"
) -> Typed[T]: ...


@overload
def typed(
    annotation: Any, *, whitespace: Habit | Whitespace = "default", spellings: Spellings = "plain"
) -> Typed[Any]: ...


def typed(annotation: Any, *, whitespace: Habit | Whitespace = "default", spellings: Spellings = "plain") -> Typed[Any]:
    """Return the constraint of the JSON texts of a type.

    Args:
        annotation: a dataclass, NamedTuple, TypedDict, Pydantic model, Enum, or any annotation that Pydantic takes:
            Literal, Optional, Union, list, set, tuple, dict, datetime, date, UUID, Decimal, Annotated with bounds, ...
            Or a function: then texts are objects of its parameters, and `parse` returns them as a dict, which
            `function(**arguments)` takes; parameters with defaults may be left out, and those without annotations
            take any JSON. The dict contains the defaults that are given in `Field(...)`. The function is never called.
        whitespace: the whitespace that is allowed, as in `json_schema`.
        spellings: how strings and names are spelled, as in `json_schema`.

    Raises:
        TypeError: the argument is a schema, an instance or a text instead of a type.
        UnsupportedSchema: a part of the type cannot be expressed exactly; see `constraints.types.generation`.
        UnsatisfiableSchema: the type has no values.
        ValueError: an option has an unknown value.
    """
    check_option("spellings", spellings, Spellings)
    whitespace_at(whitespace, 1)
    check_annotation(annotation)
    try:
        adapter, schema = _read(annotation)
        return Typed(annotation, adapter, schema, whitespace, spellings)
    except RecursionError:
        raise UnsupportedSchema(TOO_DEEP) from None


def _read(annotation: Any) -> tuple[TypeAdapter[Any], dict[str, Any]]:
    """Return the Pydantic adapter of a type, and its exact schema.

    Raises:
        UnsupportedSchema, UnsatisfiableSchema: see `typed`.
    """
    from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError
    from pydantic_core import SchemaError

    from constraints.types.generation import exact_schema

    try:
        adapter = _adapter_of(annotation)
        adapter.rebuild()  # has no effect, unless names in a model are not defined
        return adapter, exact_schema(adapter)
    except (TokenfstError, RecursionError):
        raise
    except (NameError, TypeError, PydanticSchemaGenerationError, PydanticUserError, SchemaError) as error:
        # Pydantic's advice to its users would not help here.
        reason = re.split(r"For further information visit|\. Set `arbitrary_types_allowed", str(error))[0]
        raise UnsupportedSchema(" ".join(reason.split())) from None
    except Exception as error:  # functions of the type may say how Pydantic reads it
        raise UnsupportedSchema(f"Pydantic cannot read the type: {type(error).__name__}: {error}") from None


def _adapter_of(annotation: Any) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    is_function = inspect.isroutine(annotation) or isinstance(annotation, partial)
    return TypeAdapter[Any](arguments_of(annotation) if is_function else annotation)


def parameters(function: Callable[..., Any], *, filled: bool = False) -> Iterator[tuple[str, Any, bool]]:
    """Yield the name and the type of each parameter of a function, and whether it is required.

    `pydantic.Field(...)` in place of a default is added to the type.

    Args:
        function: the function.
        filled: whether the arguments are read by Pydantic, which fills in the defaults in `Field(...)`. The function
            itself would be given `Field(...)`.

    Raises:
        UnsupportedSchema: a parameter cannot be given by name, type hints cannot be resolved, or a default in
            `Field(...)` would not be filled in.
    """
    try:
        signature = inspect.signature(function)
        hinted = function.func if isinstance(function, partial) else function
        hints = _hints_of_parameters(hinted)
    except Exception as error:  # a hint may be any expression
        raise UnsupportedSchema(f"the parameters of {function!r} are not known: {error}") from error
    for name, parameter in signature.parameters.items():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            reason = f"arguments are given by name, one by one, and this parameter is {parameter.kind.description}"
            raise UnsupportedSchema(reason, pointer=f"/{name}")
        if name == "self" and inspect.isfunction(function):
            raise UnsupportedSchema(
                "a method needs its object: pass it bound, as in `instance.method`", pointer="/self"
            )
        hint, default = hints.get(name, Any), parameter.default
        if not is_field_info(default):
            yield name, hint, default is parameter.empty
            continue
        if not filled and not default.is_required():
            reason = "a default in Field(...) is not filled in here: write Annotated[..., Field(...)] = default"
            raise UnsupportedSchema(reason, pointer=f"/{name}", keyword="default")
        yield name, typing.Annotated[hint, default], default.is_required()


def _hints_of_parameters(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the types of a function's parameters. The type of the result is left out, because its name may be
    undefined at run time."""
    if isinstance(function, type):
        return typing.get_type_hints(function, include_extras=True)
    annotations = {name: hint for name, hint in getattr(function, "__annotations__", {}).items() if name != "return"}
    found = inspect.unwrap(function)
    stand_in: Any = SimpleNamespace(__annotations__=annotations, __type_params__=getattr(found, "__type_params__", ()))
    return typing.get_type_hints(stand_in, getattr(found, "__globals__", {}), include_extras=True)


def arguments_of(function: Callable[..., Any]) -> Any:
    """Return a TypedDict of a function's parameters.

    Raises:
        UnsupportedSchema: see `parameters`.
    """
    import typing_extensions as extended

    fields = {
        name: (extended.Required if required else extended.NotRequired)[hint]
        for name, hint, required in parameters(function, filled=True)
    }
    make: Any = extended.TypedDict  # of fields that are known only now
    made = make(getattr(function, "__name__", "Arguments"), fields)
    made.__pydantic_config__ = {"extra": "forbid"}
    return made
