"""In place of llguidance: `from in_place_of import llguidance`; `docs/from-llguidance.md` has the table.

tokenizer    LLTokenizer, TokenizerWrapper
hf           from_tokenizer: makes an LLTokenizer from a tokenizer of transformers
sources      grammars as text, and their constraints
matcher      LLMatcher, LLExecutor
numpy        masks as arrays
torch        masks as tensors
"""

from typing import NoReturn

from in_place_of.absent import missing
from in_place_of.llguidance.matcher import LLExecutor, LLMatcher
from in_place_of.llguidance.tokenizer import LLTokenizer, TokenizerWrapper

__all__ = ["LLExecutor", "LLMatcher", "LLTokenizer", "TokenizerWrapper"]

_FROM = "LLMatcher.grammar_from_regex, grammar_from_lark and grammar_from_json_schema make grammars"
_INSTEAD = {
    "GrammarFormat": _FROM,
    "JsonCompiler": _FROM,
    "LLInterpreter": "LLMatcher",
    "LLParserLimits": "tokenfst.compile takes automata.Limits",
    "LarkCompiler": _FROM,
    "RegexCompiler": _FROM,
    "StructTag": "constraints.triggered makes the constraint of free text with tags in it",
    "get_version": "tokenfst.__version__",
    "gbnf_to_lark": "constraints.grammar reads GBNF",
    "grammar_from": _FROM,
    "llamacpp": "serving.llama_cpp.LlamaProcessor",
    "mlx": "serving.mlx_lm.MLXProcessor",
    "regex_to_lark": "LLMatcher.grammar_from_regex",
    "tiktoken": "TokenizerWrapper takes any encoder; tokenfst.from_tiktoken reads its file",
}


def __getattr__(name: str) -> NoReturn:
    missing(__name__, _INSTEAD, name)
