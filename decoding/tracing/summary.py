"""A compact view of a traced text: a table for a terminal, and HTML without scripts for a notebook.

The HTML shows the tokens of a text in a row. A dotted underline marks a forced token, a thick underline one at which
the model's likeliest token was forbidden; tooltips have the details. Text has the colour of the surrounding page, so it
is readable in light and dark notebooks.
"""

from __future__ import annotations

import html
from collections.abc import Iterable

from decoding.tracing.pictures import percent
from decoding.tracing.traced_text import TracedText, TraceStep

# The maximum number of steps that a summary lists below a text.
MAX_LISTED = 8
_HEAD = ("token", "before", "after", "allowed", "removed", "wanted")
_STYLE = """<style>
.tokenfst-trace { font-family: ui-monospace, Menlo, Consolas, monospace; line-height: 2; overflow-wrap: anywhere; }
.tokenfst-trace span { padding: .1em 0; margin-right: 1px; border-bottom: 3px solid transparent; }
.tokenfst-trace .forced { border-bottom: 3px dotted #8a8a8a; }
.tokenfst-trace .intervened { border-bottom: 3px solid #d55e00; }
.tokenfst-trace .prompt { opacity: .6; }
.tokenfst-trace p { font-family: system-ui, sans-serif; line-height: 1.4; margin: .4em 0; }
</style>"""


def table(text: TracedText) -> str:
    """Return a line for each token of a text: its probability before and after the mask, the number of allowed tokens,
    the probability of all others, and the token that the model wanted if it was forbidden."""
    rows = [_HEAD, *map(_row, text.steps)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
    return "\n".join(_aligned(row, widths) for row in rows)


def _row(step: TraceStep) -> tuple[str, ...]:
    before, after, removed = (percent(value) for value in (step.chosen.before, step.chosen.after, step.removed))
    wanted = step.wanted.name if step.intervened else ""
    return step.chosen.name, before, after, f"{step.num_allowed:,}", removed, wanted


def _aligned(row: tuple[str, ...], widths: list[int]) -> str:
    """Return a line: the first and the last cell from the left, numbers from the right."""
    first, *numbers, last = (
        cell.ljust(width) if column in (0, len(row) - 1) else cell.rjust(width)
        for column, (cell, width) in enumerate(zip(row, widths, strict=True))
    )
    return "  ".join([first, *numbers, last]).rstrip()


def html_summary(texts: Iterable[TracedText]) -> str:
    """Return texts as HTML for a notebook."""
    return _STYLE + "".join(f'<div class="tokenfst-trace">{_text(text)}</div>' for text in texts)


def _text(text: TracedText) -> str:
    prompt = f'<span class="prompt">{html.escape(text.prompt)}</span>'
    tokens = "".join(map(_token, text.steps))
    found = [step for step in text.steps if step.intervened][:MAX_LISTED]
    listed = "; ".join(
        f"<b>{html.escape(step.chosen.name)}</b>, not {html.escape(step.wanted.name)} ({percent(step.wanted.before)})"
        for step in found
    )
    more = f"; and {text.interventions - len(found)} more" if text.interventions > len(found) else ""
    sums = f"{len(text.steps)} tokens, {text.num_forced} forced (dotted), {text.interventions} against what the model "
    return f"{prompt}{tokens}<p>{sums}found likeliest (thick line){': ' if found else ''}{listed}{more}.</p>"


def _token(step: TraceStep) -> str:
    kind = "intervened" if step.intervened else "forced" if step.forced else ""
    tip = f"before {percent(step.chosen.before)}, after {percent(step.chosen.after)}; {step.num_allowed:,} allowed, "
    place = f"; in {step.pointer or 'the whole'}" if step.pointer is not None else ""
    tip += f"{percent(step.removed)} removed{place}"
    return f'<span class="{kind}" title="{html.escape(tip)}">{html.escape(step.chosen.name)}</span>'
