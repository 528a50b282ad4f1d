"""The `tokenfst` command.

cli              the group of subcommands, and `main`
options          options that several subcommands share
source           the constraint that a command line names
reading          texts from files and standard input
generating, sampling, checking, explaining, drawing, compiling, benching, vocabularies, completing
                 a subcommand each
printing         tables for people, JSON for machines
progress         a progress line on the terminal for operations that take more than a second
"""

from decoding.command.cli import main

__all__ = ["main"]
