"""The subcommands of `tokenfst`.

    tokenfst generate     let a model write what a constraint allows
    tokenfst sample       write random texts of a constraint
    tokenfst check        check whether a constraint allows a text, and show the first byte that it refuses
    tokenfst explain      say what may come next in a text, and why a token may not
    tokenfst draw         draw the automata over bytes and over tokens
    tokenfst compile      compile a constraint over a vocabulary: sizes, and a time for each stage
    tokenfst bench        time the masks and steps of a constraint over a vocabulary
    tokenfst vocab        show the contents of a vocabulary file
    tokenfst completion   print a script that lets a shell complete commands and options

A constraint is `--regex R`, `--json-schema FILE`, `--grammar FILE-or-NAME` or `--type MODULE:CLASS`
(`decoding.command.source`). The exit status is 0; 1 where `check` refuses a text; 2 after a mistake; and 130 after
Ctrl-C. One message describes the mistake: in a pattern or a grammar with a caret at the place, in a schema with its
JSON pointer.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from io import TextIOWrapper

import click

from decoding.command.benching import bench
from decoding.command.checking import check
from decoding.command.compiling import compile_
from decoding.command.completing import completion
from decoding.command.drawing import draw
from decoding.command.explaining import explain
from decoding.command.generating import generate
from decoding.command.options import first_line
from decoding.command.sampling import sample
from decoding.command.vocabularies import vocab

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class _InOrder(click.Group):
    """A group that lists its commands in the order in which they were added."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return list(self.commands)


def _show_version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        from tokenfst import __version__

        click.echo(f"tokenfst {__version__}")
        ctx.exit()


@click.group(cls=_InOrder, context_settings=SETTINGS)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version, help="Show the version."
)
def tokenfst() -> None:
    """Make a language model write what a constraint allows."""


for command in (generate, sample, check, explain, draw, compile_, bench, vocab, completion):
    tokenfst.add_command(command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return the exit status.

    Raises:
        KeyboardInterrupt: Ctrl-C.
    """
    if sys.stdout is None:
        click.echo("tokenfst: standard output is closed", err=True)
        return 2
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # Lone surrogates, and characters that the terminal's encoding lacks, are written as escapes.
            stream.reconfigure(errors="backslashreplace")
    try:
        status = tokenfst.main(
            None if arguments is None else list(arguments), prog_name="tokenfst", standalone_mode=False
        )
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort as error:
        raise KeyboardInterrupt from error
    except UnicodeEncodeError as error:
        click.echo(f"tokenfst: an argument is not UTF-8: {error.object!a}", err=True)
        return 2
    except OSError as error:
        reason = f"{error.filename}: {error.strerror}" if error.filename and error.strerror else first_line(error)
        click.echo(f"tokenfst: {reason}", err=True)
        return 2
    except (ImportError, ValueError) as error:
        click.echo(f"tokenfst: {first_line(error)}", err=True)
        return 2
    return status if isinstance(status, int) else 0


if __name__ == "__main__":
    sys.exit(main())
