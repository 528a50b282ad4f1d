"""vLLM's plugin: replaces one of vLLM's backends with ours.

vLLM has no registry of backends for structured outputs: their names are a literal type, and each has its own branch in
the code that makes backends and in the code that validates requests. vLLM loads plugins (entry points
`vllm.general_plugins`) in the front end, in the engine core and in the workers, before these run. The branch for
"outlines" imports two names from `vllm.v1.structured_output.backend_outlines` when it is taken:

    OutlinesBackend                                the class of the backend           ours: `Backend`
    validate_structured_output_request_outlines    checks a request in the front end  ours: `validate`

With `TOKENFST_VLLM=outlines` these two are replaced. The engine is then started with
`--structured-outputs-config '{"backend": "outlines"}'`. Without the variable nothing is changed, so installing this
package does not affect any engine.

The plugin changes a third thing. vLLM compiles in threads, half as many as there are cores, and each thread waits for
one constraint, so a few slow ones would delay all others. Our backend has its own threads, in which slow compilations
do not delay others. So vLLM's threads only wait, and `StructuredOutputManager.__init__` is wrapped to allow many of
them.

Rejected: a name of our own (it would have to be added to the type of the settings, the branches of two functions, and
the command line, which means editing vLLM in five places); replacing xgrammar or guidance, which vLLM imports at the
top of a module.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from serving.settings import settings_from_environment

VARIABLE: Final = "TOKENFST_VLLM"
_MODULE: Final = "vllm.v1.structured_output.backend_outlines"
_CLASS: Final = "OutlinesBackend"
_VALIDATE: Final = "validate_structured_output_request_outlines"
_MANAGERS: Final = "vllm.v1.structured_output"
_MANAGER: Final = "StructuredOutputManager"
# The number of requests whose constraints are compiled at a time; further ones wait for these.
_WAITING: Final = 256
# The methods that vLLM calls, with the parameters that `Backend` expects.
_METHODS: Final = {
    "compile_grammar": ["self", "request_type", "grammar_spec", "stop_token_ids"],
    "allocate_token_bitmask": ["self", "max_num_seqs"],
    "destroy": ["self"],
}


def register() -> None:
    """Replace vLLM's backend with ours if `TOKENFST_VLLM` asks for it; called by vLLM in each of its processes.

    Raises:
        ValueError: the variable names another backend, or one of the settings is wrong.
        RuntimeError: this version of vLLM is not as expected; the message says what differs.
    """
    chosen = os.environ.get(VARIABLE, "")
    if not chosen:
        return
    if chosen != "outlines":
        raise ValueError(f"{VARIABLE} is not set, or is 'outlines', which tokenfst replaces; not {chosen!r}")
    settings_from_environment()  # a wrong setting stops the engine before it takes requests
    module, managers = importlib.import_module(_MODULE), importlib.import_module(_MANAGERS)
    problem = _unexpected(module) or _unexpected_manager(managers)
    if problem:
        raise RuntimeError(
            f"tokenfst cannot replace the outlines backend of vLLM {_version()}: {problem}. Without "
            f"{VARIABLE}, vLLM runs as it is"
        )
    from serving.vllm.backend import Backend, validate

    setattr(module, _CLASS, Backend)
    setattr(module, _VALIDATE, validate)
    _let_many_wait(getattr(managers, _MANAGER))


def _let_many_wait(manager: Any) -> None:
    """Make vLLM's manager start enough threads for all requests that wait for compilations."""
    original = manager.__init__
    if hasattr(original, "__wrapped__"):  # wrapped by an earlier call
        return

    @functools.wraps(original)
    def made(self: Any, *arguments: Any, **options: Any) -> None:
        original(self, *arguments, **options)
        if hasattr(self, "executor"):  # missing if the engine has no tokenizer
            self.executor.shutdown()
            self.executor = ThreadPoolExecutor(_WAITING, "tokenfst waiting")

    manager.__init__ = made


def _unexpected(module: object) -> str:
    """Return a difference from the vLLM that this was written for; "" if there is none."""
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


def _unexpected_manager(module: object) -> str:
    """Return a difference in vLLM's manager of structured outputs; "" if there is none."""
    source = inspect.getsource(getattr(module, _MANAGER)) if hasattr(module, _MANAGER) else ""
    expected = "self.executor.submit(self._create_grammar, request)"
    return "" if expected in source else f"{_MANAGERS}.{_MANAGER} does not compile by {expected!r}"


def _version() -> str:
    return str(getattr(importlib.import_module("vllm"), "__version__", "of an unknown version"))
