"""Python types as constraints, and reading a model's text as their values (Koo, Liu & He 2024, section 5.2).

dataclass(T)    constructor calls, `T(x=1, name="a")`
typed(T)        JSON, using Pydantic's schema of the type

    shapes          what a type says about texts
    reflection      types -> shapes             metadata: what `Annotated` adds; parameters: those of constructors
                    generics: what type variables stand for
    calls           shapes -> expressions       literals: strings; moments: `datetime`, UUID, Decimal; rounding: floats
                    acceptors: numbers within bounds
    evaluation      texts -> values, by shape
    constructor     `dataclass`

    rust            patterns of Pydantic's engine       hashing: which values can be in sets
    mistakes        hints for what is not a type

    generation      types -> exact JSON Schemas         patterns: strings of dates, numbers, ...; bounds: of numbers
    members         values of Literal and Enum
    validators      checks of Pydantic that no schema expresses
    plain           schemas -> formulas, with plain integers
    typed           `typed`
"""

from constraints.types.constructor import ConstructorCalls, dataclass
from constraints.types.typed import Typed, typed

__all__ = ["ConstructorCalls", "Typed", "dataclass", "typed"]
