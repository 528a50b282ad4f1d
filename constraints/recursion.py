"""Recursion of any depth: functions that call themselves through a work stack instead of Python's call stack.

A schema may be nested thousands of levels deep, and so may its formulas. A function that recurses on them is written as
a generator: it yields a call to itself, gets that call's result, and returns its own result.

    def height(tree):
        highest = 0
        for child in tree:
            highest = max(highest, (yield height(child)))
        return 1 + highest

    run(height(tree))

A function may also yield a value that is not a generator: a result that is known without a call.
"""

from __future__ import annotations

from collections.abc import Generator
from types import GeneratorType
from typing import Any, TypeAlias, TypeVar

_T = TypeVar("_T")

# A call that has not run yet: it yields the calls whose results it needs, or their results.
Task: TypeAlias = Generator[Any, Any, _T]


def run(task: Task[_T]) -> _T:
    """Run a call, and the calls that it yields, on a work stack; return its result."""
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
        # After an error, close the unfinished calls, innermost first.
        while stack:
            stack.pop().close()
    found: _T = result
    return found
