"""Let a model write forms under grammars that others have written, and check each form with OpenFst.

    python benchmarks/nemo_grammars.py ARCHIVE.far ... [--forms 1000] [--show N]

The archives are those of `nemo_export.py`, or any archives of transducers over bytes. Requests are texts that an FST
reads or writes, drawn at random. The model writes one form for each: a text in the image of an input, or in the
preimage of an output. Preimages often allow any number of blanks, so they are limited to single ones. A form is
accepted if OpenFst's composition of the FST with both texts is not empty; the cost of its best path must be the cost
that the constraint gives.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass, fields
from itertools import islice
from math import inf, isclose
from pathlib import Path
from typing import Any

import pynini
import pywrapfst
import torch
from pynini.lib import byte

import tokenfst
from automata import EmptyLanguage, from_fst, image, preimage, transducer_of
from automata.transducer_tables import TransducerTables
from decoding import bundled_model, generate, vocabulary_of
from tokenfst import TokenAutomaton

MODEL, TOKENIZER = bundled_model()
VOCABULARY = vocabulary_of(TOKENIZER)
WORD = pynini.closure(byte.NOT_SPACE, 1)
ANYTHING = pynini.closure(byte.BYTE)
# The grammars treat a no-break space as a blank, so it is excluded.
SINGLE_BLANKS = pynini.difference(
    WORD + pynini.closure(" " + WORD), (ANYTHING + "\u00a0" + ANYTHING).optimize()
).optimize()
LONGEST_REQUEST, MAX_NEW_TOKENS = 40, 96


@dataclass(frozen=True)
class Request:
    """A text, and whether it is an input of the FST, whose forms are outputs, or the other way round."""

    text: str
    is_input: bool

    def automaton(self, tables: TransducerTables) -> TokenAutomaton:
        """Return the automaton of the forms that may be written."""
        if self.is_input:
            return tokenfst.compile(image(self.text, tables), VOCABULARY)
        return tokenfst.compile(preimage(tables, self.text) & from_fst(SINGLE_BLANKS), VOCABULARY)

    def cost(self, fst: Any, forms: Any) -> float:
        """Return the cost by OpenFst of the best of some forms.

        Args:
            fst: the FST.
            forms: one form, or an acceptor of several.

        Returns:
            The cost; infinity if the FST accepts none of the forms.
        """
        text = pynini.escape(self.text)
        read, written = (text, forms) if self.is_input else (forms, text)
        paths = pynini.compose(pynini.compose(read, fst), written)
        if paths.start() == pywrapfst.NO_STATE_ID:
            return inf
        return float(pynini.shortestdistance(paths, reverse=True)[paths.start()])


@dataclass
class Count:
    """The number of forms written, accepted, and with equal costs, and the seconds that compiling and writing took."""

    forms: int = 0
    accepted: int = 0
    equal_costs: int = 0
    compiling: float = 0
    writing: float = 0

    def add(self, other: Count) -> None:
        for field in fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))

    def line(self, name: str) -> str:
        counts = "".join(f"{number:14,}" for number in (self.forms, self.accepted, self.equal_costs))
        seconds = "".join(f"{1e3 * each / max(self.forms, 1):14.2f}" for each in (self.compiling, self.writing))
        return f"{name:16}{counts}{seconds}"


HEADER = f"{'grammar':16}" + "".join(
    f"{name:>14}" for name in ("forms", "accepted", "equal costs", "ms to compile", "ms to write")
)


def drawn(fst: Any, side: str) -> Iterator[str]:
    """Draw different texts of at most `LONGEST_REQUEST` characters from one side of an FST, with single blanks."""
    seen = {""}
    for seed in range(1, 5000):
        path = pynini.randgen(fst, seed=seed, max_length=200).project(side).rmepsilon()
        try:
            text = " ".join(path.string().split()) if path.num_states() else ""
        except UnicodeDecodeError:
            continue
        if len(text) <= LONGEST_REQUEST and text not in seen:
            seen.add(text)
            yield text


def requests(fst: Any, tables: TransducerTables, is_input: bool) -> Iterator[tuple[Request, TokenAutomaton]]:
    """Yield requests that the FST has forms of at most `MAX_NEW_TOKENS` tokens for, with their automata."""
    for text in drawn(fst, "input" if is_input else "output"):
        request = Request(text, is_input)
        try:
            automaton = request.automaton(tables)
        except EmptyLanguage:
            assert request.cost(fst, ANYTHING if is_input else SINGLE_BLANKS) == inf, request
            continue
        if automaton.min_tokens(automaton.start) <= MAX_NEW_TOKENS:
            yield request, automaton


def written(fst: Any, number: int, show: int) -> Count:
    """Have the model write at most `number` forms, half of them for inputs and half for outputs, and check them."""
    tables = transducer_of(fst)
    asked = [each for is_input in (True, False) for each in islice(requests(fst, tables, is_input), number // 2)]
    began = time.perf_counter()
    automata = [request.automaton(tables) for request, _ in asked]
    compiled = time.perf_counter()
    prompts = ["It is "] * len(asked)
    forms = generate(MODEL, TOKENIZER, prompts, automata, max_new_tokens=MAX_NEW_TOKENS, seed=1)
    count = Count(len(forms), compiling=compiled - began, writing=time.perf_counter() - compiled)
    for at, ((request, automaton), form) in enumerate(zip(asked, forms, strict=True)):
        cost = request.cost(fst, pynini.escape(form))
        count.accepted += cost < inf
        # OpenFst's weights are float32.
        count.equal_costs += isclose(cost, automaton.weight(form), rel_tol=1e-6, abs_tol=1e-4)
        if at * show // len(forms) != (at - 1) * show // len(forms):
            print(f"    {request.text!r} {'->' if request.is_input else '<-'} {form!r}")
    return count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("archives", type=Path, nargs="+")
    parser.add_argument("--forms", type=int, default=1000, help="the number of forms to write, shared by all grammars")
    parser.add_argument("--show", type=int, default=0, help="the number of forms of each grammar to print")
    options = parser.parse_args()
    torch.set_num_threads(1)
    fsts = {f"{path.stem} {key}": fst for path in options.archives for key, fst in pynini.Far(str(path))}
    number = -(-options.forms // len(fsts))
    total = Count()
    print(HEADER)
    for name, fst in fsts.items():
        count = written(fst, number + number % 2, options.show)
        print(count.line(name), flush=True)
        total.add(count)
    print(total.line("all"))
    if min(total.accepted, total.equal_costs) < total.forms:
        raise SystemExit("OpenFst rejects a form, or gives it another cost")


if __name__ == "__main__":
    main()
