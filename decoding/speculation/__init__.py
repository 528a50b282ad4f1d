"""Speculative decoding: fewer forward passes, by one verification with many proposers.

A proposer proposes tokens after the text, as a chain or a tree. One forward pass of the model computes the probability
of the next token after each of them, and the automaton's states along the tree give all masks. Tokens are accepted by
the rule of speculative sampling, so texts have the same distribution as with plain constrained sampling.

    Speculation             the option of `generate`                    options
    decode_speculatively    prompts, automata and proposers to texts    rounds
    ForcedTokens            proposes tokens if nothing else is allowed  forced
    ForcedText              proposes text that must follow              forced
    CountModel              proposes what followed this state so far    counts
    DraftModel              proposes what a smaller model would write   draft
    Proposer, InTurn        the protocol; several proposers in turn     proposer
    Tree, tree_masks(...)   proposed tokens, their states and masks     tree
    Verification            draws, and which proposals they accept      verify
    Reader, CachedModel     models that read trees                      reader (cache_slots: in a cache)
    Statistics              how much has been proposed and accepted     statistics
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
