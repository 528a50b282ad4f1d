"""ToolCall: a call that a model wrote, read from its text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that a model wrote; not hashable, because its arguments are not.

    Attributes:
        name: the name of the tool.
        arguments: the arguments by name. For a function, they have the types of its parameters, so that
            `function(**arguments)` takes them; otherwise they are as `json.loads` returns them.
    """

    name: str
    arguments: dict[str, Any]

    __hash__: ClassVar[None] = None  # type: ignore[assignment]  # as typeshed declares it for dict
