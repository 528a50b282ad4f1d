"""Levels: what stands between two brackets of a JSON text, as automata whose letters are values or members.

    Level             the states of one array or object as it is read, for one or more formulas at once
      ArrayLevel      one step is one item
      object_level    one step is one member
    Move              one step: the name of the member, and which values lead to which state

A level reads its items or members for a vector of formulas at once, no two of which any value satisfies together, and
tells at its end which one holds. A state is what is still asked, one formula for each of the vector: the derivatives of
Brzozowski ("Derivatives of Regular Expressions", 1964), taken not by characters but by items and members. The
derivative of a statement by one more item is a statement about what follows, combined with statements about that item
(`outcomes.Holds`); which of those are true decides the state that follows (`outcomes.outcomes`).
"""

from constraints.json_schema.levels.arrays import ArrayLevel
from constraints.json_schema.levels.level import Level, Move, Outcome
from constraints.json_schema.levels.objects import object_level

__all__ = ["ArrayLevel", "Level", "Move", "Outcome", "object_level"]
