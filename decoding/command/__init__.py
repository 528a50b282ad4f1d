"""The `tokenfst` command.

cli              the group of subcommands, and its `main`
options          options that several subcommands share
source           the constraint that a command line names
reading          texts from files and standard input
generating, sampling, checking, explaining, drawing, compiling, benching, vocabularies, completing
                 a subcommand each
printing         tables for people, JSON for machines
progress         a progress line on the terminal for operations that take more than a second
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["main"]

# The exit status of a program that Ctrl-C ended.
_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return the exit status, which is 130 after Ctrl-C."""
    try:
        from decoding.command.cli import main as run

        return run(arguments)
    except KeyboardInterrupt:  # also while modules are being imported
        return _INTERRUPTED
