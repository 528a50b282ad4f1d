"""ToolCall: a call that a model wrote, read from its text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that a model wrote.

    Attributes:
        name: the tool.
        arguments: by name; for a function, with the types of its parameters, so that `function(**arguments)` takes
            them, and otherwise as `json.loads` gives them.
    """

    name: str
    arguments: dict[str, Any]
