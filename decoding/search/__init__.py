"""Searches for a text among those that a constraint allows.

    beam_search(...)    the likeliest texts; in groups, likely ones that differ         beams
    best_of_n(...)      the best of n texts that were sampled                           samples
    Hypothesis          a complete text, its tokens and its score                       hypothesis
    Scorer              what is searched: a model's next tokens, text by text           scorers

All take any automaton over tokens (`tokenfst.TokenAutomaton`), one for each prompt or one for all. Its states are
immutable, so each beam carries its own and a beam that splits shares it. Masks count what is left of
`max_new_tokens`, so every beam can be completed at every step, and every text that comes back is complete.

Scores are the model's own: the sum of its log-probabilities over the tokens of the text, not renormalized to those that
are allowed. So they rank texts as the model does given that the text is in the language, which only divides all of them
by the same number; step-wise renormalized scores would favor texts that the constraint forces.
"""

from decoding.search.beams import beam_search
from decoding.search.hypothesis import Hypothesis
from decoding.search.samples import best_of_n
from decoding.search.scorers import FunctionScorer, ModelScorer, Scorer

__all__ = ["FunctionScorer", "Hypothesis", "ModelScorer", "Scorer", "beam_search", "best_of_n"]
