"""Texts that a command line names: files, and standard input, which only one option may use.

standard_input    all of standard input
decoded           bytes as text
"""

from __future__ import annotations

import io
import sys

import click

from decoding.command.options import Mistake

_KEY = "decoding.command.standard_input"


def standard_input(reader: str) -> bytes:
    """Return the content of standard input.

    Args:
        reader: the name of the argument for which it is read, as shown in messages.

    Raises:
        Mistake: it was read for another argument before, or it is closed.
    """
    read_before = click.get_current_context().meta.setdefault(_KEY, reader)
    if read_before != reader:
        raise Mistake(f"tokenfst: {read_before} and {reader} both come from standard input")
    if sys.stdin is None:
        raise Mistake(f"tokenfst: {reader} comes from standard input, which is closed")
    return sys.stdin.buffer.read()


def decoded(content: bytes, name: str) -> str:
    """Return a text without the byte order mark that some editors put before it; line ends become line feeds.

    Args:
        content: the text in UTF-8.
        name: the name of its source, as shown in messages.

    Raises:
        Mistake: the content is not UTF-8.
    """
    try:
        return io.TextIOWrapper(io.BytesIO(content), "utf-8-sig").read()
    except UnicodeDecodeError as error:
        raise Mistake(f"tokenfst: {name} is not text in UTF-8: {error}") from None
