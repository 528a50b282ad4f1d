"""Keywords about strings: `minLength`, `maxLength`, `pattern`, `format`.

Formats are assertions in every draft. The specification leaves that to the implementation (2020-12 Validation, section
7.2.2), and a caller who asks a model for an e-mail address wants one. A format that no draft defines says nothing, and
is noted. Where a schema is made in Python, `pattern` may be an expression, which describes the whole string.
`contentEncoding` and the other keywords of content are annotations (2020-12 Validation, section 8.1).
"""

from __future__ import annotations

import re
from typing import Any

from automata.errors import FST_MEANT
from automata.expressions import Expr
from automata.fst_type import is_fst
from constraints.json_schema.formulas.connectives import TRUE, Formula
from constraints.json_schema.formulas.statements import Format, Matches, Pattern, StringIn, TextLength
from constraints.json_schema.reading.keywords.counts import bounds
from constraints.json_schema.reading.site import Site
from constraints.json_schema.strings.content import expression_automaton
from constraints.json_schema.strings.formats import KNOWN_FORMATS

# Patterns that list their strings, such as `^(yes|no)$`; a list tells variants apart more easily than a pattern.
_TEXT = r"(?:[^\\^$.*+?()\[\]{}|\ud800-\udfff]|\\[\\^$.*+?()\[\]{}/])*"
_LISTED = re.compile(rf"\^(?:\((?:\?:)?(?P<several>{_TEXT}(?:\|{_TEXT})*)\)|(?P<one>{_TEXT}))\$")
_ESCAPED = re.compile(r"\\(.)")

min_length, max_length = bounds(TextLength, "minLength", "maxLength")


def pattern(site: Site, value: Any) -> Formula:
    if isinstance(value, Expr):
        if labels := expression_automaton(value).labels:
            reason = f"a string holds no tokens by name, and the expression has {', '.join(map(repr, labels))}"
            raise site.unsupported("pattern", reason)
        return Matches(value)
    if is_fst(value):
        raise site.error("pattern", f"the value must be a string, or an expression, not an FST: {FST_MEANT}")
    if not isinstance(value, str):
        raise site.wrong("pattern", "a string, or an expression", value)
    listed = _LISTED.fullmatch(value)
    if listed is None:
        return Pattern(value)
    texts = (listed["several"] or listed["one"] or "").split("|")
    return StringIn(frozenset(_ESCAPED.sub(r"\1", text) for text in texts))


def format_of(site: Site, value: Any) -> Formula:
    if not isinstance(value, str):
        raise site.wrong("format", "a string", value)
    if value in KNOWN_FORMATS:
        return Format(value)
    site.reading.note(site, "format", f"no draft defines the format {value!r}")
    return TRUE
