"""Conditions: when a guarded arc is open, as decision diagrams over the flags of a rule.

A condition is a number: `FALSE`, `TRUE`, or that of a decision, which asks for one flag and leads to one of two
conditions. Decisions are reduced and ordered by flag, so that equal conditions have equal numbers: that all of n flags
are set is n decisions, and so is that some are not. The core makes them
(`native/automata/visibly_pushdown/flag_conditions.h`); sets of flags are integers with a bit for each flag.
"""

from __future__ import annotations

from typing import Final

from automata._native import Conditions

__all__ = ["FALSE", "TRUE", "Conditions"]

FALSE: Final = 0
TRUE: Final = 1
