"""Base classes of objects that are not copied.

Shared       copying returns the object itself, because it never changes, or because its users must share it
NotCopied    copying raises an error, because the object owns threads, device memory or a model
"""

from __future__ import annotations

from typing import ClassVar, NoReturn, Self


class Shared:
    """An object that `copy.copy` and `copy.deepcopy` return as it is."""

    __slots__ = ()

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self


class NotCopied:
    """An object that cannot be copied or pickled; the error says what to do instead."""

    _instead: ClassVar[str]

    def __reduce__(self) -> NoReturn:
        """Raise TypeError; `copy.copy`, `copy.deepcopy` and `pickle.dumps` all call this method."""
        raise TypeError(f"{type(self).__name__} objects cannot be copied or pickled: {self._instead}")
