"""What a cache of compiled constraints must know about each of them.

    content_of    the key: constraints with equal content have equal keys, even if they read their texts differently
    text_bytes    the memory of its texts, which an automaton keeps for explanations

A server reads a schema again for each request, so constraints are compared by their content. The key is the fingerprint
of a tree: numbers, texts and arrays by their bytes, nodes of expressions and automata by their kind and their parts. A
constraint with a grammar, visibly pushdown or general, has the key of its grammar and, if items of arrays must differ,
of these arrays. Any other constraint, such as calls of Python functions, is its own key and is compared by its own
equality.

Rejected: pickles (constraints contain functions that read values back, which cannot always be pickled); Python's hash
(64 bits are too few to rely on, and tables have no hash).
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from automata._native import Conditions
from automata.byte_automaton import ByteAutomaton
from automata.expressions import Expr
from automata.pushdown.grammar import Grammar
from tokenfst.lazy import SupportsLazy
from tokenfst.unique_items.language import SupportsUniqueItems

# The form of a value in a key; forms of different contents are written differently. A plain value is its own form, a
# tuple or a list has a tuple of forms, and anything else has a list of a kind and parts.
_Form: TypeAlias = Any
_PLAIN = frozenset({type(None), bool, int, str, bytes})
# The memory of an entry of a dict, with its name, and of an item of a list, in bytes.
_ENTRY_BYTES = 100
_ITEM_BYTES = 8


@runtime_checkable
class _HasGrammar(Protocol):
    """A constraint that is a grammar, such as one composed of grammars."""

    def to_grammar(self) -> Grammar: ...


def content_of(constraint: object) -> Hashable:
    """Return the key of a constraint: a fingerprint (SHA-256), or the constraint itself."""
    kind, content = "itself", constraint
    arrays = constraint.unique_arrays() if isinstance(constraint, SupportsUniqueItems) else None
    if arrays is not None:
        kind, content = "unique items", (arrays.grammar, tuple(sorted(arrays.rules)))
    elif isinstance(constraint, SupportsLazy):
        kind, content = "visibly pushdown grammar", constraint.to_visibly_pushdown()
    elif isinstance(constraint, _HasGrammar):
        kind, content = "grammar", constraint.to_grammar()
    try:
        return _digest([kind, _Forms().of(content)])
    except _Opaque:
        return constraint


def text_bytes(constraint: object) -> int:
    """Return about how many bytes the texts of a constraint take: its pattern, or its schemas with all descriptions."""
    size, seen, stack = 0, set[int](), [constraint]
    while stack:
        value = stack.pop()
        if isinstance(value, str | bytes):
            size += len(value)
        elif id(value) not in seen:
            seen.add(id(value))
            if isinstance(value, Mapping):
                size += _ENTRY_BYTES * len(value)
                stack += [*value.keys(), *value.values()]
            elif isinstance(value, list | tuple):
                size += _ITEM_BYTES * len(value)
                stack += value
            elif isinstance(value, partial):
                stack += [value.args, value.keywords]
            elif type(value).__module__.startswith("constraints.") and hasattr(value, "__dict__"):
                stack.append(vars(value))
    return size


class _Opaque(Exception):
    """Raised for a part that has no form, because its content cannot be read."""


class _Forms:
    """The forms of the parts of one constraint; a part that occurs twice is read once."""

    def __init__(self) -> None:
        # By identity; the constraint keeps the parts alive as long as this object is used.
        self.known: dict[int, _Form] = {}
        self.made: list[object] = []

    def of(self, value: object) -> _Form:
        """Return the form of a value.

        Raises:
            _Opaque: it has none.
        """
        if type(value) in _PLAIN:
            return value
        if isinstance(value, tuple | list):
            return tuple([self.of(part) for part in value])
        if id(value) not in self.known:
            if isinstance(value, Expr):
                self.add(value)
            else:
                self.known[id(value)] = self.of_object(value)
        return self.known[id(value)]

    def of_object(self, value: object) -> _Form:
        """Return the form of an array, a mapping, an automaton or a grammar."""
        if isinstance(value, np.ndarray):
            data = hashlib.sha256(np.ascontiguousarray(value).data).digest()
            return ["array", value.dtype.str, value.shape, data]
        if isinstance(value, Mapping):
            return ["mapping", self.of(list(value.items()))]
        if isinstance(value, ByteAutomaton):
            # Each access makes its arrays again, and forms are kept by identity.
            parts = [value.is_sparse, *value.__reduce__()[1]]
            self.made.append(parts)
            return ["ByteAutomaton", _digest(self.of(parts))]
        if isinstance(value, Conditions):
            state = value.__getstate__()
            self.made.append(state)
            return ["Conditions", _digest(self.of(state))]
        # Dataclasses of other packages may have content beyond their fields.
        if is_dataclass(value) and type(value).__module__.startswith("automata."):
            parts = [getattr(value, field.name) for field in fields(value)]
            return [type(value).__name__, _digest(self.of(parts))]
        raise _Opaque

    def add(self, root: Expr) -> None:
        """Find the form of an expression, innermost parts first; without recursion, no nesting is too deep."""
        stack = [root]
        while stack:
            node = stack[-1]
            missing = [part for part in node.operands() if id(part) not in self.known]
            if missing:
                stack += missing
                continue
            form: _Form = tuple([self.of(getattr(node, name)) for name in node.__match_args__])
            # A digest, because parts that are shared would otherwise be written out again and again.
            self.known[id(stack.pop())] = [type(node).__name__, _digest(form) if node.operands() else form]


def _digest(form: _Form) -> bytes:
    return hashlib.sha256(repr(form).encode()).digest()
