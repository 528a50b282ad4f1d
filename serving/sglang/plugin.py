"""SGLang's plugin: registers the backend for `--grammar-backend tokenfst`.

SGLang loads plugins (entry points `sglang.srt.plugins`) in the launcher and in each of its processes, before it reads
arguments. It has a registry of grammar backends, so nothing in SGLang is replaced, and nothing changes if another
backend is chosen. The name is registered only after checking that the classes and functions on which the backend builds
are as expected. If the plugin raises an error, SGLang logs it and continues without the name.
"""

from __future__ import annotations

import importlib
import inspect
from typing import Any, Final

NAME: Final = "tokenfst"
_BASE: Final = "sglang.srt.constrained.base_grammar_backend"
_REASONER: Final = "sglang.srt.constrained.reasoner_grammar_backend"
_CHOICES: Final = "sglang.srt.arg_groups.choices"
# What the backend implements and calls of SGLang, by module and name, with the parameters that it expects.
_PARAMETERS: Final = {
    _BASE: {
        "register_grammar_backend": "name init_func",
        "register_vocab_mask_buffer": "name vocab_mask max_rows",
        "GrammarRow": "row grammar",
        "InvalidGrammarObject": "error_message",
        "BaseGrammarBackend": "",
        "BaseGrammarBackend.dispatch_json": "self key_string",
        "BaseGrammarBackend.dispatch_regex": "self key_string",
        "BaseGrammarBackend.dispatch_ebnf": "self key_string",
        "BaseGrammarBackend.dispatch_structural_tag": "self key_string",
        "BaseGrammarBackend.get_cached_or_future_value": "self key require_reasoning",
        "BaseGrammarBackend.set_cache": "self key value",
        "BaseGrammarBackend.reset": "self",
        "BaseGrammarBackend.initialize_vocab_mask_buffer": "self name vocab_size max_rows device",
        "BaseGrammarBackend.set_token_filter": "self vocab_mask token_ids batch_idx is_allowed reset_vocab_mask",
        "BaseGrammarBackend.reserve_framing_tokens": "self token_ids",
        "BaseGrammarBackend.compile_framed_grammar": "self grammar frame",
        "BaseGrammarObject": "",
        "BaseGrammarObject.accept_token": "self token",
        "BaseGrammarObject.rollback": "self k",
        "BaseGrammarObject.is_terminated": "self",
        "BaseGrammarObject.copy": "self",
        "BaseGrammarObject.allocate_vocab_mask": "self vocab_size batch_size device",
        "BaseGrammarObject.fill_vocab_mask": "self vocab_mask idx",
        "BaseGrammarObject.fill_vocab_mask_batched": "entries vocab_mask",
        "BaseGrammarObject.reset_vocab_mask": "vocab_mask",
        "BaseGrammarObject.move_vocab_mask": "vocab_mask device",
        "BaseGrammarObject.apply_vocab_mask": "logits vocab_mask",
        "BaseGrammarObject.try_jump_forward": "self tokenizer",
        "BaseGrammarObject.jump_forward_str_state": "self helper",
        "BaseGrammarObject.jump_and_retokenize": "self old_output_ids new_output_ids next_state",
    },
    "sglang.srt.runtime_context": {"get_serving": "", "get_parallel": ""},
    _REASONER: {"ReasonerGrammarBackend": "grammar_backend reasoning_parser tokenizer enable_strict_thinking"},
}


def register() -> None:
    """Register the backend; called by SGLang in each of its processes.

    Raises:
        RuntimeError: this version of SGLang is not as expected; the message says what differs.
    """
    problem = _unexpected()
    if problem:
        version = getattr(importlib.import_module("sglang"), "__version__", "of an unknown version")
        raise RuntimeError(f"tokenfst cannot be a grammar backend of SGLang {version}: {problem}")
    importlib.import_module(_BASE).register_grammar_backend(NAME, _create)
    choices = importlib.import_module(_CHOICES)
    if NAME not in choices.GRAMMAR_BACKEND_CHOICES:
        choices.add_grammar_backend_choices([NAME])


def _create(server_args: Any, tokenizer: Any, vocab_size: int, eos_token_ids: Any) -> Any:
    """Make the backend of a scheduler; its modules are imported only if it was chosen."""
    from serving.sglang.backend import create

    return create(server_args, tokenizer, vocab_size, eos_token_ids)


def _unexpected() -> str:
    """Return a difference from the SGLang that this was written for; "" if there is none."""
    for module, expected in _PARAMETERS.items():
        for path, parameters in expected.items():
            problem = _difference(importlib.import_module(module), path, parameters.split())
            if problem:
                return problem
    choices = importlib.import_module(_CHOICES)
    names = "GRAMMAR_BACKEND_CHOICES", "add_grammar_backend_choices"
    missing = [name for name in names if not hasattr(choices, name)]
    return f"{_CHOICES} has no {missing[0]}" if missing else ""


def _difference(module: Any, path: str, expected: list[str]) -> str:
    """Return how a function or class differs from what is expected; "" if it does not."""
    found = module
    for part in path.split("."):
        found = getattr(found, part, None)
    if found is None:
        return f"{module.__name__} has no {path}"
    parameters = list(inspect.signature(found).parameters)
    if parameters == expected:
        return ""
    return f"{path} takes ({', '.join(parameters)}), not ({', '.join(expected)})"
