"""Programs of the bundled grammar `rust`: random walks over its automaton with a vocabulary of parts of programs, what
models write, and files of source code in a folder.

    python tests/rust_programs.py [--programs 1000] [--corpus FOLDER] [--files 1000] [--rustc] [--why]

writes 1,000 programs by random walks and 1,000 by models, gives them to tree-sitter's parser of Rust (and to `rustc`
itself, told to be a nightly one, with the edition 2024), and counts the files in the folder that are accepted token by
token of the bundled model's vocabulary.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from random import Random

import tree_sitter
import tree_sitter_rust
from program_walks import Walks, by_models, refused_at

import tokenfst
from decoding import bundled_model

# What ends a program soon, in the order in which it is tried.
_CLOSING = [
    *(")", "]", "}", "'", '"', ";", ">", ",", "=>", "{", "{}", "=", ": ", "x", "1", " ", "*/", "\n", "fn ", "("),
]
_WITHOUT_SPACE = r"""
# ## #! #[ #![ 0 1 2.5 0x1f 0b1 0o7 1_000 1e5 1. 1.x 0.. 1..= 1u8 2f64 _ a f x y name_1 r#if r# 'a 'a' '_ 'static ' "
b' b" r" r#" "# br" c" \n \x41 \u{41} \\ \ é α + - * / % ^ & | && || ! << >> = += == != < > <= >= <- -> => .. ..= ... .
, ; : :: ? @ $ $x $x:expr $( ( ) [ ] { } x: x! m!( m!{ m![ <x> ::<x> <x Vec<u8> self Self super crate &self if let
match while loop for in as else return break continue fn struct enum impl trait mod use pub const static mut ref move
unsafe async await dyn where type union extern true false macro_rules! // /* */ /// //! /**
"""
_WITH_SPACE = [
    *("\n", "\t", "  ", " // a comment\n", "/// a\n", "//! a\n", "/* a */", "if x ", "if let ", " else {"),
    *(" else if ", "match x {", "while x {", "for x in ", "loop {", "return ", "break ", "let x = ", "let mut "),
    *(" as u8", " as ", "fn f(", "fn f() {", ") -> ", "pub ", "pub(crate) ", "struct A", "enum A {", "impl A for "),
    *("impl<T> ", "trait A {", "mod a {", "use a::", "const X: ", "static X: ", "type A = ", "where T: ", "unsafe "),
    *("async move {", 'extern "C" ', "&mut ", "&'a ", "*const ", "dyn ", "impl ", "mut ", "ref ", " if ", " < "),
    *(" > ", " == ", " && ", " || ", " = ", "|x| ", "move |x, y| ", "x => ", "_ => {}", ", ", "; ", ": "),
    *("macro_rules! m { (", ") => {", "),*", "in ", "fn("),
]
WALKS = Walks("rust", _CLOSING, [*_WITHOUT_SPACE.split(), *_WITH_SPACE])


@cache
def _parser() -> tree_sitter.Parser:
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_rust.language()))


def parses(text: bytes) -> bool:
    """Whether tree-sitter reads a text without an error.

    Within comments it takes a character for the last byte of its number, so that some are a star. It is given one
    letter for all beyond ASCII, which only strings and comments have.
    """
    plain = re.sub(r"[^\x00-\x7f]", "é", text.decode())
    return not _parser().parse(plain.encode()).root_node.has_error


def compiler_error(text: bytes) -> str | None:
    """What Rust's own compiler says of a text that it cannot parse, None if it can."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "program.rs"
        file.write_bytes(text)
        run = subprocess.run(
            ["rustc", "--edition", "2024", "-Zparse-crate-root-only", str(file)],
            env={**os.environ, "RUSTC_BOOTSTRAP": "1"},
            capture_output=True,
            text=True,
        )
    return run.stderr if run.returncode else None


def has_compiler() -> bool:
    """Whether there is a compiler that reads the edition 2024."""
    return shutil.which("rustc") is not None and compiler_error(b"") is None


def source_files(folder: Path, count: int, random: Random) -> list[tuple[Path, bytes]]:
    """Files of Rust that tree-sitter reads, in UTF-8 and with line feeds, drawn at random from a folder."""
    paths = sorted(folder.rglob("*.rs"))
    random.shuffle(paths)
    found: list[tuple[Path, bytes]] = []
    for path in paths:
        if len(found) == count:
            break
        text = path.read_bytes().replace(b"\r\n", b"\n")
        try:
            text.decode()
        except UnicodeDecodeError:
            continue
        if text and parses(text):
            found.append((path, text))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--corpus", type=Path, help="a folder with files of Rust, searched to any depth")
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rustc", action="store_true", help="ask the compiler as well")
    parser.add_argument("--why", action="store_true", help="show where each file is refused")
    options = parser.parse_args()
    written = list(WALKS.programs(Random(options.seed), options.programs, 80))
    written += by_models(WALKS, options.programs, options.seed)
    bad = [text for text in written if not parses(text)]
    print(f"{len(written)} programs, of which tree-sitter does not read {len(bad)}", *bad[:30], sep="\n")
    if options.rustc:
        errors = [(text, error) for text in written if (error := compiler_error(text)) is not None]
        print(
            f"the compiler does not read {len(errors)}",
            *(f"{text!r}\n{error}" for text, error in errors[:30]),
            sep="\n",
        )
    if options.corpus is not None:
        _judge_files(source_files(options.corpus, options.files, Random(options.seed)), options.why)


def _judge_files(files: list[tuple[Path, bytes]], why: bool) -> None:
    tokenizer = bundled_model()[1]
    over = tokenfst.compile(WALKS.automaton, tokenfst.from_transformers(tokenizer))
    accepted = 0
    for path, text in files:
        ids = tokenizer.encode(text.decode(), add_special_tokens=False)
        place = refused_at(over, ids)
        accepted += place is None
        if why and place is not None:
            before = over.text(ids[:place])
            line = text[before.rfind(b"\n") + 1 :].split(b"\n")[0].decode()
            print(f"{line.strip()[:100]!r} after {before[-20:]!r} in {path}")
    print(f"{len(files)} files, of which {accepted} are accepted")


if __name__ == "__main__":
    main()
