"""NotCopied: the base class of objects that cannot be copied, because they own threads, device memory or a model."""

from __future__ import annotations

from typing import ClassVar, NoReturn


class NotCopied:
    """An object that cannot be copied or pickled; the error says what to do instead."""

    _instead: ClassVar[str]

    def __reduce__(self) -> NoReturn:
        """Raise TypeError; `copy.copy`, `copy.deepcopy` and `pickle.dumps` all call this method."""
        raise TypeError(f"{type(self).__name__} objects cannot be copied or pickled: {self._instead}")
