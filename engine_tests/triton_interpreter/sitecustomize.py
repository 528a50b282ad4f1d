"""Lets vLLM's Model Runner V2 run where there is no GPU: its Triton kernels run in Triton's interpreter.

vLLM takes a processor for a device of Triton if there is a backend for it, and only builds of Triton from source have
one. With this folder on the path, each process has one by name; with `TRITON_INTERPRET=1` nothing is compiled by it.
The interpreter takes only booleans as masks, and a compiler any number.

vLLM plans no steps ahead on a CPU, as it does on a GPU; with `SCHEDULE_AHEAD=1` it does.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class Driver:
    @staticmethod
    def is_active() -> bool:
        return True


class Preparation(MetaPathFinder):
    """Finds no module; prepares what is there just before vLLM looks at it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname == "vllm.triton_utils.importing":
            prepare_triton()
        if fullname == "vllm.engine.arg_utils" and os.environ.get("SCHEDULE_AHEAD") == "1":
            schedule_ahead(import_module("vllm.platforms.cpu").CpuPlatform)
        return None


def prepare_triton() -> None:
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


def schedule_ahead(platform: Any) -> None:
    original = platform.check_and_update_config.__func__

    def check_and_update_config(cls: Any, config: Any) -> None:
        original(cls, config)
        config.scheduler_config.async_scheduling = True

    platform.check_and_update_config = classmethod(check_and_update_config)


sys.meta_path.insert(0, Preparation())
