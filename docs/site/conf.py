"""The site: every page of the project, as it lies in the repository (`make docs`, built by Sphinx with MyST).

The source folder is the repository, so that a link that works there works here. README.md is the first page; the list
of pages at its side is made here, since README.md is read elsewhere too.
"""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]

project = "polyc"
author = "the polyc authors"
copyright = "the polyc authors"
extensions = ["myst_parser"]
root_doc = "README"
include_patterns = [
    "README.md",
    "docs/*.md",
    "docs/*/*.md",
    "benchmarks/README.md",
    "benchmarks/*/README.md",
    "polybench/README.md",
]
exclude_patterns = ["docs/site"]
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]
html_theme = "furo"
html_title = "polyc"
html_show_sphinx = False
html_copy_source = False
templates_path: list[str] = []
nitpicky = True

CHAPTERS = {
    "Start": [
        "docs/tutorial",
        "docs/not-faster",
        "docs/example/README",
        "docs/cli",
        "docs/cc",
        "docs/real-code",
        "docs/api",
        "docs/explain",
        "docs/coming-from",
    ],
    "Reference": ["docs/language", "docs/remarks", "docs/machines"],
    "How it works": [
        "docs/life-of-a-nest",
        "docs/architecture",
        "docs/algorithms/README",
        "docs/cpu",
        "docs/gpu",
        "docs/add-a-pass",
    ],
    "Algorithms": [
        f"docs/algorithms/{name}"
        for name in (
            "pretiling",
            "tile-shapes",
            "post-tiling",
            "several-outputs",
            "inlining",
            "time-tiles",
            "sums-of-products",
            "blocked",
            "windows",
        )
    ],
    "Trust and speed": [
        "docs/trust",
        "docs/performance",
        "benchmarks/README",
        "benchmarks/pipelines/README",
        "benchmarks/irregular/README",
        "polybench/README",
    ],
}
"""Titles of the list at the side, and its pages. A page that is in none fails the build."""


def contents() -> str:
    """The chapters as hidden tables of contents."""
    parts = []
    for title, pages in CHAPTERS.items():
        there = "\n".join(page for page in pages if (ROOT / f"{page}.md").exists())
        parts.append(f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n{there}\n```\n")
    return "".join(parts)


def folder_links(text: str, folder: Path) -> str:
    """Links to folders lead to their README.md; where there is none, only their text is left."""

    def lead(match: re.Match[str]) -> str:
        target = folder / match[2]
        if not target.is_dir():
            return match[0]
        return f"[{match[1]}]({match[2].rstrip('/')}/README.md)" if (target / "README.md").exists() else match[1]

    return re.sub(r"\[([^\]\n]*)\]\(([^)\s#:]+)\)", lead, text)


def prepare(app: Sphinx, name: str, source: list[str]) -> None:
    source[0] = folder_links(source[0], (ROOT / name).parent)
    if name == root_doc:
        source[0] += contents()


def setup(app: Sphinx) -> None:
    app.connect("source-read", prepare)
