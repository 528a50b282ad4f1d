"""Explanations: what may come next in a text, and why a token may not.

explain       explains a prefix and a token; `tokenfst.explain` and `TokenAutomaton.explain`
byte_view     a constraint byte by byte, which tells where a token fails
nearest       the allowed tokens that are nearest to a refused one
explanation   Explanation: the answer, as a value that prints
reasons       what a constraint says about itself: SupportsReasons, SupportsPlaces, SchemaPlace
following     where one text stands after each of its tokens, for traces
wording, place_rows, html    bytes and places in words, as text and for notebooks

What is allowed is asked of the automata, which are exact. Where the text stands in the constraint is found when
somebody asks, by reading it through the constraint once more (`automata.places`; schemas by
`constraints.json_schema.explaining`): compiling and masks pay nothing for it.
"""

from tokenfst.explanation.explanation import Explanation, NamedToken
from tokenfst.explanation.reasons import PlaceFinder, Reasons, SchemaPlace, SupportsPlaces, SupportsReasons

__all__ = [
    "Explanation",
    "NamedToken",
    "PlaceFinder",
    "Reasons",
    "SchemaPlace",
    "SupportsPlaces",
    "SupportsReasons",
]
