"""Arguments for the bindings of the native core: what they take, and what nobody should give them.

    corrupted(arguments)    the same, some of them changed: a number, the size, the type or the layout of an array
    attempt(function, ...)  calls a function with them; only errors that bindings may raise are passed over

Tests with these import numpy, Hypothesis and the core alone, so that they run under sanitizers, and on Pythons that the
rest does not run on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
from hypothesis import strategies as st

from automata._native import Budget
from automata.errors import EmptyLanguage, LimitExceeded

T = TypeVar("T")
Arguments = Mapping[str, Any]

# Numbers near those that arrays hold, and near the ends of what 32 bits hold.
NUMBERS = (-(2**31), -257, -3, -2, -1, 0, 1, 2, 3, 4, 7, 255, 256, 257, 1000, 2**30, 2**31 - 2, 2**31 - 1)
# In place of a value of any kind.
OTHERS: Any = (None, "", b"ab", 1.5, -1, 2**40, [], [1, 2], np.zeros(3, np.float64), np.zeros((2, 2, 2), np.int32))


def budget(megabytes: int = 64, seconds: float = 5.0) -> Budget:
    """What one call may take."""
    return Budget(megabytes << 20, seconds)


def attempt(function: Callable[..., T], **arguments: Any) -> T | None:
    """What a call returns, None where it is refused."""
    try:
        return function(**arguments)
    except (TypeError, ValueError, LimitExceeded, EmptyLanguage):
        return None


def ints(values: object, *shape: int) -> np.ndarray:
    """An int32 array, of some shape if it is given."""
    array = np.array(values, np.int32)
    return array.reshape(shape) if shape else array


@st.composite
def corrupted(draw: st.DrawFn, arguments: Arguments) -> dict[str, Any]:
    """Some arguments, most of them as they are."""
    result = dict(arguments)
    names = [name for name, value in arguments.items() if isinstance(value, np.ndarray | int | bool | bytes)]
    for name in draw(st.lists(st.sampled_from(names), max_size=2)):
        result[name] = draw(_changed(result[name]))
    return result


@st.composite
def _changed(draw: st.DrawFn, value: Any) -> Any:
    if draw(st.integers(0, 19)) == 0:
        return draw(st.sampled_from(OTHERS))
    if isinstance(value, np.ndarray):
        return draw(_array(value))
    return draw(st.sampled_from(NUMBERS)) if isinstance(value, int) else draw(st.binary(max_size=8))


@st.composite
def _array(draw: st.DrawFn, array: np.ndarray) -> np.ndarray:
    """An array that is another one in one way."""
    way = draw(st.sampled_from(["number", "number", "number", "shorter", "longer", "type", "layout", "shape"]))
    if way == "number" and array.size:
        changed = np.ascontiguousarray(array).copy()
        place = draw(st.integers(0, changed.size - 1))
        number = draw(st.sampled_from(NUMBERS)) if array.dtype != np.bool_ else draw(st.booleans())
        changed.reshape(-1)[place] = np.array(number).astype(array.dtype)
        return changed
    if way == "shorter" and len(array):
        return array[: draw(st.integers(0, len(array) - 1))].copy()
    if way == "longer":
        return np.concatenate([array, array[:1], np.zeros((1, *array.shape[1:]), array.dtype)])
    if way == "type":
        return array.astype(draw(st.sampled_from([np.int64, np.uint32, np.int16, np.float32, np.bool_, np.uint8])))
    if way == "layout":
        return np.repeat(array, 2, axis=-1)[..., ::2] if array.ndim == 1 else np.asfortranarray(array)
    return array.reshape(-1) if array.ndim > 1 else array[:, None]
