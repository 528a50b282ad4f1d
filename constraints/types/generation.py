"""The exact JSON Schema of a Python type: every text that it allows parses, and it allows every serialized value.

Pydantic's own generator describes an interface: its schemas are looser than its validators in some places and tighter
than its serializers in others. The differences here:

    bounds          of another type than the number, they are converted to its type first
    int             written without fraction and exponent, so 1.0 is not an int (`typed` applies this to all integers)
    float           bounds hold after rounding (`constraints.types.rounding`); without infinities and NaN, numbers are
                    in the range of floats
    Decimal         a string, as it is serialized; JSON numbers would go through float. Bounds, steps and digits hold;
                    with a bound on digits, only zero may have an exponent
    str             patterns mean what they mean to Pydantic's engine (`constraints.types.rust`), or to `re` if they are
                    compiled or `regex_engine` says so
    date, time, datetime, timedelta
                    those that exist and that `datetime` can represent, in ISO 8601 as serialized; with or without a
                    time zone, as the type says. `format` would allow leap seconds and years of more digits
    UUID            with hyphens
    Enum, Literal   integers as above; a member whose value does not parse back is refused, as are tuples
    set, frozenset  items may repeat, since parsing merges them; so `min_length` above 1 is refused
    dict            every key is a string that parses as a key (int, float, bool, Decimal, dates, UUID, Literal, Enum):
                    Pydantic's schema does not constrain keys of types other than str, and allows keys that do not
                    match a pattern. Names may repeat, and the last one counts; so `min_length` above 1 is refused
    models, dataclasses, TypedDict
                    closed, unless `extra="allow"`: other members would be dropped silently. Names are the validation
                    aliases, if there are any; other names from which a field may be read are not allowed
    unions          `anyOf`; a discriminator is required, because it is read before its default is known
    additions for readers of a schema, such as `json_schema_extra`, are ignored

Refused, because no automaton here describes what their validators accept: bounds of times, sets whose items may not be
hashable (`constraints.types.hashing`), paths as aliases, two fields that are read from one name, `bytes` with a length,
`Json`, URLs, `complex`, `Fraction`, generators, callables, members of an Enum in a Literal (which Pydantic never reads
from JSON), settings by which bytes, infinities or times are written in another way than they are read, types that
Pydantic checks by functions of its own (`constraints.types.validators`), and whatever Pydantic has no schema for. A
user's own checks (`AfterValidator`, `Predicate`, validators of a model, a callable `Discriminator`) run when a text is
parsed, and not in the automaton; a `BeforeValidator` receives only what the type's schema allows.
"""

from __future__ import annotations

import datetime
import re
import sys
from fractions import Fraction
from typing import Any

from pydantic import TypeAdapter
from pydantic.errors import PydanticInvalidForJsonSchema
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, WithJsonSchema
from pydantic_core import core_schema

from automata.algebra.elimination import to_expr
from automata.compile.compiler import compile_expr
from automata.errors import PatternError, UnsatisfiableSchema, UnsupportedSchema
from automata.expressions import Expr
from automata.pattern import parse
from constraints.types import patterns
from constraints.types.bounds import ORDERS, bounded, bounds_as_keywords, bounds_of, with_digits, within
from constraints.types.hashing import is_hashable
from constraints.types.members import keys_of, values_schema
from constraints.types.mistakes import errors_at
from constraints.types.rounding import rounding_into
from constraints.types.rust import ecma
from constraints.types.shapes import UNBOUNDED, Bounds
from constraints.types.validators import check_validators
from constraints.values import date

# The default context of `decimal` has 28 digits.
_MAX_QUOTIENT = 10**28


