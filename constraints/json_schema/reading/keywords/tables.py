"""Tables and lists: the values of keywords that contain several schemas, by name or in order.

A handler checks the value of its own keyword. What a schema evaluates also depends on other keywords and schemas, which
may not have been read yet; so their values are checked beforehand (`check_nested`).
"""

from __future__ import annotations

from typing import Any, Final

from constraints.json_schema.formulas.connectives import Formula
from constraints.json_schema.reading.site import Handler, Site, wrong_name
from constraints.recursion import Task

_TABLES: Final = ("properties", "patternProperties", "dependentSchemas", "dependencies")
_LISTS: Final = ("allOf", "anyOf", "oneOf")


def table(site: Site, keyword: str, value: Any) -> dict[str, Any]:
    """Return the value of a keyword that must be an object.

    Raises:
        SchemaError: it is not one, or has names that are not strings.
    """
    if not isinstance(value, dict):
        raise site.wrong(keyword, "an object", value)
    if reason := wrong_name(value):
        raise site.error(keyword, reason)
    return value


def listed(site: Site, keyword: str, value: Any) -> list[Any]:
    """Return the value of a keyword that must be an array of schemas.

    Raises:
        SchemaError: it is not an array.
    """
    if not isinstance(value, list):
        raise site.wrong(keyword, "an array of schemas", value)
    return value


def check_nested(site: Site) -> None:
    """Check the tables and lists of a schema.

    Raises:
        SchemaError: a table is not an object with strings as names, or a list is not an array.
    """
    handlers = site.resource.dialect.handlers
    for keyword, value in site.schema.items():
        if keyword in _TABLES and keyword in handlers:
            table(site, keyword, value)
        elif keyword in _LISTS and keyword in handlers:
            listed(site, keyword, value)


def nested_first(handler: Handler) -> Handler:
    """Return a handler that checks the tables and lists of its schema before it reads its keyword."""

    def read(site: Site, value: Any) -> Formula | Task[Formula]:
        check_nested(site)
        return handler(site, value)

    return read
