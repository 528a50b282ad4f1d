"""Programs of the bundled grammar `python`: random walks over its automaton with a vocabulary of parts of programs,
what models write, and modules of the standard library.

    python tests/python_programs.py [--programs 1000] [--modules 1000] [--why]

writes 1,000 programs by random walks and 1,000 by models, gives them to `ast.parse`, and counts the modules that are
accepted token by token of the bundled model's vocabulary, by what the others are refused at.
"""

from __future__ import annotations

import argparse
import ast
import sysconfig
import warnings
from collections import Counter
from pathlib import Path
from random import Random

from program_walks import Walks, by_models, refused_at

import tokenfst
from decoding import bundled_model

# What ends a program soon, in the order in which it is tried.
_CLOSING = ["\n", ")", "]", "}", "'", '"', ":", "pass", " ", "x", "in", "import", "except", "else", "=", "}'", "    "]
_WITHOUT_SPACE = r"""
# 0 1 2.5 0x1f 1j 1_000 1e5 j _ a f x y name_1 self print match é α
+ - * / // % @ ** << >> & | ^ ~ < > <= >= == != += **= -> := , ; . ... ( [ { )] ]) \ " ''' f' f" f'' rb' b" u' r'
\x41 \n \N {x} {{ {x!r:>{y}} {x["a"]} if(x): f(x) as assert async await break class continue def del elif finally
for from global if is lambda None nonlocal not or and raise return True try while with yield False
"""
_WITH_SPACE = [
    *("\n    ", "\n        ", "\n\n", ":\n    ", ":\n        ", " \\\n", "\t", "  ", "\x0c", " # a comment\n", "):\n"),
    *("def f(", "class A:", "lambda x: ", " in ", " not in ", " is not ", " if ", " else ", " for x in ", "*, ", "**"),
    *("import a", "from . import ", "*x", "/, ", "async def ", "@x\n", "else:", "except:", "finally:", "try:\n", '"""'),
    *("with x as y", "return ", "yield from "),
]
WALKS = Walks("python", _CLOSING, [*_WITHOUT_SPACE.split(), *_WITH_SPACE])


def parses(text: bytes) -> bool:
    """Whether Python's own parser reads a text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(text.decode())
        except (SyntaxError, ValueError):
            return False
    return True


def modules(count: int, random: Random) -> list[bytes]:
    """Modules of the standard library that Python reads, in UTF-8 and with line feeds, drawn at random."""
    root = Path(sysconfig.get_paths()["stdlib"])
    paths = [path for path in sorted(root.rglob("*.py")) if "site-packages" not in path.parts]
    random.shuffle(paths)
    found: list[bytes] = []
    for path in paths:
        if len(found) == count:
            break
        text = path.read_bytes()
        try:
            text.decode()
        except UnicodeDecodeError:
            continue
        text = text.replace(b"\r\n", b"\n")
        if text and parses(text):
            found.append(text if text.endswith(b"\n") else text + b"\n")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--modules", type=int, default=1000)
    parser.add_argument("--why", action="store_true", help="show the line at which each module is refused")
    options = parser.parse_args()
    bad = [text for text in WALKS.programs(Random(0), options.programs, 80) if not parses(text)]
    print(f"{options.programs} programs by walks, of which {len(bad)} do not parse", *bad[:5], sep="\n")
    bad = [text for text in by_models(WALKS, options.programs, 0) if not parses(text)]
    print(f"{options.programs} programs by models, of which {len(bad)} do not parse", *bad[:5], sep="\n")
    tokenizer = bundled_model()[1]
    over = tokenfst.compile(WALKS.automaton, tokenfst.from_transformers(tokenizer))
    reasons: Counter[str] = Counter()
    texts = modules(options.modules, Random(0))
    for text in texts:
        ids = tokenizer.encode(text.decode(), add_special_tokens=False)
        place = refused_at(over, ids)
        if place is None:
            continue
        before = over.text(ids[:place])
        line = text[before.rfind(b"\n") + 1 :].split(b"\n")[0].decode()
        reasons[_reason(line)] += 1
        if options.why:
            print(f"{line.strip()[:100]!r} after {before[-20:]!r}")
    print(f"{len(texts)} modules, of which {len(texts) - sum(reasons.values())} are accepted; the others have")
    for reason, number in reasons.most_common(30):
        print(f"  {number:4} {reason}")


def _reason(line: str) -> str:
    indentation = len(line) - len(line.lstrip(" "))
    if indentation >= 28:
        return "a block in too many others"
    return f"a line with {line.split()[0]!r}" if line.split() and line.split()[0].isidentifier() else "another line"


if __name__ == "__main__":
    main()
