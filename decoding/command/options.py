"""Options that several subcommands share.

    takes_constraint     adds the options that name a constraint; the function gets a `ConstraintOptions`
    takes_vocabulary     adds --vocab and --eos-id
    as_json              adds --json
    Mistake              a mistake in a command line, or in a file that it names: a message and exit status 2

Modules that take time to import are imported in the subcommands, so that `--help` responds at once.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

# In place of a file name or a text, this means standard input.
STANDARD_INPUT: Final = "-"


class Mistake(click.ClickException):
    """A message that is shown unchanged, and exit status 2."""

    exit_code = 2

    def show(self, file: Any = None) -> None:
        """Print the message."""
        click.echo(self.message, err=True)


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message; libraries append advice to theirs."""
    return next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)


@dataclass(frozen=True, slots=True)
class ConstraintOptions:
    """The options that name a constraint; None for options that are not given. Their help says what they mean."""

    regex: str | None = None
    regex_file: str | None = None
    grammar: str | None = None
    json_schema: str | None = None
    type: str | None = None
    syntax: Any = None
    start: str | None = None
    ambiguity: Any = None
    whitespace: Any = None
    spellings: Any = None
    property_order: Any = None
    unsupported: Any = None


_CONSTRAINT = (
    click.option("--regex", metavar="R", help="A regular expression that a whole text matches."),
    click.option("--regex-file", metavar="FILE", help="The same, from a file."),
    click.option("--json-schema", metavar="FILE", help="A JSON Schema that the value satisfies."),
    click.option(
        "--grammar",
        metavar="FILE-or-NAME",
        help="A grammar, or one that comes with the package: json, python, sql, ...",
    ),
    click.option(
        "--type", metavar="MODULE:CLASS", help="A Python type, of which JSON is written: a dataclass, a Pydantic model."
    ),
    click.option(
        "--syntax", type=click.Choice(["auto", "lark", "gbnf", "ebnf"]), help="With --grammar: what it is written in."
    ),
    click.option("--start", metavar="RULE", help="With --grammar: the rule that whole texts match."),
    click.option(
        "--ambiguity",
        type=click.Choice(["error", "parallel"]),
        help="With --grammar: refuse an ambiguous one, or carry its derivations.",
    ),
    click.option(
        "--whitespace",
        type=click.Choice(["default", "compact", "python", "javascript", "flexible"]),
        help="With --json-schema and --type: the blanks; by default what json.dumps and JSON.stringify write.",
    ),
    click.option(
        "--spellings",
        type=click.Choice(["plain", "all"]),
        help="With --json-schema and --type: strings as json.dumps spells them, or in every spelling that JSON has.",
    ),
    click.option(
        "--property-order",
        type=click.Choice(["schema", "any", "any-if-cheap"]),
        help="With --json-schema: properties as it lists them, in any order, or in any with optional ones repeated.",
    ),
    click.option(
        "--unsupported",
        type=click.Choice(["error", "relax"]),
        help="With --json-schema: refuse a keyword that no automaton holds exactly, or leave it out and say so.",
    ),
)


def takes_constraint(function: F) -> F:
    """Add the options of a constraint; the function gets them as its first argument."""

    @functools.wraps(function)
    def called(**given: Any) -> Any:
        own = {field.name: given.pop(field.name) for field in fields(ConstraintOptions)}
        return function(ConstraintOptions(**own), **given)

    decorated: Any = called
    for option in reversed(_CONSTRAINT):
        decorated = option(decorated)
    result: F = decorated
    return result


def takes_vocabulary(*, default: str | None = None) -> Callable[[F], F]:
    """Add the options of a file with a vocabulary, which is required unless there is a default."""
    what = "The vocabulary: tokenizer.json, .tiktoken, Tekken or SentencePiece"

    def decorate(function: F) -> F:
        function = click.option(
            "--eos-id", type=int, multiple=True, metavar="ID", help="A token that ends a text, if the file names none."
        )(function)
        return click.option(
            "--vocab",
            required=default is None,
            type=click.Path(path_type=Path),
            metavar="FILE",
            help=f"{what}; {default}." if default else f"{what}.",
        )(function)

    return decorate


as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def eos_ids(vocab: Path, given: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return the given end tokens. If there are none: () for a file of ranks, which names none, and else None."""
    return given or (() if vocab.suffix == ".tiktoken" else None)


def read_temperature(ctx: click.Context, param: click.Parameter, value: str) -> float:
    """Read a finite number that is at least 0."""
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise click.BadParameter(f"a number from 0 on, not {value!r}", ctx, param)
    return number


def read_lengths(ctx: click.Context, param: click.Parameter, value: str | None) -> range | None:
    """Read a length, or the shortest and the longest one: `8`, `2-20`."""
    if value is None:
        return None
    first, hyphen, rest = value.partition("-")
    last = rest if hyphen else first
    if not (first.isdecimal() and last.isdecimal() and int(first) <= int(last)):
        raise click.BadParameter(f"a length, or two with a hyphen between them, not {value!r}", ctx, param)
    return range(int(first), int(last) + 1)


def read_tokens(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> list[bytes]:
    r"""Read tokens with commas between them; `\,` is a comma, and `\\` a backslash."""
    found = []
    for text in value:
        tokens = [""]
        for part in re.findall(r"\\[,\\]|.", text, re.DOTALL):
            if part == ",":
                tokens.append("")
            else:
                tokens[-1] += part[-1]
        if "" in tokens:
            raise click.BadParameter(rf"{text!r} has an empty token; a comma in a token is written \,", ctx, param)
        found += [token.encode() for token in tokens]
    return found
