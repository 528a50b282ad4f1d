"""Large counts, lists, substrings and Unicode classes over a real vocabulary, side by side with other engines.

    python benchmarks/large.py [--vocab FILE] [--seconds N] [--only WORD] [--output DIR]

Names, identifiers and texts are made up, and the same in every run. A list of names has different pairs of one of 5,000
first names and one of 100,000 last names; identifiers are random numbers of 8 digits. The texts for substrings consist
of made-up words, whose frequencies fall with their rank, as those of words in real texts do.

Each row is one engine and one constraint in a process of its own with a time limit, so an engine that cannot handle a
constraint costs no more than the limit. Compilation is timed once, in seconds of processor time, after two other
constraints have warmed up whatever is compiled or loaded on first use: the list of 7 colours, and the same constraint
with a smaller bound, list or text. Memory is how far compilation raises the process's peak. "token" is the time for a
mask and an advance together, by the clock, the median over 200 texts; "first" is the same for the first pass over the
texts, which visits most states for the first time. This project gets lists through `choice`, the other engines as
alternations in a regular expression. llguidance has substrings of its own; outlines-core and xgrammar have none, so
they get no row for them.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("RAYON_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

ENGINES = ("tokenfst", "outlines-core", "xgrammar", "llguidance")
CASES = (
    "7 colours",
    "100,000 names",
    "1,000,000 names",
    "100,000 identifiers",
    "1,000,000 identifiers",
    "names in an object, 100,000",
    "names in an object, 1,000,000",
    "substring of 100,000 bytes",
    "substring of 1,000,000 bytes",
    "words of 100,000 bytes",
    "words of 1,000,000 bytes",
    "quoted text, at most 1,000",
    "quoted text, at most 100,000",
    "JSON string, at most 100,000",
    "words, at most 500",
    "letters, at least 50,000",
    "Unicode letters",
    "Unicode name",
)
# Patterns that all engines are given, by name; `#` is the bound.
PATTERNS = {
    "quoted text": '"[^"]{0,#}"',
    "JSON string": r'"([^"\\\x00-\x1f]|\\(["\\/bfnrt]|u[0-9a-f]{4})){0,#}"',
    "words, at most": "([A-Za-z0-9_]+ ){1,#}",
    "letters, at least": "[a-z]{#,100000}",
    "Unicode letters": r"[\p{L}\p{M}]+",
    "Unicode name": r"\p{Lu}\p{Ll}+([ -]\p{Lu}\p{Ll}+)*",
}
WITHOUT_SUBSTRINGS = ("outlines-core", "xgrammar")
COLOURS = ["Red", "Orange", "Yellow", "Green", "Blue", "Indigo", "Violet"]
SAMPLES = 200


def main() -> None:
    options = _options()
    if options.row:
        engine, case = options.row
        print(json.dumps(_row(engine, case, options.vocab)))
        return
    lines = ["| constraint | engine | compile, s | memory, MiB | token, µs | first, µs |", "|---|---|--:|--:|--:|--:|"]
    print("\n".join(lines), flush=True)
    rows = []
    for case in CASES:
        for engine in ENGINES:
            if options.only not in case or (engine in WITHOUT_SUBSTRINGS and _is_substring(case)):
                continue
            rows.append(_in_process(engine, case, options))
            lines.append(_line(rows[-1]))
            print(lines[-1], flush=True)
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "large.txt").write_text("\n".join(lines) + "\n")
    (options.output / "large.json").write_text(json.dumps(rows, indent=2) + "\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--vocab", type=Path, help="a vocabulary file; default: Tekken's, from mistral-common")
    parser.add_argument("--seconds", type=float, default=120, help="the time limit of each row")
    parser.add_argument("--only", default="", metavar="WORD", help="only constraints whose names contain this word")
    parser.add_argument("--output", type=Path, default=Path("benchmarks/results"), metavar="DIR")
    parser.add_argument("--row", nargs=2, metavar=("ENGINE", "CONSTRAINT"), help="measure one row and print it as JSON")
    return parser.parse_args()


def _in_process(engine: str, case: str, options: argparse.Namespace) -> dict[str, Any]:
    """Measure a row in a new process, and return it; if that fails, the row has the reason under "failed"."""
    command = [sys.executable, __file__, "--row", engine, case]
    if options.vocab:
        command += ["--vocab", str(options.vocab)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=options.seconds, check=False)
    except subprocess.TimeoutExpired:
        return {"case": case, "engine": engine, "failed": f"not finished in {options.seconds:g} s"}
    if done.returncode == 0:
        return dict(json.loads(done.stdout.splitlines()[-1]))
    reason = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
    return {"case": case, "engine": engine, "failed": reason[:80]}


def _line(row: dict[str, Any]) -> str:
    if "failed" in row:
        return f"| {row['case']} | {row['engine']} | {row['failed']} | | | |"
    return (
        f"| {row['case']} | {row['engine']} | {row['compile']:.2f} | {row['memory']:.0f} "
        f"| {row['token']:.1f} | {row['first']:.1f} |"
    )


# One row


def _row(name: str, case: str, vocab: Path | None) -> dict[str, Any]:
    from engines import LLGuidance, Outlines, TokenFst, XGrammar, tokenize
    from table2 import _vocabulary

    vocabulary = _vocabulary(vocab)
    engines = {"tokenfst": TokenFst, "outlines-core": Outlines, "xgrammar": XGrammar, "llguidance": LLGuidance}
    made: Any = engines[name](vocabulary)
    # With a bound of 20, tokenfst would use no counters and not warm them up; with 400, other engines would take long.
    for warm_up in (_constraint(case, 400 if name == "tokenfst" else 20), _constraint("7 colours", 7)):
        made.run(_compile(name, made, warm_up), [])
    constraint = _constraint(case, None)
    texts = [tokenize(vocabulary, text) for text in constraint["samples"]]
    before, began = _peak(), time.process_time()
    compiled = _compile(name, made, constraint)
    row = {"case": case, "engine": name, "compile": time.process_time() - began, "memory": _peak() - before}
    return row | {"first": _per_token(name, made, compiled, texts), "token": _per_token(name, made, compiled, texts)}


def _peak() -> float:
    """Return the peak of the process's resident memory so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _per_token(name: str, engine: Any, compiled: Any, texts: list[list[int]]) -> float:
    times = []
    for text in texts:
        fresh = compiled.deep_copy() if name == "llguidance" else compiled
        began = time.perf_counter()
        engine.run(fresh, text)
        times.append((time.perf_counter() - began) / (len(text) + 1) * 1e6)
    return statistics.median(times)


