"""Write the English grammars of NVIDIA's `nemo_text_processing` as archives of FSTs.

The package pins the versions of its own dependencies, so it gets a separate environment:

    python -m venv .nemo
    .nemo/bin/pip install nemo_text_processing
    .nemo/bin/python benchmarks/nemo_export.py FOLDER

`tn.far` has text normalization (`$12.50` to `twelve dollars fifty cents`) and `itn.far` its inverse. Each entry is for
one class of texts: the composition of the class's tagger and verbalizer, so that it reads and writes plain text.
Between the two, the package itself tries all orders of a tag's fields, in Python. The FSTs lack the texts that need
another order than the tagger's, such as `five dollars` in `itn.far`.
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pynini

# Name, tagger, verbalizer.
Parts = tuple[str, Any, Any]


class Grammars:
    """The classes of one direction, `text_normalization` or `inverse_text_normalization`."""

    def __init__(self, direction: str) -> None:
        self.root = f"nemo_text_processing.{direction}.en"

    def tagger(self, name: str, *arguments: Any, **options: Any) -> Any:
        return self._made("taggers", name, arguments, options)

    def verbalizer(self, name: str, *arguments: Any, **options: Any) -> Any:
        return self._made("verbalizers", name, arguments, options)

    def _made(self, kind: str, name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        module = import_module(f"{self.root}.{kind}.{name}")
        return getattr(module, f"{name.capitalize()}Fst")(*arguments, **options)


def normalization() -> Iterator[Parts]:
    made = Grammars("text_normalization")
    cardinal, to_cardinal = made.tagger("cardinal"), made.verbalizer("cardinal")
    ordinal, to_ordinal = made.tagger("ordinal", cardinal), made.verbalizer("ordinal")
    decimal, to_decimal = made.tagger("decimal", cardinal, True), made.verbalizer("decimal", to_cardinal)
    fraction, to_fraction = made.tagger("fraction", cardinal), made.verbalizer("fraction")
    measured = {"cardinal": cardinal, "decimal": decimal, "fraction": fraction}
    to_measured = {"cardinal": to_cardinal, "decimal": to_decimal, "fraction": to_fraction}
    yield "cardinal", cardinal, to_cardinal
    yield "date", made.tagger("date", cardinal, True), made.verbalizer("date", to_ordinal)
    yield "decimal", decimal, to_decimal
    yield "electronic", made.tagger("electronic", cardinal), made.verbalizer("electronic")
    yield "fraction", fraction, to_fraction
    yield "measure", made.tagger("measure", **measured), made.verbalizer("measure", **to_measured)
    yield "money", made.tagger("money", cardinal, decimal), made.verbalizer("money", to_decimal)
    yield "ordinal", ordinal, to_ordinal
    yield "telephone", made.tagger("telephone"), made.verbalizer("telephone")
    yield "time", made.tagger("time", cardinal), made.verbalizer("time")


def inverse() -> Iterator[Parts]:
    made = Grammars("inverse_text_normalization")
    cardinal, to_cardinal = made.tagger("cardinal"), made.verbalizer("cardinal")
    ordinal, decimal = made.tagger("ordinal", cardinal), made.tagger("decimal", cardinal)
    to_decimal = made.verbalizer("decimal")
    yield "cardinal", cardinal, to_cardinal
    yield "date", made.tagger("date", ordinal, "lower_cased"), made.verbalizer("date")
    yield "decimal", decimal, to_decimal
    yield "electronic", made.tagger("electronic"), made.verbalizer("electronic")
    yield "measure", made.tagger("measure", cardinal, decimal), made.verbalizer("measure", to_decimal, to_cardinal)
    yield "money", made.tagger("money", cardinal, decimal), made.verbalizer("money", to_decimal)
    yield "ordinal", ordinal, made.verbalizer("ordinal")
    yield "telephone", made.tagger("telephone", cardinal), made.verbalizer("telephone")
    yield "time", made.tagger("time"), made.verbalizer("time")


def write(path: Path, parts: Iterator[Parts]) -> None:
    """Write the compositions to an archive, which needs the names in alphabetical order."""
    with pynini.Far(str(path), "w") as far:
        for name, tagger, verbalizer in parts:
            fst = pynini.compose(tagger.fst, verbalizer.fst).optimize()
            far[name] = fst
            print(f"{path.name} {name}: {fst.num_states():,} states")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    logging.disable(logging.INFO)
    write(folder / "itn.far", inverse())
    write(folder / "tn.far", normalization())


if __name__ == "__main__":
    main()
