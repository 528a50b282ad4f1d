"""The orders that the members of a value's objects can be written in."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, permutations, product
from typing import Any, Final

MAX_ORDERS: Final = 200


def orders(value: Any) -> Iterator[Any]:
    """The value with the members of each object in it in every order, its own first; at most `MAX_ORDERS`."""
    return islice(_orders(value), MAX_ORDERS)


def has_few_orders(value: Any) -> bool:
    """Whether `orders` gives them all."""
    return len(list(islice(_orders(value), MAX_ORDERS + 1))) <= MAX_ORDERS


def _orders(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        yield from map(list, product(*(tuple(orders(item)) for item in value)))
    elif isinstance(value, dict):
        for names in permutations(value):
            for items in product(*(tuple(orders(value[name])) for name in names)):
                yield dict(zip(names, items, strict=True))
    else:
        yield value