def _compile(name: str, engine: Any, constraint: dict[str, Any]) -> Any:
    """Compile a pattern, a list of strings with the text around them, or the substrings of a text, for an engine."""
    before, after = constraint["around"]
    if "pattern" in constraint:
        if name == "llguidance":
            return _llguidance(engine, engine.module.LLMatcher.grammar_from_regex(constraint["pattern"]))
        return engine.compile(constraint["pattern"])
    if "text" in constraint:
        if name == "tokenfst":
            from automata.expressions.extensions import substring_of

            return engine.compile(substring_of(constraint["text"], words=constraint["words"]))
        kind = "substring_words" if constraint["words"] else "substring_chars"
        grammar = f"start: SUBSTRING\nSUBSTRING: %regex {json.dumps({kind: constraint['text']})}"
        return _llguidance(engine, engine.module.LLMatcher.grammar_from_lark(grammar))
    if name == "tokenfst":
        from automata import concat
        from constraints import choice

        return engine.compile(concat(before, choice(constraint["strings"]), after))
    pattern = f"{re.escape(before)}({'|'.join(map(re.escape, constraint['strings']))}){re.escape(after)}"
    if name == "llguidance":
        return _llguidance(engine, engine.module.LLMatcher.grammar_from_regex(pattern))
    return engine.compile(pattern)


def _llguidance(engine: Any, grammar: Any) -> Any:
    """Return the matcher of a grammar, or exit with llguidance's error, which it reports only when asked."""
    matcher = engine.module.LLMatcher(engine.tokenizer, grammar)
    if matcher.is_error():
        raise SystemExit(matcher.get_error().splitlines()[0])
    return matcher


# Constraints


def _is_substring(case: str) -> bool:
    return case.startswith(("substring", "words of"))


