"""What a command line asks for: a pattern by `--regex`, or a grammar by `--grammar` and the options that belong to it.

A grammar is one that comes with the package, by its name, or a file. Names go first, so that what a command means does
not depend on the files around it; `./json` is a file. A file is read once, and its text kept: a mistake in it, which
may be found late, is shown in its line.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import constraints
from automata.errors import GrammarError, PatternError, TokenfstError
from automata.pushdown.automaton import PushdownAutomaton
from automata.pushdown.compile import Ambiguity, compile_grammar
from automata.pushdown.grammar import Grammar
from constraints.grammars import Syntax
from constraints.grammars.bundled import BUNDLED, bundled

_JSON = "json"
_ONLY_FILES = ("syntax", "start")
_ONLY_GRAMMARS = (*_ONLY_FILES, "ambiguity")


@dataclass(frozen=True, slots=True)
class GrammarSource:
    """A grammar as a command line names it.

    Attributes:
        name: the file, or the name of one that comes with the package.
        text: what the file says; None for one that comes with the package.
        syntax, start: how the text is read, as for `constraints.grammar`.
        ambiguity: as for `automata.compile_grammar`.
    """

    name: str
    text: str | None
    syntax: Syntax
    start: str | None
    ambiguity: Ambiguity

    def grammar(self) -> Grammar:
        """The grammar.

        Raises:
            GrammarError: the text has a mistake.
        """
        if self.text is not None:
            return constraints.grammar(self.text, syntax=self.syntax, start=self.start)
        return constraints.json() if self.name == _JSON else bundled(self.name)

    def compiled(self) -> PushdownAutomaton:
        """Its automaton over bytes; raises what `automata.compile_grammar` does."""
        return compile_grammar(self.grammar(), ambiguity=self.ambiguity)


def add_constraint(parser: argparse.ArgumentParser) -> None:
    """Adds the options of a constraint."""
    either = parser.add_mutually_exclusive_group(required=True)
    either.add_argument("--regex", help="what a whole text must match")
    names = ", ".join([_JSON, *BUNDLED])
    either.add_argument("--grammar", metavar="FILE-or-NAME", help=f"a file with a grammar, or one of {names}")
    parser.add_argument("--syntax", choices=("auto", "lark", "gbnf", "ebnf"), help="what the file is written in")
    parser.add_argument("--start", metavar="RULE", help="the rule of the file that whole texts match")
    parser.add_argument(
        "--ambiguity", choices=("error", "parallel"), help="refuse an ambiguous grammar, or carry its derivations"
    )


def grammar_source(options: argparse.Namespace) -> GrammarSource | None:
    """The grammar that a command line names, or None if it names none.

    Raises:
        TokenfstError: there is no such grammar, or options are there that belong to another kind of constraint.
        OSError: the file cannot be read.
    """
    name: str | None = options.grammar
    if name is None:
        _without(options, _ONLY_GRAMMARS, "goes with --grammar")
        return None
    syntax: Syntax = options.syntax or "auto"
    ambiguity: Ambiguity = options.ambiguity or "error"
    if name == _JSON or name in BUNDLED:
        _without(options, _ONLY_FILES, f"goes with a file, and {name!r} comes with the package")
        return GrammarSource(name, None, syntax, None, ambiguity)
    return GrammarSource(name, _text_of(Path(name)), syntax, options.start, ambiguity)


def _without(options: argparse.Namespace, names: tuple[str, ...], why: str) -> None:
    for name in names:
        if getattr(options, name) is not None:
            raise TokenfstError(f"--{name} {why}")


def _text_of(path: Path) -> str:
    if not path.exists():
        raise TokenfstError(f"there is no file {str(path)!r}; grammars by name are {', '.join([_JSON, *BUNDLED])}")
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise TokenfstError(f"{path} is not text in UTF-8: {error}") from None


def shown(error: PatternError | GrammarError, source: GrammarSource | None) -> str:
    """A mistake: the pattern, or the line of the file, and under it a caret where it goes wrong, and why."""
    if isinstance(error, PatternError):
        return _with_caret(error.pattern, error.position, error.reason)
    if source is None or source.text is None or error.line is None or error.column is None:
        return f"tokenfst: {error}"
    line = source.text.split("\n")[error.line - 1]
    return f"{source.name}, line {error.line}:\n{_with_caret(line, error.column - 1, error.reason)}"


def _with_caret(line: str, position: int, reason: str) -> str:
    # Characters that would break the line are shown as a space, so that the caret stays in place.
    seen = "".join(char if char.isprintable() else " " for char in line)
    return f"{seen}\n{' ' * position}^ {reason}"
