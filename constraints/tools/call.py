"""ToolCall: a call that a model wrote, read from its text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that a model wrote.

    Attributes:
        name: the name of the tool.
        arguments: the arguments by name. For a function, they have the types of its parameters, so that
            `function(**arguments)` takes them; otherwise they are as `json.loads` returns them.
    """

    name: str
    arguments: dict[str, Any]
