"""Keywords about strings: `minLength`, `maxLength`, `pattern`, `format`.

Formats are assertions in every draft. The specification leaves that to the implementation (2020-12 Validation, section
7.2.2), and a caller who asks a model for an e-mail address wants one. A format that no draft defines says nothing, and
is noted. `contentEncoding` and the other keywords of content are annotations (2020-12 Validation, section 8.1).
"""

from __future__ import annotations

from typing import Any

from constraints.json_schema.formulas.connectives import TRUE, Formula
from constraints.json_schema.formulas.statements import Format, Pattern, TextLength
from constraints.json_schema.reading.keywords.counts import bounds
from constraints.json_schema.reading.site import Site
from constraints.json_schema.strings.formats import KNOWN_FORMATS

min_length, max_length = bounds(TextLength, "minLength", "maxLength")


def pattern(site: Site, value: Any) -> Formula:
    if not isinstance(value, str):
        raise site.wrong("pattern", "a string", value)
    return Pattern(value)


def format_of(site: Site, value: Any) -> Formula:
    if not isinstance(value, str):
        raise site.wrong("format", "a string", value)
    if value in KNOWN_FORMATS:
        return Format(value)
    site.reading.note(site, "format", f"no draft defines the format {value!r}")
    return TRUE
