"""Pointers: JSON pointers (RFC 6901), which references have as fragments, and places in a schema.

A place is where something stands: in the caller's schema a JSON pointer, elsewhere the URI, "#" and the pointer.
"""

from __future__ import annotations


def step(name: str) -> str:
    """A name as one reference token behind its slash (RFC 6901, section 3)."""
    if "~" in name or "/" in name:
        name = name.replace("~", "~0").replace("/", "~1")
    return "/" + name


def steps(pointer: str) -> list[str]:
    """The names of a pointer, which is "" or begins with "/" (RFC 6901, section 4)."""
    return [name.replace("~1", "/").replace("~0", "~") for name in pointer.split("/")[1:]]
