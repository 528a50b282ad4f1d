"""Generate whole texts within budgets of tokens, by the bundled model and random writers, and check them independently.

    python benchmarks/generations.py [SCHEMAS ...] [--count N] [--seed S] [--failures FILE]

The constraints are the schemas in the files (as for `maskbench.py`), or by default the bundled grammars, any JSON value
and some patterns. A generation takes the next constraint and chooses a kind of automaton, a writer and a budget at
random. The budget is the number of tokens that suffices according to the automaton (`min_tokens`), in most cases plus
some more. At each step the writer's logits are masked for what is left of the budget, and a token is drawn from them,
until the end token is drawn.

    model       the bundled model
    random      random logits
    blanks      random logits, with a preference for whitespace
    endless     random logits that avoid the end token
    openers     random logits, with a preference for opening brackets and quotes

A text fails if a mask is empty, if the text does not end within the budget, or if it is not valid. Validity is checked
for schemas and JSON by the `jsonschema` package (with exact numbers, `tests/json_schema/validity.py`), for grammars by
Earley's algorithm (`tests/grammar_oracles/earley.py`), and for patterns by `re`. Texts that these cannot judge are
counted as "not judged"; so are texts that fail.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import torch

import constraints
import tokenfst
from automata.errors import TokenfstError
from automata.limits import Limits
from constraints.grammars.bundled import BUNDLED, bundled
from decoding import bundled_model, vocabulary_of
from decoding.inputs.caches import cache_argument, cache_of
from tokenfst import Vocabulary
from tokenfst.token_automaton import TokenAutomaton

Kind: TypeAlias = Literal["complete", "lazy", "canonical"]
Logits: TypeAlias = npt.NDArray[np.float32]
# How many tokens a budget may have beyond `min_tokens`.
EXTRA = (0, 0, 0, 1, 2, 3, 5, 10, 20, 40, 80)
_LIMITS = Limits(seconds=20)
PATTERNS: dict[str, tuple[Kind, ...]] = {
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2})?": ("complete", "lazy", "canonical"),
    r'"[^"\\\x00-\x1f]{40,90}"': ("complete", "lazy"),
    r"([a-z]+ ){3,}[a-z]+\.": ("complete", "lazy", "canonical"),
    r"(yes|no|I do not know)(, because [A-Za-z ,]{9,2000}\.)?": ("complete", "lazy"),
}
_SPACE, _OPENERS = re.compile(rb"[ \t\r\n]+"), re.compile(rb"""[\[({<"']+""")


class Judge(Protocol):
    """A function that returns whether a text is valid, or None if it cannot tell."""

    def __call__(self, text: bytes) -> bool | None: ...


@dataclass(frozen=True)
class Subject:
    """A constraint, the kinds of automata to make of it, and a function that makes the judge of its texts."""

    name: str
    constraint: Callable[[], Any]
    kinds: tuple[Kind, ...]
    judge: Callable[[], Judge]


class Writer(Protocol):
    """A function that returns the logits of the next token, `[V]`, after the tokens so far."""

    def __call__(self, tokens: Sequence[int], dice: np.random.Generator) -> Logits: ...


class ModelWriter:
    """The bundled model, with a cache of the keys and values of the tokens so far."""

    def __init__(self) -> None:
        self._model, self._tokenizer = bundled_model()
        self._first = int(self._tokenizer.eos_token_id or 0)
        self._cache: Any = None

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary of the model."""
        return vocabulary_of(self._tokenizer)

    def __call__(self, tokens: Sequence[int], dice: np.random.Generator) -> Logits:
        """See `Writer`."""
        if not tokens:
            self._cache = None
        last = torch.tensor([[tokens[-1] if tokens else self._first]])
        with torch.no_grad():
            found = self._model(input_ids=last, use_cache=True, **{cache_argument(self._model): self._cache})
        self._cache = cache_of(self._model, found)
        logits: Logits = found.logits[0, -1].numpy()
        return logits


def leaning(vocabulary: Vocabulary, pattern: re.Pattern[bytes] | None, love: float, end: float) -> Writer:
    """Return a writer of random logits: tokens that match the pattern have `love` added, and end tokens `end`."""
    loved = [bool(pattern and pattern.fullmatch(token)) for token in vocabulary.tokens]
    lean = np.where(loved, love, 0).astype(np.float32)
    lean[list(vocabulary.eos_ids)] = end

    def logits(tokens: Sequence[int], dice: np.random.Generator) -> Logits:
        return lean + 3 * dice.standard_normal(len(lean), np.float32)

    return logits


def writers(vocabulary: Vocabulary) -> dict[str, Writer]:
    """Return all writers except the model, by name."""
    return {
        "random": leaning(vocabulary, None, 0, 0),
        "blanks": leaning(vocabulary, _SPACE, 20, -5),
        "endless": leaning(vocabulary, None, 0, -60),
        "openers": leaning(vocabulary, _OPENERS, 20, -20),
    }


def generate(
    automaton: TokenAutomaton, writer: Writer, budget: int, dice: np.random.Generator
) -> tuple[list[int], str | None]:
    """Return the tokens that a writer writes, and what is wrong with them, or None."""
    state, tokens = automaton.start, list[int]()
    while True:
        mask = automaton.mask(state, budget - len(tokens))
        if not mask.any():
            return tokens, f"nothing is allowed after {len(tokens)} of {budget} tokens"
        logits = np.where(mask, writer(tokens, dice).astype(np.float64), -np.inf)
        weights = np.exp(logits - logits.max())
        token = int(dice.choice(len(weights), p=weights / weights.sum()))
        if not mask[token]:
            return tokens, f"token {token} was drawn, which is not allowed"
        state = automaton.advance(state, token)
        tokens.append(token)
        if token in automaton.vocabulary.eos_ids:
            return tokens, None if len(tokens) <= budget else "the text is too long"


def schema_subject(name: str, schema: Any) -> Subject:
    """Return the subject of a JSON Schema, judged by `jsonschema`."""
    return Subject(name, lambda: constraints.json_schema(schema), ("complete", "lazy"), lambda: _schema_judge(schema))


def _schema_judge(schema: Any) -> Judge:
    import validity

    uri = str(schema.get("$schema", "")) if isinstance(schema, dict) else ""
    named = re.search(r"draft-0([467])|20(19-09|20-12)", uri)
    number = (named[1] and f"draft{named[1]}") or f"draft20{named[2]}" if named else "draft2020-12"

    def judge(text: bytes) -> bool | None:
        try:
            value = validity.read(text)
        except validity.TooLarge:
            return None
        except ValueError:
            return False
        try:
            return bool(validity.validator(schema, number).is_valid(value))
        except Exception:  # the package raises errors of many types: for references, patterns, recursion
            return None

    return judge


def grammar_subject(name: str) -> Subject:
    """Return the subject of a bundled grammar, judged by Earley's algorithm."""

    def judge() -> Judge:
        from grammar_oracles.earley import Recognizer

        return Recognizer(bundled(name)).accepts

    return Subject(name, lambda: bundled(name), ("complete", "lazy"), judge)


def pattern_subject(pattern: str, kinds: tuple[Kind, ...]) -> Subject:
    """Return the subject of a regular expression, judged by `re`."""

    def judge(text: bytes) -> bool:
        try:
            return re.fullmatch(pattern, text.decode(), re.ASCII) is not None
        except UnicodeDecodeError:
            return False

    return Subject(pattern, lambda: pattern, kinds, lambda: judge)


def bundled_subjects() -> list[Subject]:
    """Return the subjects of the bundled grammars, of any JSON value, and of the patterns."""
    found = [grammar_subject(name) for name in BUNDLED]
    found.append(Subject("json", constraints.json, ("complete", "lazy"), lambda: _schema_judge(True)))
    return [*found, *(pattern_subject(pattern, kinds) for pattern, kinds in PATTERNS.items())]


def automaton_of(subject: Subject, kind: Kind, vocabulary: Vocabulary) -> TokenAutomaton:
    """Return the automaton of a given kind for a subject."""
    constraint = subject.constraint()
    if kind == "canonical":
        return tokenfst.compile(constraint, vocabulary, tokenization="canonical", limits=_LIMITS)
    automaton = tokenfst.compile(constraint, vocabulary, limits=_LIMITS)
    return automaton if kind == "lazy" else automaton.complete()


@dataclass
class Result:
    """The results of all generations.

    Attributes:
        done: the numbers of generations: "all", "valid", "not judged", and by kind, by writer and by budget.
        tokens: the number of tokens written.
        failures: the generations that failed, each with what was wrong.
        refused: the numbers of automata that could not be compiled, by kind and error.
    """

    done: Counter[str] = field(default_factory=Counter)
    tokens: int = 0
    failures: list[dict[str, Any]] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)

    def report(self) -> Iterator[str]:
        """Yield the lines to print."""
        total = self.done["all"]
        yield f"{total:,} generations of {self.tokens:,} tokens: {len(self.failures)} failed"
        yield f"  valid {self.done['valid']:,}, not judged {self.done['not judged']:,}"
        for name, number in sorted(self.done.items()):
            if ":" in name:
                yield f"  {name.replace(':', ' ')} {number:,}"
        for reason, number in self.refused.most_common():
            yield f"  not compiled: {reason} {number:,}"


def run(
    subjects: Sequence[Subject], count: int, vocabulary: Vocabulary, by_name: dict[str, Writer], seed: int = 0
) -> Result:
    """Make `count` generations, fewer if many constraints are refused; subjects take turns in a random order."""
    dice, result = np.random.default_rng(seed), Result()
    order: list[int] = []
    automata: dict[tuple[int, Kind], TokenAutomaton] = {}
    judges: dict[int, Judge] = {}
    attempts = 0
    while result.done["all"] < count and attempts < 4 * count:
        attempts += 1
        order = order or dice.permutation(len(subjects)).tolist()
        number = order.pop()
        subject = subjects[number]
        kind = subject.kinds[int(dice.integers(len(subject.kinds)))]
        try:
            if (number, kind) not in automata:
                automata[number, kind] = automaton_of(subject, kind, vocabulary)
        except TokenfstError as error:
            result.refused[f"{kind}, {type(error).__name__}"] += 1
            continue
        judge = judges.get(number) or judges.setdefault(number, subject.judge())
        _one(subject, kind, automata[number, kind], judge, by_name, dice, result)
        if len(subjects) > 100:
            automata.clear()
            judges.clear()
        if result.done["all"] % 100 == 0:
            print(next(result.report()), file=sys.stderr, flush=True)
    return result


def _one(
    subject: Subject,
    kind: Kind,
    automaton: TokenAutomaton,
    judge: Judge,
    by_name: dict[str, Writer],
    dice: np.random.Generator,
    result: Result,
) -> None:
    name = str(dice.choice(list(by_name)))
    least = automaton.min_tokens(automaton.start)
    budget = least + int(dice.choice(EXTRA))
    tokens, wrong = generate(automaton, by_name[name], budget, dice)
    text = automaton.text(tokens)
    verdict = None if wrong else judge(text)
    if verdict is False:
        wrong = "the text is not valid"
    result.tokens += len(tokens)
    result.done["all"] += 1
    for what in ("valid" if verdict else "not judged", f"kind:{kind}", f"writer:{name}"):
        result.done[what] += 1
    result.done["budget:none to spare"] += budget == least
    if wrong:
        made = {"subject": subject.name, "kind": kind, "writer": name, "budget": budget, "least": least}
        result.failures.append({**made, "wrong": wrong, "text": text.decode("utf-8", "replace"), "tokens": tokens})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("schemas", nargs="*", type=Path, help="files or directories of schemas")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--failures", type=Path, help="a file for the failures, one JSON object per line")
    options = parser.parse_args()
    # The modules that judge texts belong to the tests.
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "json_schema"))
    subjects = bundled_subjects()
    if options.schemas:
        from maskbench import schemas

        subjects = [schema_subject(name, schema) for name, schema, _ in schemas(options.schemas)]
    model, begun = ModelWriter(), time.process_time()
    by_name: dict[str, Writer] = {"model": model, **writers(model.vocabulary)}
    result = run(subjects, options.count, model.vocabulary, by_name, options.seed)
    print(f"{len(subjects):,} constraints, {time.process_time() - begun:,.0f} s")
    print(*result.report(), sep="\n")
    for failure in result.failures[:20]:
        print(failure)
    if options.failures:
        options.failures.write_text("".join(json.dumps(failure) + "\n" for failure in result.failures))
    sys.exit(bool(result.failures))


if __name__ == "__main__":
    main()
