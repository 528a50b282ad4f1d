"""An explanation for notebooks: a headline and rows, for light and dark themes, and safe for colour-blind readers.

Text has the notebook's own colour. Allowed and refused differ by a sign and a word, and by blue and vermilion, which
people with any kind of colour blindness can tell apart (Okabe & Ito, "Color universal design", 2008).
"""

from __future__ import annotations

import html
from collections.abc import Sequence

_ALLOWED, _REFUSED = "#0072B2", "#D55E00"
_CODE = "font-family:monospace;white-space:pre-wrap;text-align:left;padding:2px 8px;vertical-align:top"
_LABEL = "text-align:left;padding:2px 8px;vertical-align:top;opacity:0.75;font-weight:normal"


def table(headline: str, allowed: bool, rows: Sequence[tuple[str, Sequence[str]]]) -> str:
    """Return the HTML of a headline and rows, each of a label and lines."""
    colour, sign = (_ALLOWED, "✓") if allowed else (_REFUSED, "✗")
    cells = "".join(
        f'<tr style="background:none"><th scope="row" style="{_LABEL}">{html.escape(label)}</th>'
        f'<td style="{_CODE}">{html.escape(chr(10).join(lines))}</td></tr>'
        for label, lines in rows
    )
    return (
        f'<div style="border-left:4px solid {colour};padding-left:8px;color:inherit">'
        f'<div><span aria-hidden="true" style="color:{colour};font-weight:bold">{sign}</span> {html.escape(headline)}'
        f'</div><table style="border-collapse:collapse;border:none;background:none;color:inherit">{cells}</table></div>'
    )
