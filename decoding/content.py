"""The content of a constraint as a key: two constraints that were made alike, one after the other, are one.

A server reads a schema anew for each request, so constraints are to be told apart by what they say and not by which
object they are. The fingerprint is that of a tree: numbers, texts and arrays by their bytes, nodes of expressions and
automata by their kind and their parts. What has a network of rules is what its network is. What is none of these, such
as a constraint of calls of Python functions, is known by itself: it is equal to what it says it is equal to.

Rejected: pickles (functions that read values back are part of constraints, and cannot always be pickled); the hash of
Python (64 bits are too few to trust an automaton to, and tables have none).
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import fields, is_dataclass

import numpy as np

from automata.byte_automaton import ByteAutomaton
from automata.expr import Expr
from automata.sparse import SparseAutomaton
from tokenfst.lazy import Layered


def content_of(constraint: object) -> Hashable:
    """What is equal for constraints of equal content: a fingerprint (SHA-256), or the constraint itself."""
    try:
        return _Fingerprints().of(constraint)
    except _Opaque:
        return constraint


class _Opaque(Exception):
    """A part whose content cannot be seen."""


class _Fingerprints:
    """Fingerprints of the parts of one constraint; parts that occur twice are looked at once."""

    def __init__(self) -> None:
        # By identity; the constraint holds the parts as long as this object is at work.
        self.known: dict[int, bytes] = {}

    def of(self, value: object) -> bytes:
        """The fingerprint of a value.

        Raises:
            _Opaque: it has none.
        """
        match value:
            case None | bool() | int() | str():
                return _hash(type(value).__name__, [repr(value).encode()])
            case bytes():
                return _hash("bytes", [value])
            case tuple() | list():
                return _hash("list", map(self.of, value))
            case Mapping():
                return _hash("mapping", (self.of(part) for item in value.items() for part in item))
            case np.ndarray():
                return _hash(f"{value.dtype.str}{value.shape}", [np.ascontiguousarray(value).data])
            case Expr():
                return self._of_expr(value)
            case _:
                return self._of_object(value)

    def _of_object(self, value: object) -> bytes:
        if id(value) not in self.known:
            if isinstance(value, Layered):
                parts: Iterable[object] = [value.to_network()]
            elif isinstance(value, SparseAutomaton):
                parts = value.__reduce__()[1]
            elif is_dataclass(value) and _is_ours(value):
                parts = [getattr(value, field.name) for field in fields(value)]
            else:
                raise _Opaque
            kind = "network" if isinstance(value, Layered) else type(value).__name__
            self.known[id(value)] = _hash(kind, map(self.of, parts))
        return self.known[id(value)]

    def _of_expr(self, root: Expr) -> bytes:
        """Innermost parts first, without recursion, so that no nesting is too deep."""
        stack = [root]
        while stack:
            node = stack[-1]
            missing = [part for part in node.operands() if id(part) not in self.known]
            if missing:
                stack += missing
            else:
                arguments = [getattr(node, name) for name in node.__match_args__]
                self.known[id(stack.pop())] = _hash(type(node).__name__, map(self._of_argument, arguments))
        return self.known[id(root)]

    def _of_argument(self, argument: object) -> bytes:
        """The fingerprint of an argument of a node, whose operands are known."""
        if isinstance(argument, Expr):
            return self.known[id(argument)]
        if isinstance(argument, tuple):
            return _hash("list", map(self._of_argument, argument))
        return self.of(argument)


def _is_ours(value: object) -> bool:
    """Whether a dataclass is one of automata and grammars, which are what their fields say."""
    return isinstance(value, ByteAutomaton) or type(value).__module__.startswith("automata.")


def _hash(kind: str, parts: Iterable[bytes | memoryview]) -> bytes:
    state = hashlib.sha256(kind.encode())
    for part in parts:
        state.update(len(part).to_bytes(8, "little") if isinstance(part, bytes) else part.nbytes.to_bytes(8, "little"))
        state.update(part)
    return state.digest()