class ExactSchema(GenerateJsonSchema):
    """Pydantic's generator with the differences that the module lists. Numbers in its schemas may be Decimals."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._cores: dict[str, Any] = {}  # the core schemas that others refer to
        self._order: list[str] = []  # the fields of the dataclass whose schema is being made

    def emit_warning(self, kind: Any, detail: str) -> None:
        # Defaults are only for readers; but an option of a union that the schema skips could not be written.
        if kind != "non-serializable-default":
            raise UnsupportedSchema(detail)

    def generate_inner(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of what a validator accepts, without a user's additions for readers of the schema.

        If Pydantic has no schema, return that of `WithJsonSchema`.
        """
        metadata = schema.get("metadata", {})
        functions = metadata.get("pydantic_js_annotation_functions", [])
        own = [function for function in functions if not _is_of_user(function)]
        plain = {**metadata, "pydantic_js_extra": None, "pydantic_js_annotation_functions": own}
        try:
            return super().generate_inner({**schema, "metadata": plain} if metadata else schema)
        except PydanticInvalidForJsonSchema:
            if len(own) == len(functions):
                raise
            return super().generate_inner(schema)

    def definitions_schema(self, schema: core_schema.DefinitionsSchema) -> JsonSchemaValue:
        self._cores |= {definition["ref"]: definition for definition in schema["definitions"]}
        return super().definitions_schema(schema)

    # Numbers.

    def int_schema(self, schema: core_schema.IntSchema) -> JsonSchemaValue:
        return {"type": "integer", **bounds_as_keywords(bounds_of(schema))}

    def float_schema(self, schema: core_schema.FloatSchema) -> JsonSchemaValue:
        return {"type": "number", **bounds_as_keywords(rounding_into(self._float_bounds(schema)))}

    def _float_bounds(self, schema: core_schema.FloatSchema) -> Bounds:
        bounds = bounds_of(schema)
        if not schema.get("allow_inf_nan", self._config.config_dict.get("allow_inf_nan", True)):
            bounds = bounded(bounds, Fraction(sys.float_info.max), exclusive=False)
        if bounds.low is None or bounds.high is None:
            self._check_serialized("ser_json_inf_nan", "null", "infinities that are written as what is not a number")
        return bounds

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:
        bounds = bounds_of(schema)
        if bounds.step is not None:  # beyond this, Decimal's own remainder is an error
            bounds = bounded(bounds, _MAX_QUOTIENT * bounds.step, exclusive=True)
        found = _string(_decimals(bounds, finite=not schema.get("allow_inf_nan")))
        digits, places = schema.get("max_digits"), schema.get("decimal_places")
        if digits is not None or places is not None:
            found["allOf"] = [{"pattern": patterns.anchored(with_digits(digits, places))}]
        return found

    # Text.

    def str_schema(self, schema: core_schema.StringSchema) -> JsonSchemaValue:
        config = self._config.config_dict
        names = ("strip_whitespace", "to_lower", "to_upper")
        changes = [name for name in names if schema.get(name, config.get(f"str_{name}"))]
        checks = ("min_length", "pattern", "ascii_only")
        if changes and (any(map(schema.get, checks)) or config.get("str_min_length")):
            raise UnsupportedSchema(
                "a length or pattern of text that is changed before it is checked", keyword=changes[0]
            )
        found = super().str_schema(schema)
        if "pattern" in found:
            found["pattern"] = self._pattern(schema)
        if schema.get("ascii_only"):
            found["allOf"] = [{"pattern": r"^[\x00-\x7f]*$"}]
        return found

    def _pattern(self, schema: core_schema.StringSchema) -> str | Expr:
        """Return the pattern of a string in ECMA-262, or the texts that Python's `re` takes."""
        pattern = schema["pattern"]
        engine = schema.get("regex_engine", self._config.config_dict.get("regex_engine"))
        if isinstance(pattern, str) and engine != "python-re":
            return ecma(pattern)
        try:
            return parse(re.compile(pattern), search=True)
        except PatternError as error:
            raise UnsupportedSchema(f"the pattern {pattern!r}: {error.reason}", keyword="pattern") from error

    def bytes_schema(self, schema: core_schema.BytesSchema) -> JsonSchemaValue:
        if schema.get("min_length") or schema.get("max_length") is not None or self._config.val_json_bytes != "utf8":
            raise UnsupportedSchema("bytes with a length, or not in UTF-8", keyword="bytes")
        self._check_serialized("ser_json_bytes", "utf8", "bytes that are written in another way than they are read")
        return {"type": "string"}

    def uuid_schema(self, schema: core_schema.UuidSchema) -> JsonSchemaValue:
        version = schema.get("version")
        if version is None:
            return _string(patterns.UUID)
        return _string(
            rf"[0-9a-fA-F]{{8}}-[0-9a-fA-F]{{4}}-{version}[0-9a-fA-F]{{3}}-[89abAB][0-9a-fA-F]{{3}}-[0-9a-fA-F]{{12}}"
        )

    # Dates and times.

    def date_schema(self, schema: core_schema.DateSchema) -> JsonSchemaValue:
        if any(schema.get(keyword) is not None for keyword in ORDERS) and schema.get("now_op") is None:
            self._moment({}, "")
            return _string(_days(schema))
        return self._moment(schema, patterns.DATE)

    def time_schema(self, schema: core_schema.TimeSchema) -> JsonSchemaValue:
        return self._moment(schema, patterns.TIME + _zone_pattern(schema))

    def datetime_schema(self, schema: core_schema.DatetimeSchema) -> JsonSchemaValue:
        return self._moment(schema, patterns.DATETIME + _zone_pattern(schema))

    def timedelta_schema(self, schema: core_schema.TimedeltaSchema) -> JsonSchemaValue:
        return self._moment(schema, patterns.DURATION)

    def _moment(self, schema: Any, written: str) -> JsonSchemaValue:
        for keyword in (*ORDERS, "now_op"):
            if schema.get(keyword) is not None:
                raise UnsupportedSchema("bounds of times, or by the clock", keyword=keyword)
        for option in ("ser_json_temporal", "ser_json_timedelta"):
            self._check_serialized(option, "iso8601", "dates and times that are serialized as numbers")
        return _string(written)

    def _check_serialized(self, option: str, expected: str, reason: str) -> None:
        """Raise an error if an option of the serializer is set to something unexpected."""
        if self._config.config_dict.get(option, expected) != expected:
            raise UnsupportedSchema(reason, keyword=option)

    # Values.

    def literal_schema(self, schema: core_schema.LiteralSchema) -> JsonSchemaValue:
        return values_schema(schema)

    def enum_schema(self, schema: core_schema.EnumSchema) -> JsonSchemaValue:
        return {**values_schema(schema), "title": schema["cls"].__name__}

    # Collections.

    def _common_set_schema(self, schema: Any) -> JsonSchemaValue:
        _refuse_distinct(schema, "a set")
        if not is_hashable(schema.get("items_schema", {"type": "any"}), self._cores):
            raise UnsupportedSchema("a set of what may not be hashable", keyword="set")
        found = super()._common_set_schema(schema)
        del found["uniqueItems"]
        return found

    def _common_dict_schema(self, schema: Any) -> JsonSchemaValue:
        _refuse_distinct(schema, "a dict")
        found: JsonSchemaValue = {"type": "object"}
        if "keys_schema" in schema:
            found["propertyNames"] = self._names(schema["keys_schema"])
        values = self.generate_inner(schema["values_schema"]) if "values_schema" in schema else True
        found["additionalProperties"] = values
        self.update_with_validations(found, schema, self.ValidationsMapping.object)
        return found

    def _names(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of the keys of a dict, as JSON strings."""
        while schema["type"] == "definition-ref":
            schema = self._cores[schema["schema_ref"]]
        kind = schema["type"]
        if kind in ("int", "float"):
            bounds = bounds_of(schema) if kind == "int" else rounding_into(self._float_bounds(schema))
            plain = patterns.INTEGER if kind == "int" else patterns.NUMBER
            return _string(plain if bounds == UNBOUNDED else within(bounds, plain, whole=kind == "int"))
        if kind == "bool":
            return _string("true|false")
        if kind in ("literal", "enum"):
            return _string("|".join(map(patterns.quoted, sorted(keys_of(schema)))))
        if kind in ("str", "decimal", "date", "time", "datetime", "timedelta", "uuid"):
            return self.generate_inner(schema)
        if kind == "any":
            return {}
        raise UnsupportedSchema(
            f"keys of the type {kind!r}: keys are strings, numbers, booleans, dates, times, UUIDs, literals or enums",
            keyword="dict",
        )

    # Objects.

    def _named_required_fields_schema(self, named_required_fields: Any) -> JsonSchemaValue:
        found: JsonSchemaValue = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
        for field in named_required_fields:
            with errors_at(f"/{field[0]}"):
                one = super()._named_required_fields_schema([field])
            found["properties"] |= one["properties"]
            found["required"] += one.get("required", [])
        for name, _, field in named_required_fields:
            for other in self._looked_up(field, name) - {self._get_alias_name(field, name)}:
                if found["properties"].setdefault(other, False) is not False:
                    raise UnsupportedSchema(f"two fields are read from {other!r}", pointer=f"/{name}", keyword="alias")
        return found

    def _looked_up(self, field: Any, name: str) -> set[str]:
        """Return all names of members from which a field may be read."""
        alias = field.get("validation_alias")
        by_alias = alias is not None and self._config.validate_by_alias is not False
        paths = [[alias]] if isinstance(alias, str) else alias
        found = {path[0] for path in paths} if by_alias else set[str]()
        by_name = any(map(self._config.config_dict.get, ("validate_by_name", "populate_by_name")))
        return found if by_alias and not by_name else found | {name}

    def model_fields_schema(self, schema: core_schema.ModelFieldsSchema) -> JsonSchemaValue:
        found = super().model_fields_schema(schema)
        if "extras_keys_schema" in schema:
            known: JsonSchemaValue = {"enum": [*found["properties"]]}
            found["propertyNames"] = {"anyOf": [known, self._names(schema["extras_keys_schema"])]}
        return found

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchemaValue:
        before, self._order = self._order, [*getattr(schema["cls"], "__dataclass_fields__", ())]
        try:
            return super().dataclass_schema(schema)
        finally:
            self._order = before

    def dataclass_args_schema(self, schema: core_schema.DataclassArgsSchema) -> JsonSchemaValue:
        # The validator takes keyword-only fields last; the serializer writes all in their order in the class.
        place = {name: number for number, name in enumerate(self._order)}
        fields = sorted(schema["fields"], key=lambda field: place.get(field["name"], len(place)))
        return super().dataclass_args_schema({**schema, "fields": fields})

    def _get_alias_name(self, field: Any, name: str) -> str:
        found: str = super()._get_alias_name(field, name)
        alias = field.get("validation_alias")
        if isinstance(alias, list) and [found] not in alias and self._config.validate_by_alias is not False:
            raise UnsupportedSchema("an alias that is a path", keyword="validation_alias")
        return found

    def _update_class_schema(self, json_schema: JsonSchemaValue, cls: type[Any], config: Any) -> None:
        # The additions of a class are for readers; only whether it allows other members matters.
        if config.get("extra") == "allow" and json_schema.get("additionalProperties") is False:
            json_schema["additionalProperties"] = True
        json_schema.setdefault("title", cls.__name__)

    def tagged_union_schema(self, schema: core_schema.TaggedUnionSchema) -> JsonSchemaValue:
        tags: dict[str, Any] = {}
        for value in schema["choices"]:
            if tags.setdefault(str(value), value) is not value:
                raise UnsupportedSchema(f"two values of the discriminator are {str(value)!r}", keyword="discriminator")
        found = super().tagged_union_schema(schema)
        tag = found.get("discriminator", {}).get("propertyName")
        # The tag is read before the option is known, and so before the default of the tag is.
        required = {"required": [tag]} if tag is not None else {}
        return {"anyOf": found["oneOf"], **required} if "oneOf" in found else {**found, **required}

    # Types that are refused.

    def _refused(self, schema: Any) -> JsonSchemaValue:
        hint = ": Annotated[str, constraints.url().expr] takes URLs as text" if schema["type"] == "url" else ""
        raise UnsupportedSchema(f"no automaton holds what Pydantic takes as {schema['type']!r}{hint}")

    complex_schema = _refused
    fraction_schema = _refused
    url_schema = _refused
    multi_host_url_schema = _refused
    json_schema = _refused
    is_subclass_schema = _refused
    generator_schema = _refused
    callable_schema = _refused
    custom_error_schema = _refused


def exact_schema(adapter: TypeAdapter[Any]) -> JsonSchemaValue:
    """Return the exact schema of a type.

    Raises:
        UnsupportedSchema: a part of the type cannot be expressed exactly.
    """
    try:
        found = adapter.json_schema(schema_generator=ExactSchema, union_format="any_of")
    except PydanticInvalidForJsonSchema as error:
        raise UnsupportedSchema(str(error).splitlines()[0]) from None
    check_validators(adapter.core_schema)
    return found


def _is_of_user(function: Any) -> bool:
    return isinstance(getattr(function, "__self__", None), WithJsonSchema)


def _string(pattern: str | Expr) -> JsonSchemaValue:
    return {"type": "string", "pattern": pattern if isinstance(pattern, Expr) else patterns.anchored(pattern)}


def _decimals(bounds: Bounds, *, finite: bool) -> str | Expr:
    """Return the texts of the Decimals within bounds."""
    if bounds == UNBOUNDED:
        return patterns.DECIMAL if finite else f"{patterns.DECIMAL}|{patterns.NOT_FINITE}"
    found = within(bounds, patterns.DECIMAL)
    return found | parse(patterns.ZERO, dialect="ecma") if bounds.hold(Fraction(0)) else found


def _days(schema: Any) -> str:
    """Return the pattern of the dates within bounds."""
    day = datetime.timedelta(days=1)
    low = max(schema.get("ge", datetime.date.min), schema.get("gt", datetime.date.min))
    high = min(schema.get("le", datetime.date.max), schema.get("lt", datetime.date.max))
    try:
        low, high = low + day * (low == schema.get("gt")), high - day * (high == schema.get("lt"))
        return str(to_expr(compile_expr(date(low, high).expr)))
    except (OverflowError, ValueError):
        given = ", ".join(f"{keyword}={schema[keyword]}" for keyword in ORDERS if schema.get(keyword) is not None)
        raise UnsatisfiableSchema(f"no date is within the bounds {given}") from None


def _zone_pattern(schema: Any) -> str:
    match schema.get("tz_constraint"):
        case None:
            return f"(?:{patterns.ZONE})?"
        case "aware":
            return patterns.ZONE
        case "naive":
            return ""
    raise UnsupportedSchema("one offset for all times", keyword="tz_constraint")


def _refuse_distinct(schema: Any, what: str) -> None:
    if (schema.get("min_length") or 0) > 1:
        raise UnsupportedSchema(
            f"{what} of at least {schema['min_length']}: equal items count once, and no automaton compares them",
            keyword="min_length",
        )
