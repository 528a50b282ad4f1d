"""Memory: what has to be remembered of a text for arrays whose items must differ.

    Memory          the containers that are open, from the outermost such array on, and the scalar under way; a value
    memory.read     the memory after one more byte; None if an item ends that was there, or a name

A container has what is complete in it: the items of an array, or the members of an object. An array whose items must
differ also keeps its *rivals*: the earlier items to which the item under way may still become equal. They are all items
at the comma, and fewer with each byte; without any the item will differ, whatever follows. An object keeps the rivals
of the name under way, as no name comes twice: else what an item is would depend on who reads it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from tokenfst.unique_items.values import Text, Value, may_be, scalar_value

_QUOTE, _COMMA, _BACKSLASH = b'",\\'
_BLANKS, _OPENING, _CLOSING = frozenset(b" \t\n\r:"), frozenset(b"[{"), frozenset(b"]}")
_ENDS_SCALAR = frozenset(b" \t\n\r,]}")


class Container(NamedTuple):
    """An array or object under way.

    Attributes:
        is_object: whether it is an object.
        is_unique: whether its items must differ.
        parts: its items; or pairs of a name and a value.
        name: the name whose value comes next, in an object; else None.
        rivals: the items that the item under way may still become, if they must differ; the names that the name under
            way may become.
    """

    is_object: bool
    is_unique: bool
    parts: tuple[Value, ...] = ()
    name: str | None = None
    rivals: tuple[Value, ...] = ()

    def value(self) -> Value:
        """Return the value that is complete."""
        return ("object", frozenset(self.parts)) if self.is_object else ("array", self.parts)


Scalar: TypeAlias = Text | bytes | None


class Memory(NamedTuple):
    """What is remembered.

    Attributes:
        containers: those that are open, from the outermost array whose items must differ on.
        scalar: the string, number or word under way; None between these.
    """

    containers: tuple[Container, ...] = ()
    scalar: Scalar = None

    @property
    def has_rivals(self) -> bool:
        """Whether what is under way may still become what was there."""
        for container in self.containers:  # noqa: SIM110 - called for each byte
            if container.rivals:
                return True
        return False

    @property
    def is_in_text(self) -> bool:
        """Whether a string is under way, and no escape."""
        return isinstance(self.scalar, Text) and not self.scalar.rest

    def read_text(self, text: bytes) -> Memory:
        """Return the memory after more of a string that is under way, without quotes and backslashes."""
        assert isinstance(self.scalar, Text)
        return self._with(Text(self.scalar.done + text))

    def read(self, byte: int, *, is_unique: bool) -> Memory | None:
        """Return the memory after one more byte; None if an item or a name ends that was there.

        Args:
            byte: a byte with which the text may go on.
            is_unique: whether it is the `[` of an array whose items must differ.

        Raises:
            LimitExceeded: an exponent is too long to be remembered.
        """
        if not self.containers:
            return Memory((Container(False, True),)) if is_unique else self
        if isinstance(self.scalar, Text):
            if byte != _QUOTE or self.scalar.escapes:
                return self._with(self.scalar.more(byte))
            return self._ended(self.scalar.value())
        if isinstance(self.scalar, bytes):
            if byte not in _ENDS_SCALAR:
                return self._with(self.scalar + bytes([byte]))
            ended = self._ended(scalar_value(self.scalar))
            return ended and ended._mark(byte, is_unique)
        return self._mark(byte, is_unique)

    def _mark(self, byte: int, is_unique: bool) -> Memory | None:
        """Read a byte outside of scalars."""
        if byte in _BLANKS:
            return self
        if byte == _QUOTE:
            return self._with(Text())
        if byte in _OPENING:
            opened = Container(byte == b"{"[0], is_unique)
            return Memory((*self.containers, opened))._without_settled()
        if byte in _CLOSING:
            return Memory(self.containers[:-1])._ended(self.containers[-1].value())
        if byte == _COMMA:
            last = self.containers[-1]
            if last.is_object:
                last = last._replace(rivals=tuple([name for name, _ in last.parts]))
            elif last.is_unique:
                last = last._replace(rivals=last.parts)
            return Memory((*self.containers[:-1], last))
        return self._with(bytes([byte]))

    def _with(self, scalar: Scalar) -> Memory:
        return Memory(self.containers, scalar)._without_settled()

    def _ended(self, value: Value) -> Memory | None:
        """Return the memory after a value or name that is complete; None if it was there."""
        if not self.containers:
            return Memory()
        last = self.containers[-1]
        if last.is_object and last.name is None:
            return None if value in last.rivals else self._last(last._replace(name=value, rivals=()))
        if last.is_object:
            return self._last(last._replace(parts=(*last.parts, (last.name, value)), name=None))
        if last.is_unique and value in last.rivals:
            return None
        return self._last(last._replace(parts=(*last.parts, value), rivals=()))

    def _last(self, container: Container) -> Memory:
        return Memory((*self.containers[:-1], container))._without_settled()

    def _without_settled(self) -> Memory:
        """Return the memory without the rivals that what is under way cannot become."""
        if not self.has_rivals:
            return self
        kept, last = list(self.containers), len(self.containers) - 1
        for at, container in enumerate(kept):
            if container.rivals and (at < last or self.scalar is not None):
                rivals = [rival for rival in container.rivals if self._may_be(at + 1, rival)]
                if len(rivals) < len(container.rivals):
                    kept[at] = container._replace(rivals=tuple(rivals))
        return Memory(tuple(kept), self.scalar)

    def bytes_for_rivals(self) -> set[int] | None:
        """Return bytes such that after any other one nothing under way has rivals; None if that is not known, as it is
        only within a string."""
        text = self.scalar
        if not isinstance(text, Text) or text.rest:
            return None
        found = {_QUOTE, _BACKSLASH}
        for at, container in enumerate(self.containers):
            for rival in container.rivals:
                for value in self._scalars(at + 1, rival):
                    if isinstance(value, str):
                        found.update(text.next_byte(value))
        return found

    def _may_be(self, at: int, value: Value) -> bool:
        """Return whether what is under way, from a container on, may become a value."""
        if self.scalar is not None:
            return any(self._is_rival(scalar) for scalar in self._scalars(at, value))
        if at == len(self.containers):
            return False
        inside = self._inside(at, value)
        return inside is not None and _begins(self.containers[-1], inside, goes_on=False)

    def _inside(self, at: int, value: Value) -> Value | None:
        """Return what the last container has to become for what is under way, from a container on, to become a value;
        None if it cannot."""
        for container in self.containers[at:-1]:
            if not _begins(container, value):
                return None
            value = _members(value[1])[container.name] if container.is_object else value[1][len(container.parts)]
        return value

    def _scalars(self, at: int, value: Value) -> Iterable[Value]:
        """Return what the scalar under way has to become for what is under way, from a container on, to become a
        value."""
        if at == len(self.containers):
            return (value,)
        last, inside = self.containers[-1], self._inside(at, value)
        if inside is None or not _begins(last, inside):
            return ()
        if not last.is_object:
            return (inside[1][len(last.parts)],)
        members = _members(inside[1])
        return members.keys() - dict(last.parts) if last.name is None else (members[last.name],)

    def _is_rival(self, value: Value) -> bool:
        """Return whether the scalar under way may become a value."""
        if isinstance(self.scalar, Text):
            return isinstance(value, str) and self.scalar.may_be(value)
        return self.scalar is not None and not isinstance(value, str) and may_be(self.scalar, value)


def _begins(container: Container, value: Value, *, goes_on: bool = True) -> bool:
    """Return whether a value begins with what is complete in a container, and goes on if it must."""
    if isinstance(value, str) or value[0] != ("object" if container.is_object else "array"):
        return False
    if not container.is_object:
        here = len(container.parts)
        return bool(value[1][:here] == container.parts and (here < len(value[1]) or not goes_on))
    members = _members(value[1])
    if container.name is not None and container.name not in members:
        return False
    return all(members.get(name) == member for name, member in container.parts)


@lru_cache(4096)
def _members(members: frozenset[tuple[str | None, Value]]) -> Mapping[str | None, Value]:
    """Return the members of an object by name; earlier items are asked for each byte of another."""
    return dict(members)
