"""Conditions under which guarded arcs are open, as decision diagrams over the flags of a rule.

A condition is a number: `FALSE`, `TRUE`, or the number of a decision, which tests one flag and leads to one of two
conditions. Decisions are reduced and ordered by flag, so equal conditions have equal numbers. The condition that all of
n flags are set takes n decisions, and so does the condition that at least one is not set. The native core makes the
decisions (`native/automata/visibly_pushdown/flag_conditions.h`). Sets of flags are integers with a bit for each flag.
"""

from __future__ import annotations

from typing import Final

from automata._native import Conditions

__all__ = ["FALSE", "TRUE", "Conditions"]

FALSE: Final = 0
TRUE: Final = 1