def _constraint(case: str, size: int | None) -> dict[str, Any]:
    """Return the constraint with this name, and texts for it.

    Args:
        case: one of `CASES`.
        size: the bound of a pattern, the length of a list, or the bytes of a text; None for what the name says.
    """
    for name, pattern in PATTERNS.items():
        if case.startswith(name):
            return _pattern(name, pattern, str(size) if size else case.split()[-1].replace(",", ""))
    counts = re.findall(r"[\d,]*\d", case)
    count = size or int(counts[-1].replace(",", ""))
    generator = random.Random(17)
    if _is_substring(case):
        text = _text(count)
        starts = [generator.randrange(max(len(text) - 60, 1)) for _ in range(SAMPLES)]
        pieces = [text[start : start + 60] for start in starts]
        if case.startswith("words"):
            pieces = [" ".join(piece.split(" ")[1:-1]) for piece in pieces]
        return {"text": text, "words": case.startswith("words"), "samples": pieces, "around": ("", "")}
    around = ('{"name": "', '"}') if "object" in case else ("", "")
    make: Callable[[int], list[str]] = _names if "names" in case else _identifiers
    listed = COLOURS if "colours" in case else make(count)
    chosen = [generator.choice(listed) for _ in range(SAMPLES)]
    return {"strings": listed, "samples": [around[0] + text + around[1] for text in chosen], "around": around}


def _pattern(name: str, pattern: str, bound: str) -> dict[str, Any]:
    """Return a pattern with a bound, and texts that match it or are the beginning of a match."""
    generator = random.Random(17)
    words = _words(1_000, generator)
    if name.startswith("Unicode"):
        words += ["Größe", "Ωμέγα", "слово", "naïve", "東京"]
    texts = [" ".join(generator.choices(words, k=12)) for _ in range(SAMPLES)]
    if name in ("quoted text", "JSON string"):
        texts = [f'"{text}"' for text in texts]
    elif name == "words, at most":
        texts = [re.sub("[^a-z ]", "", text) + " " for text in texts]
    elif name == "Unicode name":
        texts = [" ".join(word for word in text.split() if re.fullmatch("[a-z]{2,}", word)).title() for text in texts]
    else:
        texts = [re.sub("[^a-z]", "", text) for text in texts]
    return {"pattern": pattern.replace("#", bound), "samples": texts, "around": ("", "")}


def _pairs(text: str) -> list[str]:
    """Return the characters of a text, two at a time, without spaces."""
    return [text[at : at + 2].strip() for at in range(0, len(text), 2)]


def _words(count: int, generator: random.Random) -> list[str]:
    """Return different made-up words of two or three syllables."""
    onsets = _pairs("b c d f g h j k l m n p r s t v w z brchclcrdrflfrglgrkrphplprshslsnspstthtr")
    nuclei = _pairs("a e i o u a e i o y aiaueaeeeiieoooué ö ")
    codas = ["", "", "", "", "", "", "n", "r", "s", "l", "t", "nd", "rt", "ck", "m", "ng", "x"]

    def syllable() -> str:
        return generator.choice(onsets) + generator.choice(nuclei) + generator.choice(codas)

    found: dict[str, None] = {}
    while len(found) < count:
        found["".join(syllable() for _ in range(generator.choice((2, 2, 3))))] = None
    return list(found)


def _names(count: int) -> list[str]:
    generator = random.Random(1)
    first, last = ([word.capitalize() for word in _words(number, generator)] for number in (5_000, 100_000))
    found: dict[str, None] = {}
    while len(found) < count:
        found[f"{generator.choice(first)} {generator.choice(last)}"] = None
    return sorted(found)


def _identifiers(count: int) -> list[str]:
    return [f"{number:08}" for number in sorted(random.Random(2).sample(range(10**8), count))]


def _text(size: int) -> str:
    """Return about `size` bytes of words whose frequencies fall with their rank, with commas and full stops."""
    generator = random.Random(3)
    words = _words(20_000, generator)
    weights = [1 / (rank + 3) for rank in range(len(words))]
    chosen = generator.choices(words, weights, k=size // 4)
    ends = generator.choices(("", ",", "."), (10, 1, 1), k=len(chosen))
    text = " ".join(word + end for word, end in zip(chosen, ends, strict=True))
    return text.encode()[:size].decode(errors="ignore")


if __name__ == "__main__":
    main()
