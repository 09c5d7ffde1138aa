"""What a run says in a few lines: polyc against gcc, against the best peer of each kernel, and against OpenBLAS."""

from __future__ import annotations

import statistics

from .contestants import CONTESTANTS
from .results import KernelResult, Results, geometric_mean

PEERS = {contestant.name for contestant in CONTESTANTS if contestant.peer}
OURS = ("polyc", "polyc+clang")
PLAIN = ("gcc", "clang")
FLOOR = 0.95
"""The share of the faster of gcc -O3 and clang -O3 that no kernel should fall below."""
COMPILE_LIMIT_SECONDS = 10.0
"""What the C compiler should take for any output at most."""


def lines(results: Results) -> list[str]:
    """The lines; an empty list without polyc among the contestants."""
    found: list[str] = []
    for column in results.columns:
        name, threads = column.rsplit("@", 1)
        if name in OURS and any(kernel.seconds(column) for kernel in results.kernels):
            found += about(results, column, int(threads))
    return found + build_times(results)


def about(results: Results, column: str, threads: int) -> list[str]:
    """One of polyc's columns against the others with at most as many threads."""
    kernels = results.kernels
    plain = {k.kernel: ratio(k, column, PLAIN, threads) for k in kernels}
    slow = [f"{name} {value:.2f}" for name, value in plain.items() if value is not None and value < FLOOR]
    made = [
        f"{column}: {mean_of([k.speedup(column) for k in kernels])} x gcc -O3, "
        f"{mean_of([ratio(k, column, PEERS, threads) for k in kernels])} x the best peer of each kernel "
        "(geometric means)",
        f"  below {FLOOR} of the faster of gcc and clang: {', '.join(slow) or 'none'}",
    ]
    library = {k.kernel: k.speedup(column, f"openblas@{threads}") for k in kernels}
    shares = [f"{name} {value:.0%}" for name, value in library.items() if value is not None]
    return [*made, f"  of OpenBLAS: {', '.join(shares)}"] if shares else made


def ratio(kernel: KernelResult, column: str, others: set[str] | tuple[str, ...], threads: int) -> float | None:
    """The time of the fastest of the others over the column's own; None where one of the two is not there."""
    mine = kernel.seconds(column)
    times = [e.seconds for e in kernel.entries if e.contestant in others and e.threads <= threads]
    there = [seconds for seconds in times if seconds]
    return min(there) / mine if mine and there else None


def mean_of(values: list[float | None]) -> str:
    mean, count = geometric_mean(values)
    return "-" if mean is None else f"{mean:.2f}" + ("" if count == len(values) else f" ({count} of {len(values)})")


def build_times(results: Results) -> list[str]:
    """How long polyc took, and how long the C compiler took for what it printed."""
    ours = [(k.kernel, e) for k in results.kernels for e in k.entries if e.contestant in OURS and e.build_seconds]
    if not ours:
        return []
    compiles = statistics.median(e.build_seconds["polyc"] for _, e in ours)
    name, worst = max(ours, key=lambda pair: pair[1].build_seconds.get("cc", 0.0))
    seconds = worst.build_seconds.get("cc", 0.0)
    told = f"polyc: {compiles:.2f} s a kernel (median); the C compiler at most {seconds:.1f} s for its output ({name})"
    return [told + (f", over {COMPILE_LIMIT_SECONDS:g} s" if seconds > COMPILE_LIMIT_SECONDS else "")]
