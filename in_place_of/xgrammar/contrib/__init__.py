"""Adapters of grammars for libraries: `hf` for transformers. For engines, `serving` has its own adapters."""

from typing import NoReturn

from in_place_of.absent import missing
from in_place_of.xgrammar.contrib import hf

__all__ = ["hf"]

_INSTEAD = {"mlxlm": "serving.mlx_lm.MLXProcessor"}


def __getattr__(name: str) -> NoReturn:
    missing(__name__, _INSTEAD, name)
