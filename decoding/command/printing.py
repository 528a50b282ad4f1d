"""The output of subcommands: tables for people, JSON for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

import click


def print_text(text: str) -> None:
    """Print lines unchanged, whereas click by itself strips the escape sequences of terminals."""
    click.echo(text, color=True)


def print_json(value: Any) -> None:
    """Print a value as one line of JSON."""
    print_text(json.dumps(value, ensure_ascii=False))


def print_table(rows: Sequence[Sequence[str]], header: Sequence[str] = ()) -> None:
    """Print rows of cells, of which all but the first are numbers."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, show_header=bool(header), pad_edge=False, padding=(0, 3, 0, 0))
    table.add_column(header[0] if header else "", no_wrap=True)
    # Cells that are too wide for a terminal are wrapped.
    for at in range(1, max(map(len, rows), default=len(header))):
        table.add_column(header[at] if header else "", justify="right", overflow="fold")
    for row in rows:
        table.add_row(*row)
    # Cells are data, not markup. Output that does not go to a terminal is not wrapped.
    width = None if sys.stdout.isatty() else 1_000
    Console(markup=False, highlight=False, width=width).print(table)
