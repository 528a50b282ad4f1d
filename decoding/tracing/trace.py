"""Trace: all texts of a call of `generate`, with their steps; displays itself as text, in notebooks, and as a page."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from decoding.tracing.page import page
from decoding.tracing.summary import html_summary, table
from decoding.tracing.traced_text import TracedText


@dataclass(frozen=True, repr=False)
class Trace:
    """The steps of texts while they were written; made by `generate(..., trace=True)`.

    Attributes:
        texts: the texts in the order in which `generate` returns them.
        vocabulary_size: the number of tokens of the vocabulary.
    """

    texts: tuple[TracedText, ...]
    vocabulary_size: int

    def __repr__(self) -> str:
        steps = sum(len(text.steps) for text in self.texts)
        return f"<Trace of {len(self.texts):,} texts, {steps:,} tokens>"

    def __str__(self) -> str:
        """Return a table for each text, with a line for each token."""
        return "\n\n".join(map(table, self.texts))

    def data(self) -> dict[str, Any]:
        """Return the whole trace as JSON data (`TracedText.data`)."""
        return {"vocabulary_size": self.vocabulary_size, "texts": [text.data() for text in self.texts]}

    def to_html(self, path: str | PathLike[str]) -> Path:
        """Write the trace as one HTML file to step through, and return its path.

        The file needs no network and no server. Keys: left and right for steps, Home and End, N and P for the next and
        the previous step at which the constraint intervened, up and down for texts.
        """
        path = Path(path)
        path.write_text(page(self.data()), "utf-8")
        return path

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the texts token by token, and where the constraint stepped in."""
        return html_summary(self.texts)
