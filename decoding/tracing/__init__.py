"""Traces of texts while they are written: for each token the candidates before and after the mask, and the place.

    Recorder       a logits processor that records the steps             recorder
    places         the place of a text: stack, JSON pointer, notes       places
    traced_texts   recorded steps and written tokens -> texts            traced_texts
    TracedText     the steps of one text: candidates, mass, place        traced_text
    Trace          all texts of a call; displays itself                  trace
    pictures       candidates, and what the mask removed, as bars        pictures
    summary        a text as a table, and as a short piece of HTML       summary
    page           all texts as one HTML file to step through            page; explorer.html, .css, .js

`generate(..., trace=True)` makes a trace. The recorder replaces the masking processor and does not change any score, so
the same seed writes the same text with and without a trace. It keeps the few likeliest tokens of each step on the
device; the host reads them when the text is complete. Stacks, pointers and notes on the place are found afterwards, on
the host, from the text.

Without `trace=True`, none of this is imported, and the loop is unchanged.

Rejected: a separate loop for traces (its draws would differ from those of the text to be understood); keeping all
logits (a gigabyte for a long text); a page that fetches a library (it would be empty offline).
"""

from decoding.tracing.places import readers_of
from decoding.tracing.recorder import Recorder
from decoding.tracing.trace import Trace
from decoding.tracing.traced_text import Candidate, TracedText, TraceStep
from decoding.tracing.traced_texts import Written, traced_texts

__all__ = ["Candidate", "Recorder", "Trace", "TraceStep", "TracedText", "Written", "readers_of", "traced_texts"]
