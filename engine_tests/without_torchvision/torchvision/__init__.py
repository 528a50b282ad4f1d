"""Stands in for torchvision, which has no build for the torch that vLLM's build for CPUs pins.

SGLang imports it for models that see, none of which is run here. Any name of it, and of its modules, is a class that
nobody makes an instance of.
"""

from __future__ import annotations

import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

# `transformers` compares it.
__version__ = "0.0"


class _Enumerated(type):
    """Classes any of whose members is its own name."""

    def __getattr__(cls, name: str) -> str:
        if name.startswith("__"):
            raise AttributeError(name)
        return name


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return _Enumerated(name, (), {})


class _Modules(MetaPathFinder, Loader):
    """Finds every module of torchvision."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        return ModuleSpec(fullname, self, is_package=True) if fullname.startswith(f"{__name__}.") else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = ModuleType(spec.name)
        vars(module)["__getattr__"] = __getattr__
        return module

    def exec_module(self, module: ModuleType) -> None:
        pass


sys.meta_path.insert(0, _Modules())
