"""Vocabularies: a custom `$schema`, whose metaschema lists the keywords.

The metaschema's `$vocabulary` lists vocabularies (2019-09 and 2020-12 Core, section 8.1.2); the keywords of those that
it leaves out are unknown. An unknown vocabulary that it requires makes the schema unreadable, as the specification
demands. A metaschema without `$vocabulary` changes nothing: its own `$schema` names the draft.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from constraints.json_schema.reading.dialects import dialect_of_uri
from constraints.json_schema.reading.document import Resolver
from constraints.json_schema.reading.site import SchemaDialect, shown


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_OWN: Final[Mapping[str, frozenset[str]]] = {
    "validation": _words(
        "type enum const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength "
        "pattern maxItems minItems uniqueItems maxContains minContains maxProperties minProperties required "
        "dependentRequired"
    ),
    "applicator": _words(
        "prefixItems items additionalItems contains additionalProperties properties patternProperties "
        "dependentSchemas propertyNames if allOf anyOf oneOf not"
    ),
    "unevaluated": _words("unevaluatedItems unevaluatedProperties"),
    "format": frozenset(["format"]),
    "format-annotation": frozenset(["format"]),
    "format-assertion": frozenset(["format"]),
    "core": frozenset(),
    "content": frozenset(),
    "meta-data": frozenset(),
}


class UnknownVocabulary(Exception):
    """A metaschema requires an unknown vocabulary; the message names it."""


def dialect_of(uri: str, default: SchemaDialect, resolver: Resolver | None) -> SchemaDialect | None:
    """Return the dialect that a `$schema` names: a draft's, or that of a metaschema that the resolver knows; None if it
    is unknown.

    Args:
        default: the dialect of a metaschema that names no draft.

    Raises:
        UnknownVocabulary: the metaschema requires a vocabulary that is unknown.
    """
    dialect = dialect_of_uri(uri)
    if dialect is None and resolver is not None:
        try:
            dialect = _dialect_of_metaschema(resolver(uri.removesuffix("#")), default)
        except LookupError:
            return None
    return dialect


def _dialect_of_metaschema(metaschema: Any, default: SchemaDialect) -> SchemaDialect:
    if not isinstance(metaschema, dict):
        return default
    declared = metaschema.get("$schema")
    dialect = (dialect_of_uri(declared) if isinstance(declared, str) else None) or default
    vocabularies = metaschema.get("$vocabulary")
    if not isinstance(vocabularies, dict) or dialect.reference_alone:
        return dialect
    kept: set[str] = set()
    for uri, required in vocabularies.items():
        prefix, _, name = uri.rpartition("/vocab/") if isinstance(uri, str) else ("", "", "")
        if prefix.startswith("https://json-schema.org/draft/20") and name in _OWN:
            kept |= _OWN[name]
            if name == "applicator" and dialect.draft == "draft2019-09":
                kept |= _OWN["unevaluated"]
        elif required:
            raise UnknownVocabulary(f"the metaschema requires the vocabulary {shown(uri)}, which is unknown")
    dropped = frozenset().union(*_OWN.values()) - kept
    return replace(dialect, handlers={k: v for k, v in dialect.handlers.items() if k not in dropped})
