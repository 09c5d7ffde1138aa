"""What people read at a terminal has colours; what goes into a file or a pipe is the same text without them."""

from __future__ import annotations

import os
import re
import shutil
import sys
from typing import TYPE_CHECKING

from polyc.cli import output

if TYPE_CHECKING:
    from rich.text import Text

LEAST = 60
"""Columns below which lines are left to the terminal."""
STYLES = (
    (r"^\S.*$", "bold"),  # a region
    (r"^  (?:(?!lines? \d)[a-z].*|What was .*|Its loops)$", "cyan"),  # a section of it
    (r"^  lines? [\d-]+", "bold"),  # a nest
    (r"\[[a-z-]+(?:, [\w-]+)?\](?:$|(?=, ))", "dim"),  # the code of a remark
    (r"^      (?:To do|Since|Numbers):?", "bold"),
    (r"^Why: .*$", "not bold dim"),
    (r"\b(?:NOT verified|NOT checked|MISSING|not found|[nN]ot fused|[nN]ot tiled|[nN]ot parallel)\b", "yellow"),
    (r"\bverified\b(?!\))", "green"),
)


WIDTH = 100
"""Columns of what goes into a file or a pipe."""


def width() -> int:
    """Columns to fill: those of the terminal, or as COLUMNS says."""
    fallback = (WIDTH, 24)
    if sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit():
        return max(shutil.get_terminal_size(fallback).columns, LEAST)
    return WIDTH


def show(text: str) -> None:
    """Write the text to standard output: in colours where it is a terminal that has them."""
    if not sys.stdout.isatty():
        output.write(output.STDOUT, text)
        return
    from rich.console import Console

    Console(soft_wrap=True, highlight=False, markup=False, emoji=False).print(coloured(text), end="")


def coloured(text: str) -> Text:
    from rich.text import Text

    found = Text(text)
    for pattern, style in STYLES:
        found.highlight_regex(re.compile(pattern, re.MULTILINE), style)
    return found
