"""Lets vLLM's Model Runner V2 run where there is no GPU: its Triton kernels run in Triton's interpreter.

vLLM takes a processor for a device of Triton if there is a backend for it, and only builds of Triton from source have
one. With this folder on the path, each process has one by name; with `TRITON_INTERPRET=1` nothing is compiled by it.
The interpreter takes only booleans as masks, and a compiler any number.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class Driver:
    @staticmethod
    def is_active() -> bool:
        return True


class Preparation(MetaPathFinder):
    """Finds no module; prepares Triton just before vLLM looks for it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname == "vllm.triton_utils.importing":
            sys.meta_path.remove(self)
            prepare()
        return None


def prepare() -> None:
    from triton import backends
    from triton.runtime.interpreter import InterpreterBuilder

    backends.backends["cpu"] = backends.Backend(compiler=None, driver=Driver)
    load, store = InterpreterBuilder.create_masked_load, InterpreterBuilder.create_masked_store

    def masked_load(self: Any, pointers: Any, mask: Any, *others: Any) -> Any:
        mask.data = mask.data.astype(bool)
        return load(self, pointers, mask, *others)

    def masked_store(self: Any, pointers: Any, value: Any, mask: Any, *others: Any) -> Any:
        mask.data = mask.data.astype(bool)
        return store(self, pointers, value, mask, *others)

    InterpreterBuilder.create_masked_load, InterpreterBuilder.create_masked_store = masked_load, masked_store


sys.meta_path.insert(0, Preparation())
