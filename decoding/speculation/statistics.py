"""Statistics of speculative decoding."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Statistics:
    """Counts and times, summed over all texts.

    Attributes:
        tokens: the tokens written, including end tokens; plain decoding takes this many forward passes, text by text.
        forwards: the forward passes of the model; each serves all texts that are still being written.
        draft_forwards: the forward passes of proposers' models.
        rounds: the forward passes of the model, counted for each text separately.
        certain: the tokens written without verification.
        proposed: the tokens proposed for verification.
        accepted: the proposed tokens that were accepted.
        masks: the masks made.
        seconds: the wall-clock time, in seconds.
    """

    tokens: int = 0
    forwards: int = 0
    draft_forwards: int = 0
    rounds: int = 0
    certain: int = 0
    proposed: int = 0
    accepted: int = 0
    masks: int = 0
    seconds: float = 0.0
