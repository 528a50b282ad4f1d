"""`tokenfst draw`: pictures of the automaton over bytes and, with a vocabulary, of the automaton over tokens."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from decoding.command.options import ConstraintOptions, read_tokens, takes_constraint
from decoding.command.progress import progress

if TYPE_CHECKING:
    from automata.drawing import Drawing


@click.command()
@takes_constraint
@click.option(
    "--tokens",
    metavar="A,B,...",
    multiple=True,
    callback=read_tokens,
    help=r"The vocabulary, with commas between tokens; \, is a comma, \\ a backslash; repeat it for more tokens. "
    "Without it only the automaton over bytes is drawn.",
)
@click.option(
    "--output", type=click.Path(path_type=Path), default=Path(), metavar="DIR", help="A folder; by default this one."
)
@click.option("--around", type=click.IntRange(min=0), metavar="STATE", help="Draw only the states near this one.")
@click.option(
    "--radius", type=click.IntRange(min=0), default=2, show_default=True, metavar="N", help="How near, in arcs."
)
@click.option(
    "--open/--no-open", "opens", default=None, help="Open the pictures; by default where somebody is at a terminal."
)
def draw(
    options: ConstraintOptions,
    tokens: list[bytes],
    output: Path,
    opens: bool | None,
    around: int | None,
    radius: int,
) -> None:
    """Draw the automata over bytes and, given tokens, over tokens.

    The pictures are SVG, or DOT if Graphviz is missing or a picture is too large for it. The automaton over tokens may
    be too large for any picture.
    """
    from decoding.command.source import opened
    from tokenfst.compile import compile as compile_tokens
    from tokenfst.vocabulary import Vocabulary

    opens = sys.stdout.isatty() if opens is None else opens
    with opened(options) as source:
        with progress("compiling"):
            over_bytes = source.compiled(source.read_with_remarks())
        output.mkdir(parents=True, exist_ok=True)
        _draw(lambda: over_bytes.draw(around=around, radius=radius), output / "bytes.svg", opens=opens)
        if tokens:
            vocabulary = Vocabulary([*tokens, b""], eos_ids=[len(tokens)])
            with progress("compiling"):
                over_tokens = compile_tokens(over_bytes, vocabulary)
            _draw(lambda: over_tokens.draw(around=around, radius=radius), output / "tokens.svg", opens=opens)


def _draw(make: Callable[[], Drawing], path: Path, *, opens: bool) -> None:
    """Write a picture and print the path of its file."""
    with progress("drawing"):
        drawing = make()
    written = _saved(drawing, path)
    click.echo(str(written))
    if opens:
        click.launch(str(written))


def _saved(drawing: Drawing, path: Path) -> Path:
    """Write a picture, as DOT if it cannot be rendered, and return the path of the file."""
    from automata.errors import LimitExceeded

    try:
        with progress("laying the picture out"):
            path.write_text(drawing.svg(), "utf-8")
    except (ImportError, LimitExceeded) as error:
        written = drawing.save(path.with_suffix(".dot"))
        click.echo(f"tokenfst: {written.name} in place of {path.name}: {error}", err=True)
        return written
    return path
