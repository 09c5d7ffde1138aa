"""What long work shows of itself: a bar on a terminal, lines elsewhere, both on standard error; nothing with `-q`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

SHORT = 2
"""Work of fewer steps shows nothing: it is over before anybody wonders."""


class Progress:
    """Steps of one piece of work, with how many there are.

    quiet: show nothing (`-q`); lines: whether each step has a line where there is no terminal.
    """

    def __init__(self, title: str, total: int, quiet: bool = False, lines: bool = True) -> None:
        self.title = title
        self.total = total
        self.done = 0
        self.lines = lines
        self.shown = not quiet and total >= SHORT
        self.bar: Bar | None = None

    def __enter__(self) -> Progress:
        if self.shown and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
            from rich.progress import Progress as Bar

            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
            self.bar = Bar(*columns, console=Console(stderr=True), transient=True)
            self.bar.start()
            self.bar.add_task(self.title, total=self.total)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.bar is not None:
            self.bar.stop()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """No bar meanwhile: something else is written to the terminal."""
        if self.bar is not None:
            self.bar.stop()
        try:
            yield
        finally:
            if self.bar is not None:
                self.bar.start()

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """One step: named while it runs, counted when it ends, in whatever way."""
        if self.bar is not None:
            self.bar.update(self.bar.task_ids[0], description=f"{self.title} {name}")
        elif self.shown and self.lines:
            print(f"[{self.done + 1}/{self.total}] {self.title} {name}", file=sys.stderr, flush=True)
        try:
            yield
        finally:
            self.done += 1
            if self.bar is not None:
                self.bar.advance(self.bar.task_ids[0])
