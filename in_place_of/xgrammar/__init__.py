"""In place of XGrammar: `from in_place_of import xgrammar as xgr`; `docs/from-xgrammar.md` has the table.

tokenizer_info    TokenizerInfo, VocabType
grammar           Grammar: what is to be compiled
compiler          GrammarCompiler, CompiledGrammar
matcher           GrammarMatcher, BatchGrammarMatcher
bitmask           allocate_token_bitmask, apply_token_bitmask_inplace, ...
"""

from typing import NoReturn

from in_place_of.absent import missing
from in_place_of.xgrammar.bitmask import (
    allocate_token_bitmask,
    apply_token_bitmask_inplace,
    bitmask_dtype,
    get_bitmask_shape,
    reset_token_bitmask,
)
from in_place_of.xgrammar.compiler import CompiledGrammar, GrammarCompiler
from in_place_of.xgrammar.grammar import Grammar
from in_place_of.xgrammar.matcher import BatchGrammarMatcher, GrammarMatcher
from in_place_of.xgrammar.tokenizer_info import TokenizerInfo, VocabType

__all__ = [
    "BatchGrammarMatcher",
    "CompiledGrammar",
    "Grammar",
    "GrammarCompiler",
    "GrammarMatcher",
    "TokenizerInfo",
    "VocabType",
    "allocate_token_bitmask",
    "apply_token_bitmask_inplace",
    "bitmask_dtype",
    "get_bitmask_shape",
    "reset_token_bitmask",
]

_INSTEAD = {
    "StructuralTag": "give compile_structural_tag the tag as a dict or as JSON",
    "StructuralTagItem": "give compile_structural_tag the tag as a dict or as JSON",
    "contrib": "decoding.ConstraintLogitsProcessor is the logits processor for transformers",
    "get_model_structural_tag": "constraints.tool_calls makes the constraint of calls",
    "normalize_tool_choice": "constraints.tool_calls makes the constraint of calls",
    "structural_tag": "give compile_structural_tag the tag as a dict or as JSON",
    "testing": "tokenfst.TokenAutomaton.accepts says whether a text is in the language",
}


def __getattr__(name: str) -> NoReturn:
    missing(__name__, _INSTEAD, name)
