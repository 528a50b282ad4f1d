"""The `tokenfst` command.

cli       the subcommands and their options
source    the constraint that a command line names
progress  a line on the terminal for whatever takes more than a second
"""

from decoding.command.cli import main

__all__ = ["main"]
