"""Recursion of any depth: functions that call themselves through a work stack instead of Python's call stack.

A schema may be nested thousands of levels deep, and so may its formulas. A function that recurses on them is written as
a generator: it yields a call to itself, gets that call's result, and returns its own result.

    def height(tree):
        highest = 0
        for child in tree:
            highest = max(highest, (yield height(child)))
        return 1 + highest

    run(height(tree))

What is yielded may also be the result of a call that needed no others.
"""

from __future__ import annotations

from collections.abc import Generator
from types import GeneratorType
from typing import Any, TypeAlias, TypeVar

_T = TypeVar("_T")

# A call that has not run yet: it yields the calls whose results it needs, or their results.
Task: TypeAlias = Generator[Any, Any, _T]


def run(task: Task[_T]) -> _T:
    """Return the result of a call, with the calls that it yields on a work stack."""
    stack: list[Task[Any]] = [task]
    result: Any = None
    try:
        while stack:
            try:
                called = stack[-1].send(result)
            except StopIteration as stop:
                stack.pop()
                result = stop.value
            else:
                if isinstance(called, GeneratorType):
                    stack.append(called)
                    result = None
                else:
                    result = called
    finally:
        # After an error, calls that are under way leave in order.
        while stack:
            stack.pop().close()
    found: _T = result
    return found
