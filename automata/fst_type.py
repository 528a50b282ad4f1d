"""Check whether an object is an FST of OpenFst's Python bindings, without importing them."""

from __future__ import annotations

import sys


def is_fst(value: object) -> bool:
    """Return whether an object is an FST of `pywrapfst` or `pynini`."""
    module = sys.modules.get("_pywrapfst")
    return module is not None and isinstance(value, module.Fst)
