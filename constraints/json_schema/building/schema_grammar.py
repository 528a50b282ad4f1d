"""schema_grammar: the visibly pushdown grammar of a schema that has been read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from automata.errors import LimitExceeded, UnsatisfiableSchema, UnsupportedSchema
from automata.visibly_pushdown import VisiblyPushdownGrammar
from constraints.json_schema.building.builder import NOTHING_KNOWN, Earlier, SchemaGrammarBuilder
from constraints.json_schema.building.layout import Layout
from constraints.json_schema.building.tagged import MemberKinds, TaggedBuilder
from constraints.json_schema.containers.allowance import CombinationsError
from constraints.json_schema.containers.objects import PropertyOrder
from constraints.json_schema.explaining.conflicts import conflict
from constraints.json_schema.explaining.limits import too_large
from constraints.json_schema.formulas.connectives import Formula
from constraints.json_schema.formulas.restriction import Restriction
from constraints.json_schema.formulas.statements import Kind, UniqueItems
from constraints.rewriting.liveness import has_text
from tokenfst.unique_items.language import UniqueArrays


class SchemaGrammar(NamedTuple):
    """What a schema says about its texts.

    Attributes:
        rules: the visibly pushdown grammar.
        kinds: the kind of what each rule reads between two brackets or quotes; None for the whole text.
        unique: by rule, the statement that all items of its array differ, where the grammar cannot say so.
        member_kinds: with tags, the kinds of values that may stand under each name (`TaggedMembers.kinds`).
    """

    rules: VisiblyPushdownGrammar
    kinds: tuple[Kind | None, ...]
    unique: dict[int, UniqueItems]
    member_kinds: MemberKinds

    def alone(self) -> VisiblyPushdownGrammar:
        """Return the grammar, if it says all that the schema says.

        Raises:
            UnsupportedSchema: items have to be remembered.
        """
        if self.unique:
            pointer = min(unique.pointer for unique in self.unique.values())
            raise UnsupportedSchema("needs memory of all items", pointer=pointer, keyword="uniqueItems")
        return self.rules

    def unique_arrays(self) -> UniqueArrays | None:
        """Return the grammar with the arrays whose items have to be remembered; None if there are none."""
        if not self.unique:
            return None
        arrays = {number for number, kind in enumerate(self.kinds) if kind is Kind.ARRAY}
        others = arrays - self.unique.keys() if self.rules.has_nondeterministic_calls else ()
        return UniqueArrays(self.rules, frozenset(self.unique), frozenset(others))


def schema_grammar(layout: Layout) -> SchemaGrammar:
    """Build the visibly pushdown grammar of a schema.

    Raises:
        UnsatisfiableSchema: the schema has no text; the message names the conflict.
        UnsupportedSchema: a statement cannot be expressed exactly, or one keyword makes the grammar too large.
        LimitExceeded: all of the schema together is too large.
        SchemaError: a reference leads back to itself.
    """
    document, order, tags = layout.document, layout.order, layout.tags
    restriction = Restriction(document.definitions)

    def make(earlier: Earlier) -> SchemaGrammarBuilder:
        if tags is None:
            return SchemaGrammarBuilder(restriction, layout, earlier)
        return TaggedBuilder(restriction, layout, tags, earlier)

    attempts = _Attempts(make, document.root, order)
    try:
        grammar = attempts.grammar()
    except LimitExceeded as error:
        text, value = attempts.builder.plans.text_at_hand, attempts.builder.value_at_hand
        is_in_any_order = order == "any" and error.limit != "seconds"
        raise too_large(error, document, text, value, is_in_any_order=is_in_any_order) from None
    builder = attempts.builder

    def is_empty(formula: Formula) -> bool:
        earlier = Earlier(may_have_flags=False, took_too_much=attempts.earlier.took_too_much)
        return not has_text(make(earlier).grammar(formula))

    if (tags is not None or not builder.values.has_value(document.root)) and not has_text(grammar):
        reason, pointer = conflict(document, is_empty)
        raise UnsatisfiableSchema(reason, pointer=pointer)
    kinds = (None, *(kind for kind, _ in builder.keys))
    member_kinds = builder.kinds if isinstance(builder, TaggedBuilder) else {}
    return SchemaGrammar(grammar, kinds, builder.unique, member_kinds)


class _Attempts:
    """The grammar of a schema, which is built again if the first attempt shows that it has to be built otherwise.

    Attributes:
        builder: the builder of the last attempt.
        earlier: what the attempts before it have shown.
    """

    def __init__(self, make: Callable[[Earlier], SchemaGrammarBuilder], root: Formula, order: PropertyOrder) -> None:
        self._make, self._root, self._order, self.earlier = make, root, order, NOTHING_KNOWN
        self.builder = make(self.earlier)

    def grammar(self) -> VisiblyPushdownGrammar:
        """Build the grammar, without ways to end that no text takes; errors are those of `schema_grammar`."""
        try:
            return self._grammar()
        except LimitExceeded as error:
            if self._order != "any-if-cheap" or error.limit == "seconds":
                raise
        self.earlier = Earlier(took_too_much=True)
        self.builder = self._make(self.earlier)
        return self._grammar()

    def _grammar(self) -> VisiblyPushdownGrammar:
        try:
            grammar = self.builder.grammar(self._root)
        except CombinationsError:
            grammar = self._again(had_too_many_combinations=True)
        empty = self.builder.values.empty_values()
        if empty:
            grammar = self._again(empty=empty)
            empty = self.builder.values.empty_values()
        if empty is None or empty:
            grammar = self._again(empty=frozenset(), may_have_flags=False)
        for number, dead in self.builder.values.dead_exits():
            rule = grammar.rules[number]
            rule.ends = [(state, way) for state, way in rule.ends if way != dead]
        return grammar

    def _again(self, **shown: Any) -> VisiblyPushdownGrammar:
        """Build the grammar again, with what the last attempt has shown: fields of `Earlier`."""
        self.earlier = self.earlier._replace(expansion=self.builder.expansion, **shown)
        self.builder = self._make(self.earlier)
        return self.builder.grammar(self._root)
