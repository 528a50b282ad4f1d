"""Pointers: JSON pointers (RFC 6901), which are the fragments of references, and places in a schema.

A place in the caller's schema is a JSON pointer; a place in another document is its URI, "#" and the pointer.
"""

from __future__ import annotations


def step(name: str) -> str:
    """Return a name as a slash and one reference token (RFC 6901, section 3)."""
    if "~" in name or "/" in name:
        name = name.replace("~", "~0").replace("/", "~1")
    return "/" + name


def steps(pointer: str) -> list[str]:
    """Return the names of a pointer, which is "" or begins with "/" (RFC 6901, section 4)."""
    return [name.replace("~1", "/").replace("~0", "~") for name in pointer.split("/")[1:]]
