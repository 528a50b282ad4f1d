"""NotCopied: the base class of objects that have no copies, because threads, a device or a model are behind them."""

from __future__ import annotations

from typing import ClassVar, NoReturn


class NotCopied:
    """An object that is neither copied nor pickled; the error says what to do in place of it."""

    _in_place: ClassVar[str]

    def __reduce__(self) -> NoReturn:
        """Raise TypeError; `copy.copy`, `copy.deepcopy` and `pickle.dumps` all call this method."""
        raise TypeError(f"{type(self).__name__} objects are neither copied nor pickled: {self._in_place}")
