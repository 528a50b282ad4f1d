"""Fewer forward passes: one verification, many proposers.

A proposer offers tokens after the text, as a chain or a tree; one forward pass of the model says how likely the next
token is after each of them; automaton states along the tree give all masks; and tokens are accepted by the rule of
speculative sampling, so that texts are distributed as plain constrained sampling writes them.

    Speculation             the option of `generate`                    options
    decode_speculatively    prompts, automata and proposers to texts    rounds
    ForcedTokens            tokens that are the only ones allowed       forced
    ForcedText              text that must come                         forced
    CountModel              what came next in this state so far         counts
    DraftModel              what a smaller model would write            draft
    Proposer, InTurn        what they have in common                    proposer
    Tree, tree_masks(...)   proposed tokens, their states and masks     tree
    Verification            draws, and which proposals they accept      verify
    Reader, CachedModel     models that read trees                      reader
"""

from decoding.speculation.counts import CountModel
from decoding.speculation.draft import DraftModel
from decoding.speculation.forced import ForcedText, ForcedTokens
from decoding.speculation.options import Speculation
from decoding.speculation.proposer import InTurn, Proposer
from decoding.speculation.reader import CachedModel, Reader, Reading
from decoding.speculation.rounds import Written, decode_speculatively
from decoding.speculation.statistics import Statistics
from decoding.speculation.tree import ROOT, Text, Tree, tree_masks
from decoding.speculation.verify import Verdict, Verification

__all__ = [
    "ROOT",
    "CachedModel",
    "CountModel",
    "DraftModel",
    "ForcedText",
    "ForcedTokens",
    "InTurn",
    "Proposer",
    "Reader",
    "Reading",
    "Speculation",
    "Statistics",
    "Text",
    "Tree",
    "Verdict",
    "Verification",
    "Written",
    "decode_speculatively",
    "tree_masks",
]
