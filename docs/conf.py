"""Builds the site: `make docs`.

Sphinx reads the pages where they are, in `docs/` and `notebooks/`, so that the same files are valid on a repository's
web page. MyST reads Markdown, myst-nb shows notebooks with the outputs that they are kept with and runs none, and
autodoc takes the reference from docstrings. The build checks links and anchors: every warning is an error there. What
comes out needs no server, and nothing from elsewhere.

Rejected: MkDocs with Material, which takes a plugin each for docstrings, notebooks and search without a server; pages
that are generated and committed.
"""

from __future__ import annotations

import posixpath
import re
import sys
from pathlib import Path
from typing import Any

from docutils import nodes

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

project = "tokenfst"
author = "the authors of tokenfst"

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode", "sphinx_copybutton"]
include_patterns = ["docs/**", "notebooks/*.ipynb", "CONTRIBUTING.md"]
exclude_patterns = [
    "**/.ipynb_checkpoints",
    ".*",
    "build",
    "native",
    "tests",
    "engine_tests",
    "benchmarks",
    "docs/root",
]
root_doc = "docs/index"
# Sites are opened at their root, and pages are below docs/.
html_extra_path = ["root"]

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
nb_execution_mode = "off"

autodoc_member_order = "bysource"
# Engines are not installed where the site is built.
autodoc_mock_imports = ["llama_cpp", "mlx", "mlx_lm"]
napoleon_use_ivar = True
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
default_role = "py:obj"

html_theme = "furo"
html_title = "tokenfst"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_show_copyright = False
pygments_style = "friendly"
pygments_dark_style = "github-dark"

# Prompts and outputs are left behind.
copybutton_prompt_text = r">>> |\.\.\. ?|\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True

# Code may continue in the next line.
QUOTED = re.compile(r"(?<!`)`([^`\n]+(?:\n[^`\n]+)?)`(?![`_])")
FILE_NAME = re.compile(r"(?:\.\./)?(?:docs/|notebooks/)?[\w-]+\.(?:md|ipynb)")


def as_restructured_text(_app: Any, what: str, _name: str, _object: Any, _options: Any, lines: list[str]) -> None:
    """Rewrite a docstring in place: code in backticks is quoted twice, except for names, which become links.

    The docstrings of packages are left out. They are tables for readers of the source, and pages say what is in them.
    """
    if what == "module":
        lines.clear()
    lines[:] = QUOTED.sub(_quoted, "\n".join(lines)).split("\n")


def _quoted(found: re.Match[str]) -> str:
    quoted = found[0] if found[1].replace(".", "_").isidentifier() else f"`{found[0]}`"
    # A letter may follow at once, as in a plural, and has to be set apart.
    return quoted + "\\ " * found.string[found.end() : found.end() + 1].isalnum()


def returns_without_types(_app: Any, _what: str, _name: str, _object: Any, _options: Any, lines: list[str]) -> None:
    """Mark what is returned as having no type of its own, before napoleon takes the text up to a colon for one."""
    for index, line in enumerate(lines[:-1]):
        if line.strip() in ("Returns:", "Yields:"):
            text = lines[index + 1]
            lines[index + 1] = text.replace(text.lstrip(), f": {text.lstrip()}")


def skipped(_app: Any, _what: str, _name: str, member: Any, skip: bool, _options: Any) -> bool | None:
    """Skip the fields of named tuples, which the docstring of the class describes."""
    return True if (getattr(member, "__doc__", None) or "").startswith("Alias for field number") else None


def without_last_blank_lines(_app: Any, _page: str, content: list[str]) -> None:
    """Drop the blank line that ends the last output of a session for `doctest`."""
    content[0] = content[0].replace("\n\n```\n", "\n```\n")


def with_titles(app: Any, doctree: nodes.document, page: str) -> None:
    """Show the title of a page where a link has the name of its file as its text; and call attributes by their name."""
    for link in doctree.findall(nodes.reference):
        path = link.get("refuri", "").partition("#")[0]
        target = posixpath.normpath(posixpath.join(posixpath.dirname(page), path)).removesuffix(".html")
        if FILE_NAME.fullmatch(link.astext()) and target in app.env.titles:
            link.children = [nodes.Text(app.env.titles[target].astext())]
    for name in doctree.findall(nodes.field_name):
        if name.astext() == "Variables":
            name.children = [nodes.Text("Attributes")]


def setup(app: Any) -> None:
    """Connect the hooks."""
    app.connect("autodoc-process-docstring", returns_without_types, priority=400)
    app.connect("autodoc-process-docstring", as_restructured_text)
    app.connect("autodoc-skip-member", skipped)
    app.connect("source-read", without_last_blank_lines)
    app.connect("doctree-resolved", with_titles)
