"""Grammar: a constraint to compile."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from automata.errors import NotOffered
from constraints import Whitespace, grammar, json_schema
from in_place_of.absent import Absent
from in_place_of.schemas import closed, json_of, schema_of, separated
from serving.json_texts import blanks_like, blanks_up_to
from serving.specifications import constraint_of
from tokenfst.compile import Constraint

_BLANKS = r"[ \n\r\t]*"


class Grammar:
    """A language, from any of XGrammar's sources.

    Attributes:
        constraint: the constraint, for `tokenfst.compile`.
        source: the source of the constraint; equal sources are compiled once.
    """

    concat = Absent("constraints.sequence(first, second) is one after the other")
    union = Absent("`first | second` of expressions, or of constraints.sequence(first), is either")
    serialize_json = Absent("keep its source")
    deserialize_json = Absent("keep its source")

    def __init__(self, constraint: Constraint, source: tuple[str, ...]) -> None:
        self.constraint, self.source = constraint, source

    def __str__(self) -> str:
        return ": ".join(self.source)

    @classmethod
    def from_ebnf(cls, ebnf_string: str, *, root_rule_name: str = "root") -> Grammar:
        """Return the grammar of rules in XGrammar's EBNF.

        Raises:
            GrammarError: the text has a mistake, or cannot be honoured.
        """
        found = grammar(ebnf_string, syntax="ebnf", start=root_rule_name)
        return cls(found, ("ebnf", root_rule_name, ebnf_string))

    @classmethod
    def from_lark(cls, lark_string: str) -> Grammar:
        """Return the grammar of rules in Lark's syntax, whose start rule is `start`.

        Raises:
            GrammarError: the text has a mistake, or cannot be honoured.
        """
        return cls(grammar(lark_string, syntax="lark"), ("lark", lark_string))

    @classmethod
    def from_regex(cls, regex_string: str, *, print_converted_ebnf: bool = False) -> Grammar:
        """Return the grammar of a pattern, which must match whole texts. `print_converted_ebnf` has no effect."""
        return cls(regex_string, ("regex", regex_string))

    @classmethod
    def from_json_schema(
        cls,
        schema: Any,
        *,
        any_whitespace: bool = True,
        indent: int | None = None,
        separators: tuple[str, str] | None = None,
        strict_mode: bool = True,
        max_whitespace_cnt: int | None = None,
        any_order: bool = False,
        print_converted_ebnf: bool = False,
    ) -> Grammar:
        """Return the grammar of a JSON Schema.

        Args:
            schema: a JSON Schema as text or as a dict, or a Pydantic model.
            any_whitespace: whether any amount of whitespace is allowed wherever JSON allows it.
            indent: must be None.
            separators: how a comma and a colon are written without `any_whitespace`; None for `", "` and `": "`.
                Ignored with `any_whitespace`.
            strict_mode: whether objects have only the listed properties (`in_place_of.schemas.closed`).
            max_whitespace_cnt: the maximum amount of whitespace at one place, at least 0; None for any amount. Ignored
                without `any_whitespace`.
            any_order: must be False.
            print_converted_ebnf: has no effect.

        Raises:
            NotOffered: `indent` or `any_order` has another value.
            SchemaError: the schema cannot be honoured; its subclasses say why.
            ValueError: another argument has a wrong value; the message names it.
        """
        if indent is not None:
            raise NotOffered("indent", "constraints.json_schema(schema) takes texts with and without indentation")
        if any_order:
            raise NotOffered("any_order", 'constraints.json_schema(schema, property_order="any") keeps required ones')
        blanks = _white_space(any_whitespace, separators, max_whitespace_cnt)
        read = schema_of(schema)
        options = (any_whitespace, separators, strict_mode, max_whitespace_cnt)
        found = json_schema(closed(read) if strict_mode else read, whitespace=blanks)
        return cls(found, ("json_schema", json.dumps(read), repr(options)))

    @classmethod
    def builtin_json_grammar(cls) -> Grammar:
        """Return the grammar of any JSON object or array."""
        return cls.from_json_schema({"type": ["object", "array"]})

    @classmethod
    def from_structural_tag(cls, structural_tag: Any) -> Grammar:
        """Return the grammar of a structural tag; objects in it have only the listed properties.

        Args:
            structural_tag: the tag as JSON or as a dict, or XGrammar's own `StructuralTag`.

        Raises:
            ValueError: the tag cannot be honoured; the message says where and why.
        """
        if hasattr(structural_tag, "model_dump"):
            structural_tag = structural_tag.model_dump()
        tag = json_of(structural_tag) if isinstance(structural_tag, str) else structural_tag
        text = json.dumps(_with_closed_schemas(tag))
        return cls(constraint_of("structural_tag", text, blanks=blanks_like(_BLANKS)), ("structural_tag", text))


def _with_closed_schemas(tag: Any) -> Any:
    """Return a structural tag in which the schemas are closed."""
    if isinstance(tag, list):
        return [_with_closed_schemas(part) for part in tag]
    if not isinstance(tag, Mapping):
        return tag
    return {
        name: closed(part) if name in ("json_schema", "schema") else _with_closed_schemas(part)
        for name, part in tag.items()
    }


def _white_space(everywhere: bool, separators: tuple[str, str] | None, most: int | None) -> Whitespace:
    if not everywhere:
        return _separated((", ", ": ") if separators is None else separators)
    if most is None:
        return blanks_like(_BLANKS)
    if not isinstance(most, int) or isinstance(most, bool) or most < 0:
        raise ValueError(f"max_whitespace_cnt is a number from 0, or None, not {most!r}")
    return blanks_up_to(most)


def _separated(separators: Sequence[str]) -> Whitespace:
    is_pair = isinstance(separators, tuple | list) and len(separators) == 2
    if not is_pair or not all(isinstance(each, str) for each in separators):
        raise ValueError(f'separators are two texts, such as (", ", ": "), or None, not {separators!r}')
    return separated(*separators)
