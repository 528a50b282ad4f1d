"""Templates: uri-template is the rule `URI-Template` of RFC 6570, section 2, with the apostrophe (erratum 6937).

The operators that are reserved for later are part of the grammar, and of this language.
"""

from __future__ import annotations

from automata import expressions as ex
from automata.expressions import Expr
from automata.pattern import parse
from constraints.json_schema.strings.formats.uris import BEYOND_ASCII, PERCENT_ENCODED, PRIVATE


def uri_template() -> Expr:
    literals = ex.char_set(
        "!#$&'",
        *((0x28, 0x3B), (0x3D, 0x3D), (0x3F, 0x5B), (0x5D, 0x5D), (0x5F, 0x5F), (0x61, 0x7A), (0x7E, 0x7E)),
        *BEYOND_ASCII,
        *PRIVATE,
    )
    name = parse(r"(?:[A-Za-z0-9_]|%[0-9a-fA-F]{2})(?:\.?(?:[A-Za-z0-9_]|%[0-9a-fA-F]{2}))*")
    variable = name + parse(r"(?::[1-9][0-9]{0,3}|\*)?")
    expression = ex.concat("{", parse("[+#./;?&=,!@|]?"), variable, ("," + variable).star(), "}")
    return (literals | PERCENT_ENCODED | expression).star()
