"""Keywords about strings: `minLength`, `maxLength`, `pattern`, `format`.

Formats are assertions, in every draft. The specification leaves that to the reader (2020-12 Validation, section 7.2.2);
who asks a model for an e-mail address wants one. A format that no draft defines says nothing, and is noted.
`contentEncoding` and the other keywords of content are annotations, as 2020-12 Validation, section 8.1 has it.
"""

from __future__ import annotations

from typing import Any

from constraints.json_schema.formula import TRUE, Format, Formula, Pattern, TextLength
from constraints.json_schema.reading.counts import bounds
from constraints.json_schema.reading.site import Reading, Site
from constraints.json_schema.strings.formats import KNOWN_FORMATS

min_length, max_length = bounds(TextLength, "minLength", "maxLength")


def pattern(reading: Reading, site: Site, value: Any) -> Formula:
    if not isinstance(value, str):
        raise site.wrong("pattern", "a string", value)
    return Pattern(value)


def format_of(reading: Reading, site: Site, value: Any) -> Formula:
    if not isinstance(value, str):
        raise site.wrong("format", "a string", value)
    if value in KNOWN_FORMATS:
        return Format(value)
    reading.note(site, "format", f"no draft defines the format {value!r}")
    return TRUE
