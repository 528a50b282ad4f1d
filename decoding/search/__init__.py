"""Searches for the best texts among those that a constraint allows.

    beam_search(...)    the likeliest texts; with groups, likely and diverse texts      beams
    best_of_n(...)      the best of n sampled texts                                     samples
    Hypothesis          a complete text, its tokens and its score                       hypothesis
    Scorer              returns the model's logits after each text                      scorers
    Step                the likeliest allowed tokens of all rows, on the device         steps

All of them take any token automaton (`tokenfst.TokenAutomaton`), one for each prompt or one for all. Its states are
immutable, so each beam has its own, and a beam that splits shares it. Masks take the rest of `max_new_tokens` into
account, so every beam can be completed at every step, and every text that is returned is complete.

Scores are the model's own: the sum of its log-probabilities over the tokens of the text, not renormalized to the
allowed tokens. So texts are ranked by the model's distribution conditioned on the language, because conditioning only
divides all probabilities by the same number. Scores that are renormalized at each step would favour texts that the
constraint forces.
"""

from decoding.search.beams import beam_search
from decoding.search.hypothesis import Hypothesis
from decoding.search.samples import best_of_n
from decoding.search.scorers import FunctionScorer, ModelScorer, Scorer

__all__ = ["FunctionScorer", "Hypothesis", "ModelScorer", "Scorer", "beam_search", "best_of_n"]
