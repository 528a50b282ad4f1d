"""What writing texts took."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Statistics:
    """What writing took, summed over all texts.

    Attributes:
        tokens: tokens written, end tokens included; plain writing takes as many forward passes, text by text.
        forwards: forward passes of the model; each serves all texts that are still being written.
        draft_forwards: forward passes of proposers' models.
        rounds: forward passes of the model, counted for each text separately.
        certain: tokens written without being verified.
        proposed: tokens proposed for verification.
        accepted: proposed tokens that were accepted.
        masks: masks made.
        seconds: wall-clock time.
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
