"""`tokenfst check`: whether a constraint allows a text, and the first byte that it refuses."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from decoding.command.options import STANDARD_INPUT, ConstraintOptions, as_json, takes_constraint
from decoding.command.printing import print_json
from decoding.command.progress import progress
from decoding.command.reading import standard_input

if TYPE_CHECKING:
    from decoding.command.source import Source
    from tokenfst.explanation import Explanation

# The maximum number of characters of a line that are shown before the mistake.
BEFORE = 60


@click.command()
@takes_constraint
@click.argument("file", required=False, metavar="[FILE]")
@click.option("--text", metavar="TEXT", help="The text, in place of a file.")
@click.option("--final-newline", is_flag=True, help="Leave out the line feed at the end of the file.")
@as_json
def check(options: ConstraintOptions, file: str | None, text: str | None, final_newline: bool, as_json: bool) -> int:
    """Check whether a constraint allows a text.

    The text is a file or standard input. The exit status is 0 if the text is allowed, and 1 if not. For a text that is
    not allowed, show the first byte at which no allowed text can continue, and what may come there instead.
    """
    from decoding.command.source import opened

    if file is not None and text is not None:
        raise click.UsageError("the text is a file, or it is given with --text")
    with opened(options) as source:
        content = _content(file or STANDARD_INPUT) if text is None else text.encode()
        if final_newline:
            content = content.removesuffix(b"\n")
        found = _mistake_in(content, source)
    if as_json:
        print_json({"valid": found is None, **({} if found is None else found.as_dict() | _position(found, content))})
    elif found is not None:
        click.echo(_shown(found, content))
    return 0 if found is None else 1


def _content(file: str) -> bytes:
    return standard_input("the text") if file == STANDARD_INPUT else Path(file).read_bytes()


def _mistake_in(content: bytes, source: Source[Any]) -> Explanation | None:
    """Return the explanation of the first mistake in a text, or None if the constraint allows the text."""
    from tokenfst.compile import compile as compile_tokens
    from tokenfst.vocabulary.all_bytes import ALL_BYTES

    with progress("checking"):
        automaton = compile_tokens(source.explained(source.read_with_remarks()), ALL_BYTES)
        if automaton.accepts(content):
            return None
        found = automaton.explain(content)
        return automaton.explain(content, ALL_BYTES.eos_ids[0]) if found.allowed else found


def _position(found: Explanation, content: bytes) -> dict[str, int]:
    """Return the line and the column of the mistake, counted from 1; columns are characters."""
    before = content[: len(content) if found.offset is None else found.offset]
    line = before[before.rfind(b"\n") + 1 :]
    # If only the first bytes of a character are allowed, the whole character is the mistake.
    decode = codecs.getincrementaldecoder("utf-8")("replace").decode
    return {"line": before.count(b"\n") + 1, "column": len(decode(line, final=found.offset is None)) + 1}


def _shown(found: Explanation, content: bytes) -> str:
    """Return the line with a caret at the mistake, and a description of the mistake."""
    place = _position(found, content)
    lines = content.decode("utf-8", "replace").split("\n")
    line, column = lines[place["line"] - 1], place["column"] - 1
    cut = max(column - BEFORE, 0)
    seen = "".join(char if char.isprintable() else " " for char in line[cut : column + 20])
    what = "the text may not end here" if found.offset is None else "not allowed here"
    rows = str(found).split("\n")[1:]
    return "\n".join(
        [f"line {place['line']}, column {place['column']}: {what}", seen, f"{' ' * (column - cut)}^", *rows]
    )
