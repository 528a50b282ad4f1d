"""`tokenfst vocab`: the contents of a vocabulary file."""

from __future__ import annotations

from pathlib import Path

import click

from decoding.command.options import as_json, eos_ids
from decoding.command.printing import print_json, print_table
from decoding.command.progress import progress


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--eos-id", type=int, multiple=True, metavar="ID", help="A token that ends a text.")
@click.option("--id", "ids", type=int, multiple=True, metavar="ID", help="Show a token.")
@click.option("--containing", metavar="TEXT", help="Show the tokens with this text in them.")
@as_json
def vocab(file: Path, eos_id: tuple[int, ...], ids: tuple[int, ...], containing: str | None, as_json: bool) -> None:
    """Show the contents of a vocabulary file.

    These are its size, special tokens and end tokens; or the tokens that are asked for.
    """
    from automata.texts import readable
    from decoding.command.options import Mistake
    from tokenfst.loaders import load_vocabulary

    with progress("reading the vocabulary"):
        vocabulary = load_vocabulary(file, eos_ids=eos_ids(file, eos_id))
    chosen = list(ids)
    for token in chosen:
        if not 0 <= token < len(vocabulary):
            raise Mistake(f"tokenfst: there is no token {token}; ids go from 0 to {len(vocabulary) - 1:,}")
    if containing is not None:
        chosen += [token for token, text in enumerate(vocabulary.tokens) if containing.encode() in text]
    if ids or containing is not None:
        tokens = [(token, readable(vocabulary.tokens[token])) for token in chosen]
        if as_json:
            print_json([{"id": token, "text": text} for token, text in tokens])
        elif tokens:
            click.echo("\n".join(f"{token:>8}  {text!r}" for token, text in tokens))
        return
    facts = {
        "tokens": len(vocabulary),
        "tokens of whole characters": vocabulary.num_whole,
        "bytes of the longest token": max(map(len, vocabulary.tokens), default=0),
        "ids of end tokens": list(vocabulary.eos_ids),
        "special tokens": dict(vocabulary.special_tokens),
        "digest": vocabulary.digest,
    }
    if as_json:
        print_json(facts)
        return
    print_table([(name, fact if isinstance(fact, str) else _written(fact)) for name, fact in facts.items()])


def _written(fact: object) -> str:
    if isinstance(fact, dict):
        return f"{len(fact):,}" + (f", such as {', '.join(list(fact)[:3])}" if fact else "")
    if isinstance(fact, list):
        return ", ".join(map(str, fact)) or "none"
    return f"{fact:,}"
