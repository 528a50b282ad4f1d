"""The explorer: a trace as one HTML file, with its script, its style and its data inside.

`explorer.js` has two parts: functions that compute what to show from data and a position, which need no browser and are
tested without one, and functions that show it on the page.

Rejected: a framework (the page would need a build, or a network); data in attributes of elements (a long text would
take seconds to open).
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any, Final

_MARKS: Final = {"/*STYLE*/": "explorer.css", "/*SCRIPT*/": "explorer.js"}


def page(data: dict[str, Any]) -> str:
    """Return the page of a trace.

    Args:
        data: `Trace.data()`.
    """
    shown = _part("explorer.html")
    for mark, name in _MARKS.items():
        shown = shown.replace(mark, _part(name))
    return shown.replace("/*DATA*/", _embedded(data))


def script() -> str:
    """Return the script of the page."""
    return _part("explorer.js")


def _part(name: str) -> str:
    return (files("decoding") / "tracing" / name).read_text("utf-8")


def _embedded(data: dict[str, Any]) -> str:
    """Return JSON for a script element: it has no `<`, which could end the element, and only ASCII characters."""
    return json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
