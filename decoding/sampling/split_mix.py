"""The constants of SplitMix64 (Steele, Lea & Flood 2014, figure 17), as unsigned 64-bit numbers."""

from __future__ import annotations

from typing import Final

GAMMA: Final = 0x9E3779B97F4A7C15
FIRST: Final = 0xBF58476D1CE4E5B9
SECOND: Final = 0x94D049BB133111EB
