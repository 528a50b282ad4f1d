"""vLLM's plugin: puts our backend in the place of one of vLLM's.

vLLM has no registry of backends for structured outputs: their names are a literal type, and each has a branch of its
own where it is made and where requests are validated. It loads plugins (entry points `vllm.general_plugins`) in the
front end, in the engine core and in the workers, before any of these runs. The branch for "outlines" imports two names
from `vllm.v1.structured_output.backend_outlines` when it is taken:

    OutlinesBackend                                the class of the backend           ours: `Backend`
    validate_structured_output_request_outlines    checks a request in the front end  ours: `validate`

With `TOKENFST_VLLM=outlines` these two are replaced, and nothing else. The engine is then started with
`--structured-outputs-config '{"backend": "outlines"}'`. Without the variable nothing is touched, so that installing
this package changes no engine.

Rejected: a name of our own (it would have to be put into the type of the settings, the branches of two functions, and
the command line, which edits vLLM in five places); the place of xgrammar or guidance, which vLLM imports at its top.
"""

from __future__ import annotations

import importlib
import inspect
import os
from typing import Final

VARIABLE: Final = "TOKENFST_VLLM"
_MODULE: Final = "vllm.v1.structured_output.backend_outlines"
_CLASS: Final = "OutlinesBackend"
_VALIDATE: Final = "validate_structured_output_request_outlines"
# What vLLM calls, with the parameters that ours expect.
_METHODS: Final = {
    "compile_grammar": ["self", "request_type", "grammar_spec", "stop_token_ids"],
    "allocate_token_bitmask": ["self", "max_num_seqs"],
    "destroy": ["self"],
}


def register() -> None:
    """Replace vLLM's backend by ours where `TOKENFST_VLLM` asks for it; called by vLLM in each of its processes.

    Raises:
        ValueError: the variable names another backend.
        RuntimeError: this version of vLLM is not as expected; the message says what differs.
    """
    chosen = os.environ.get(VARIABLE, "")
    if not chosen:
        return
    if chosen != "outlines":
        raise ValueError(f"{VARIABLE} is 'outlines', in whose place tokenfst is put, or not set; not {chosen!r}")
    module = importlib.import_module(_MODULE)
    problem = _unexpected(module)
    if problem:
        raise RuntimeError(
            f"tokenfst cannot be put in the place of vLLM {_version()}'s outlines backend: {problem}. Without "
            f"{VARIABLE}, vLLM runs as it is"
        )
    from serving.vllm_backend import Backend, validate

    setattr(module, _CLASS, Backend)
    setattr(module, _VALIDATE, validate)


def _unexpected(module: object) -> str:
    """Return what differs from the vLLM that this was written for; "" for nothing."""
    for name in (_CLASS, _VALIDATE):
        if not callable(getattr(module, name, None)):
            return f"{_MODULE} has no {name}"
    backend = getattr(module, _CLASS)
    for name, expected in _METHODS.items():
        method = getattr(backend, name, None)
        found = list(inspect.signature(method).parameters) if method else []
        if found != expected:
            return f"{_CLASS}.{name} takes ({', '.join(found)}), not ({', '.join(expected)})"
    found = list(inspect.signature(getattr(module, _VALIDATE)).parameters)
    return "" if found == ["params"] else f"{_VALIDATE} takes ({', '.join(found)}), not (params)"


def _version() -> str:
    return str(getattr(importlib.import_module("vllm"), "__version__", "of an unknown version"))
