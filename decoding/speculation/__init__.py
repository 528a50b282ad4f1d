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
    forced_tokens(...)      what must follow, without the model         jump_forward
    Statistics              how much has been proposed and accepted     statistics

Names are imported on first use, as in `decoding`: `jump_forward` needs no torch, and a server may run without it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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

_MODULES = {
    "ROOT": "decoding.speculation.tree",
    "CachedModel": "decoding.speculation.reader",
    "CountModel": "decoding.speculation.counts",
    "DraftModel": "decoding.speculation.draft",
    "ForcedText": "decoding.speculation.forced",
    "ForcedTokens": "decoding.speculation.forced",
    "InTurn": "decoding.speculation.proposer",
    "Proposer": "decoding.speculation.proposer",
    "Reader": "decoding.speculation.reader",
    "Reading": "decoding.speculation.reader",
    "Speculation": "decoding.speculation.options",
    "Statistics": "decoding.speculation.statistics",
    "Text": "decoding.speculation.tree",
    "Tree": "decoding.speculation.tree",
    "Verdict": "decoding.speculation.verify",
    "Verification": "decoding.speculation.verify",
    "Written": "decoding.speculation.rounds",
    "decode_speculatively": "decoding.speculation.rounds",
    "tree_masks": "decoding.speculation.tree",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return __all__
