"""The official JSON Schema Test Suite: groups of cases by draft, and the documents that its references lead to.

The suite is not ours to keep here. It comes from the source distribution of the `jsonschema` package, which carries it
and which pip fetches once into `.cache` of the checkout; it is never installed. That is one version, known by its
digest, and the tests are about its cases. Where nothing can be fetched, TOKENFST_JSON_SCHEMA_SUITE names a folder that
has the same (the one with `tests` and `remotes` in it).

    Case    a value, and whether the schema of its group holds for it
    Group   a schema with its cases
    groups  all of a draft, those of `optional` and `optional/format` included
    remote  the document at a URI: a `Resolver`

A case goes by its name: the file, the group, and the case. A file may use the same words twice; then the later ones are
numbered.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from jsonschema_specifications import REGISTRY

VERSION: Final = "4.26.0"
DIGEST: Final = "0c26707e2efad8aa1bfc5b7ce170f3fccc2e4918ff85989ba9ffa9facb2be326"
FOLDER: Final = "TOKENFST_JSON_SCHEMA_SUITE"
CACHE: Final = Path(__file__).resolve().parents[2] / ".cache"
DRAFTS: Final = ("draft4", "draft6", "draft7", "draft2019-09", "draft2020-12")
SERVER: Final = "http://localhost:1234/"


@dataclass(frozen=True, slots=True)
class Case:
    """A value; `valid`: the schema holds for it. `name` is unique in the draft."""

    name: str
    data: Any
    valid: bool


@dataclass(frozen=True, slots=True)
class Group:
    """A schema and its cases; `file` is the path in the draft's folder, without `.json`."""

    file: str
    schema: Any
    cases: tuple[Case, ...]


@cache
def suite() -> Path:
    """The folder with `tests` and `remotes` in it.

    Raises:
        RuntimeError: there is no folder of that name, or the package cannot be fetched.
    """
    if given := os.environ.get(FOLDER):
        path = Path(given)
        if not (path / "tests").is_dir():
            raise RuntimeError(f"{FOLDER} is {given!r}, which has no folder `tests`")
        return path
    path = CACHE / f"jsonschema-{VERSION}" / "json"
    if not path.is_dir():
        _fetch()
    return path


def _fetch() -> None:
    """Fetches and unpacks the suite; the folder appears at once and whole."""
    CACHE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        name = f"jsonschema-{VERSION}"
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", "jsonschema"]
        done = subprocess.run(
            [*pip, f"jsonschema=={VERSION}", "--dest", folder], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(
                f"pip cannot fetch {name}, which carries the official suite; {FOLDER} may name a folder instead:\n"
                f"{done.stderr}"
            )
        archive = Path(folder) / f"{name}.tar.gz"
        digest = hashlib.sha256(archive.read_bytes()).hexdigest()
        if digest != DIGEST:
            raise RuntimeError(f"{archive.name} has the digest {digest}, not {DIGEST}")
        with tarfile.open(archive) as tar:
            # The filter is the default from 3.14 on, and is not known before 3.11.4.
            options: Any = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
            tar.extractall(folder, **options)
        try:
            (Path(folder) / name).rename(CACHE / name)
        except OSError:
            if not (CACHE / name / "json").is_dir():  # otherwise another process was faster
                raise


@cache
def groups(draft: str) -> tuple[Group, ...]:
    """All groups of a draft, in the order of files and in them."""
    folder, seen = suite() / "tests" / draft, Counter[str]()
    return tuple(
        _group(path.relative_to(folder).with_suffix("").as_posix(), entry, seen)
        for path in sorted(folder.rglob("*.json"))
        for entry in json.loads(path.read_text("utf-8"))
    )


def _group(file: str, entry: dict[str, Any], seen: Counter[str]) -> Group:
    def cases() -> Iterator[Case]:
        for case in entry["tests"]:
            name = f"{file}: {entry['description']}: {case['description']}"
            seen[name] += 1
            yield Case(name if seen[name] == 1 else f"{name} #{seen[name]}", case["data"], case["valid"])

    return Group(file, entry["schema"], tuple(cases()))


def remote(uri: str) -> Any:
    """The document at a URI that the suite expects to be served, or one of the specification's own.

    Raises:
        LookupError: there is none.
    """
    if uri.startswith(SERVER):
        path = suite() / "remotes" / uri.removeprefix(SERVER)
        if path.is_file():
            return json.loads(path.read_text("utf-8"))
    elif (resource := REGISTRY.get(uri)) is not None:
        return resource.contents
    raise LookupError(uri)
