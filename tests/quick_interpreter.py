"""Lets Triton's interpreter run programs in about half the time: imported first by what runs with TRITON_INTERPRET=1.

The interpreter replaces the functions of `triton.language` when a program begins, again at each call of a function
within it, and takes that back at its end. Here they are replaced once, for good.
"""

from __future__ import annotations

import triton.language as tl
from triton.language import core
from triton.runtime import interpreter


def sees_both() -> tuple[object, object]:
    """A function whose module has both names of the language, which the interpreter looks for."""
    return tl, core


if hasattr(interpreter, "_LangPatchScope"):  # from Triton 3.5 on
    interpreter._patch_lang(sees_both)
    interpreter._patch_lang = lambda function: interpreter._LangPatchScope()
