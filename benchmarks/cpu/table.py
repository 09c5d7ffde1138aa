"""The results as tables on the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from .results import BASE, KernelResult, Results, geometric_mean

SHORT = {"blank": "", "wrong": "wrong", "fails": "fails", "timeout": "timeout"}


def show(results: Results, console: Console) -> None:
    """The table of speed-ups, what went wrong, and what stands out."""
    columns = [column for column in results.columns if not blank(results, column)]
    table = Table(title=f"{results.dataset}, {results.element}: speed-up over gcc -O3 -march=native on one thread")
    table.add_column("kernel")
    table.add_column("gcc, s", justify="right")
    for column in columns:
        if column != BASE:
            table.add_column(column.replace("@", "\n"), justify="right")
    for kernel in results.kernels:
        seconds = kernel.seconds(BASE)
        cells = [cell(kernel, column) for column in columns if column != BASE]
        table.add_row(kernel.kernel, f"{seconds:.3g}" if seconds else status(kernel, BASE), *cells)
    table.add_section()
    table.add_row("geometric mean", "", *(mean_cell(results, column) for column in columns if column != BASE))
    console.print(table)
    for column in results.columns:
        if blank(results, column):
            console.print(f"{column}: left blank ({status(results.kernels[0], column).removeprefix('blank: ')})")
    for kernel in results.kernels:
        for entry in kernel.entries:
            if not entry.status.startswith(("ok", "blank")):
                console.print(f"{kernel.kernel}: {entry.column}: {entry.status}", markup=False, soft_wrap=True)


def blank(results: Results, column: str) -> bool:
    """Nobody of this column was there for any kernel."""
    return all(status(kernel, column).startswith("blank") for kernel in results.kernels)


def status(kernel: KernelResult, column: str) -> str:
    return next((entry.status for entry in kernel.entries if entry.column == column), "blank: not asked for")


def cell(kernel: KernelResult, column: str) -> str:
    speedup = kernel.speedup(column)
    if speedup is not None:
        return f"{speedup:.2f}"
    word = status(kernel, column).split(":")[0].split(" ")[0]
    return SHORT.get(word, "")


def mean_cell(results: Results, column: str) -> str:
    mean, count = geometric_mean(kernel.speedup(column) for kernel in results.kernels)
    if mean is None:
        return ""
    return f"{mean:.2f}" + (f" ({count})" if count < len(results.kernels) else "")
