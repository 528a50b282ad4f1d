"""RememberingResolver: a resolver that keeps the results of another one.

For explanations, a schema is read again without some of its keywords. This needs only the documents of the first
reading, so a pickled copy has only these, and not the caller's function, which may not be picklable.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from constraints.json_schema.reading.document import Resolver


class RememberingResolver:
    """A resolver that asks another one at most once for each URI."""

    def __init__(self, resolver: Resolver | None, known: Mapping[str, Any] | None = None) -> None:
        """Make a resolver that asks `resolver` for schemas that are not in `known`; without it, it knows no others."""
        self._resolver, self._known = resolver, dict(known or {})

    def __call__(self, uri: str) -> Any:
        """Return the schema at a URI.

        Raises:
            LookupError: it is not known.
        """
        if uri not in self._known:
            if self._resolver is None:
                raise LookupError(uri)
            self._known[uri] = self._resolver(uri)
        return self._known[uri]

    def __reduce__(self) -> tuple[object, ...]:
        return RememberingResolver, (None, self._known)
