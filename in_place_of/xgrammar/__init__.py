"""In place of XGrammar: `from in_place_of import xgrammar as xgr`; `docs/from-xgrammar.md` has the table.

tokenizer_info    TokenizerInfo, VocabType
grammar           Grammar: a constraint to compile
compiler          GrammarCompiler, CompiledGrammar
matcher           GrammarMatcher, BatchGrammarMatcher
bitmask           allocate_token_bitmask, apply_token_bitmask_inplace, ...
contrib.hf        LogitsProcessor
"""

from typing import NoReturn

from in_place_of.absent import missing
from in_place_of.xgrammar import contrib
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
    "contrib",
    "get_bitmask_shape",
    "reset_token_bitmask",
]

_ERRORS = "mistakes raise the errors of automata.errors, whose messages name the place"
_DEPTH = "nothing is set: what is nested too deeply to be read is an error"
_INSTEAD = {
    "DeserializeFormatError": _ERRORS,
    "DeserializeVersionError": _ERRORS,
    "InvalidJSONError": _ERRORS,
    "InvalidStructuralTagError": _ERRORS,
    "StructuralTag": "give compile_structural_tag the tag as a dict or as JSON",
    "StructuralTagItem": "give compile_structural_tag the tag as a dict or as JSON",
    "builtin_structural_tag": "constraints.tool_calls makes the constraint of calls",
    "exception": _ERRORS,
    "get_builtin_structural_tag": "constraints.tool_calls makes the constraint of calls",
    "get_max_recursion_depth": _DEPTH,
    "get_model_structural_tag": "constraints.tool_calls makes the constraint of calls",
    "get_serialization_version": "`automaton.save(path)` writes a file, which tokenfst.load_automaton reads",
    "max_recursion_depth": _DEPTH,
    "normalize_tool_choice": "constraints.tool_calls makes the constraint of calls",
    "register_model_structural_tag": "constraints.tool_calls makes the constraint of calls",
    "set_max_recursion_depth": _DEPTH,
    "structural_tag": "give compile_structural_tag the tag as a dict or as JSON",
    "testing": "tokenfst.TokenAutomaton.accepts says whether a text is in the language",
}


def __getattr__(name: str) -> NoReturn:
    missing(__name__, _INSTEAD, name)
