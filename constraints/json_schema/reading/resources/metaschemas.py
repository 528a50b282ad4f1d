"""Metaschemas: the schemas of the drafts themselves, to which references may lead.

They are in the package `jsonschema-specifications`, which is loaded at the first such reference. Nothing is ever
fetched.
"""

from __future__ import annotations

from typing import Any


def metaschema(uri: str) -> Any:
    """Return the metaschema of a draft, or of one of its vocabularies, by its URI without a fragment.

    Raises:
        LookupError: the URI is not one of theirs.
    """
    if "//json-schema.org/" not in uri:
        raise LookupError(uri)
    from jsonschema_specifications import REGISTRY

    # The URIs of drafts up to 7 begin with "http"; schemas that write "https" mean the same drafts.
    return REGISTRY.contents(uri.replace("https:", "http:") if "/draft-0" in uri else uri)
