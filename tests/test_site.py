"""The site can be built from the pages: the navigation has each, links and anchors lead somewhere, and the reference
has every public name.

`make docs` checks the same with the generator. This needs nothing but the files, so it runs with all other tests.
"""

from __future__ import annotations

import importlib
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
SITE = sorted([*DOCS.rglob("*.md"), *(ROOT / "notebooks").glob("*.ipynb"), ROOT / "CONTRIBUTING.md"])
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]

FENCED = re.compile(r"^(```+|~~~+).*?^\1`*$", re.MULTILINE | re.DOTALL)
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)$", re.MULTILINE)
HEADING = re.compile(r"^#{1,6} (.*)$", re.MULTILINE)
DIRECTIVE = re.compile(r"^\.\. auto\w+:: (\w+)$", re.MULTILINE)


def prose(text: str) -> str:
    """A page without its blocks of code."""
    return FENCED.sub("", text)


def slug(heading: str) -> str:
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@cache
def anchors(path: Path) -> frozenset[str]:
    """All anchors of a page; of equal headings, the second has a number."""
    seen: Counter[str] = Counter()
    found = []
    for heading in HEADING.findall(prose(path.read_text("utf-8"))):
        name = slug(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading))
        found.append(f"{name}-{seen[name]}" if seen[name] else name)
        seen[name] += 1
    return frozenset(found)


def broken(path: Path, text: str) -> list[str]:
    """The relative links of a text, as one in the place of a page, that lead nowhere."""
    found = []
    for groups in LINK.findall(CODE.sub("", prose(text))):
        link = groups[0] or groups[1]
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            found.append(link)
    return found


def entries(path: Path) -> list[Path]:
    """The pages that the tables of contents of a page list, in order."""
    found: list[Path] = []
    for block in TOCTREE.findall(path.read_text("utf-8")):
        for entry in (line for line in block.split("\n") if line and not line.startswith(":")):
            # An entry may have a title of its own: `title <page>`.
            name = re.sub(r"^.*<(.*)>$", r"\1", entry)
            pages = sorted(page.resolve() for page in path.parent.glob(f"{name}.*"))
            pages = [page for page in pages if page in SITE]
            assert pages, f"{entry!r} in {path.name} is not a page"
            found += pages
    return found


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    assert broken(path, path.read_text("utf-8")) == []


def test_the_check_of_links_finds_what_is_broken() -> None:
    text = (
        "[a](nowhere.md) [b](design.md#nowhere) [c](#nowhere) [d](design.md#limits) [e](https://x.org) `[f](g.md)`\n"
        "\n```\n[h](i.md)\n```\n\n[k]: j.md\n"
    )
    assert broken(DOCS / "index.md", text) == ["nowhere.md", "design.md#nowhere", "#nowhere", "j.md"]


def test_anchors_are_those_of_github() -> None:
    assert slug("JSON: `typed`") == "json-typed"
    assert slug("A whole loop, and more") == "a-whole-loop-and-more"
    assert slug("Masks on the device (GPU)") == "masks-on-the-device-gpu"


def test_every_page_is_in_the_navigation_once() -> None:
    root = DOCS / "index.md"
    listed = [root]
    # Pages are added while they are gone through.
    for page in listed:
        listed += entries(page) if page.suffix == ".md" else []
    assert sorted(listed) == SITE


@pytest.mark.parametrize("package", ["automata", "tokenfst", "constraints", "decoding"])
def test_the_reference_has_every_public_name_once(package: str) -> None:
    names = DIRECTIVE.findall((DOCS / "reference" / f"{package}.md").read_text("utf-8"))
    assert sorted(names) == sorted(importlib.import_module(package).__all__)


def test_the_comparison_counts_as_the_table_does() -> None:
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in (DOCS / "json-schema.md").read_text("utf-8").split("## Keyword by keyword")[1].splitlines()
        if line.startswith("| `")
    ]
    order = ("exact", "refuses the schema", "accepts invalid", "refuses valid")
    text = (DOCS / "comparison.md").read_text("utf-8")
    assert f"of {len(rows)} cases" in text
    for column, engine in enumerate(("tokenfst", "llguidance", "XGrammar", "outlines-core"), 1):
        found = Counter(next(verdict for verdict in order if verdict in row[column]) for row in rows)
        assert f"| {engine} | {' | '.join(str(found[verdict]) for verdict in order)} |" in text, engine
