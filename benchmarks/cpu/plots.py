"""Plots as SVG: for each number of threads the speed-up over gcc, and the share of the roofline.

Written by a template, no plotting library. The colours change with the reader's light or dark scheme.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from .results import BASE, KernelResult, Results, geometric_mean
from .table import status

LABEL_WIDTH, PLOT_WIDTH, RIGHT = 130, 640, 60
BAR, GAP, TOP, BOTTOM = 8, 10, 92, 34
MOST_SHARE = 1.4
"""Where a plot of shares ends. More than 1 means that a cache gave what the roofline expects from further out."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar from x to x + width, in pixels; `note` stands beside it."""

    y: float
    x: float
    width: float
    series: str
    note: str


@dataclass(frozen=True, slots=True)
class Axis:
    """Where values lie. base: the value that bars start from."""

    least: float
    most: float
    base: float
    ticks: list[tuple[float, str]]
    logarithmic: bool

    def x(self, value: float) -> float:
        value = min(max(value, self.least), self.most)
        if self.logarithmic:
            part = math.log(value / self.least) / math.log(self.most / self.least)
        else:
            part = (value - self.least) / (self.most - self.least)
        return round(LABEL_WIDTH + PLOT_WIDTH * part, 1)


Row = tuple[str, dict[str, tuple[float | None, str]]]
"""A kernel's name, and for each column its value and what to write after it, or None and what to write instead."""


def write(results: Results, folder: Path) -> list[Path]:
    """Write the plots beside each other; returns their paths."""
    threads = sorted({entry.threads for kernel in results.kernels for entry in kernel.entries})
    stem = f"{results.dataset}-{results.element}"
    made: list[Path] = []
    for count in threads:
        title = f"{results.dataset}, {results.element}, {count} thread{'s' if count > 1 else ''}"
        speed = rows(results, shown(results, count, with_base=False), lambda k, c: k.speedup(c))
        picture = draw(f"Speed-up over gcc -O3 -march=native: {title}", speed, log_axis(speed), "{:.2f}")
        made.append(save(folder / f"{stem}-speedup-{count}.svg", picture))
        if results.rates:
            share = rows(results, shown(results, count, with_base=True), results.share)
            picture = draw(f"Share of the roofline: {title}", share, share_axis(share), "{:.0%}")
            made.append(save(folder / f"{stem}-roofline-{count}.svg", picture))
    return made


def save(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def shown(results: Results, threads: int, with_base: bool) -> list[str]:
    """The columns of a plot: those with so many threads, and those that always run on one."""
    parallel = {entry.contestant for k in results.kernels for entry in k.entries if entry.threads != 1}
    columns = [c for c in results.columns if any(k.seconds(c) for k in results.kernels)]
    mine = [c for c in columns if c.endswith(f"@{threads}") or c.rsplit("@", 1)[0] not in parallel]
    return [c for c in mine if with_base or c != BASE]


def rows(results: Results, columns: list[str], value: Callable[[KernelResult, str], float | None]) -> list[Row]:
    """What a plot shows, kernel by kernel, the geometric means last."""
    made: list[Row] = []
    for kernel in results.kernels:
        cells = {c.rsplit("@", 1)[0]: (value(kernel, c), word(kernel, c)) for c in columns}
        told = {name: cell for name, cell in cells.items() if cell[0] is not None or cell[1]}
        if told:  # kernels in integers have no share
            made.append((kernel.kernel, told))
    if len(made) > 1:
        means = {c.rsplit("@", 1)[0]: geometric_mean(value(k, c) for k in results.kernels) for c in columns}
        counted = {name: (mean, f" ({count})" if count < len(made) else "") for name, (mean, count) in means.items()}
        made.append(("geometric mean", {name: cell for name, cell in counted.items() if cell[0] is not None}))
    return made


def word(kernel: KernelResult, column: str) -> str:
    """What stands in the place of a bar that is missing for a reason other than a missing tool."""
    said = status(kernel, column)
    return "" if said.startswith(("ok", "blank")) else said.split(":")[0]


def values(found: list[Row]) -> list[float]:
    return [value for _, cells in found for value, _ in cells.values() if value is not None]


def log_axis(found: list[Row]) -> Axis:
    there = values(found) or [1.0]
    least = min(0.5, *there) * 0.8
    most = max(2.0, *there) * 1.1
    marks = [m * 10.0**e for e in range(-4, 6) for m in (1, 2, 5)]
    ticks = [(mark, f"{mark:g}") for mark in marks if least <= mark <= most]
    return Axis(least, most, 1.0, ticks, True)


def share_axis(found: list[Row]) -> Axis:
    most = min(max([1.0, *values(found)]), MOST_SHARE)
    return Axis(0.0, most, 0.0, [(n / 10, f"{n * 10} %") for n in range(0, math.floor(most * 10) + 1, 2)], False)


def draw(title: str, found: list[Row], axis: Axis, form: str) -> str:
    """The SVG's text."""
    bars: list[Bar] = []
    labels: list[tuple[float, str]] = []
    y = float(TOP)
    for name, cells in found:
        labels.append((y + max(len(cells), 1) * BAR / 2, name))
        for series, (value, more) in cells.items():
            ends = sorted((axis.x(axis.base), axis.x(value if value is not None else axis.base)))
            note = form.format(value) + more if value is not None else more
            bars.append(Bar(y, ends[0], round(ends[1] - ends[0], 1), series.replace("+", "-"), note))
            y += BAR
        y += GAP
    names = list(dict.fromkeys(name for _, cells in found for name in cells))
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"), autoescape=True, trim_blocks=True,
        lstrip_blocks=True, undefined=StrictUndefined,
    )  # fmt: skip
    return environment.get_template("bars.svg.j2").render(
        title=title, bars=bars, labels=labels, ticks=[(axis.x(v), text) for v, text in axis.ticks], bar=BAR,
        base=axis.x(axis.base), series=names, top=TOP, bottom=y, left=LABEL_WIDTH,
        width=LABEL_WIDTH + PLOT_WIDTH + RIGHT, height=y + BOTTOM,
    )  # fmt: skip
