"""Explanations: what may come next in a text, and why a token is refused.

explain       explains a prefix and a token; `tokenfst.explain` and `TokenAutomaton.explain`
explainer     Explainer: the explanations of one constraint over one vocabulary
byte_view     a constraint byte by byte, to find the byte at which a token fails
nearest       the allowed tokens that are nearest to a refused one
explanation   Explanation: the result, which prints as text
reasons       what a constraint can say about a text: SupportsReasons, SupportsPlaces, SchemaPlace
following     the place of one text after each of its tokens, for traces
wording, place_rows, html    bytes and places in words, as text and for notebooks

The automata, which are exact, say what is allowed. The place of the text in the constraint is found only on request, by
reading the text through the constraint again (`automata.places`; for schemas, `constraints.json_schema.explaining`). So
explanations add nothing to the time of compilation and masks.
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
