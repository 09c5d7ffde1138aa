"""How long `polyc compile` takes: the whole process, start-up included, for each of the thirty kernels.

python benchmarks/compile_time.py [--runs 5] [--json] [KERNEL…] [-- POLYC-OPTIONS…]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

POLYBENCH = Path(__file__).parents[1] / "polybench"
MEDIAN_LIMIT_SECONDS = 1.0
WORST_LIMIT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Timing:
    """The seconds of one kernel over its runs."""

    kernel: str
    min: float
    median: float
    max: float


def main() -> int:
    arguments, options = split(sys.argv[1:])
    parser = argparse.ArgumentParser(description="Time polyc compile for each kernel of polybench.")
    parser.add_argument("kernels", nargs="*", metavar="KERNEL", help="the kernels to time (default: all)")
    parser.add_argument("--runs", type=int, default=5, help="runs of each kernel (default: 5)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    chosen = parser.parse_args(arguments)
    files = {file.stem: file for file in sorted((POLYBENCH / "kernels").glob("*.c"))}
    unknown = [name for name in chosen.kernels if name not in files]
    if unknown or chosen.runs < 1:
        parser.error(f"no such kernel: {', '.join(unknown)}" if unknown else "--runs has to be at least 1")
    timings = timed({name: files[name] for name in chosen.kernels or files}, chosen.runs, options)
    print(as_json(timings, chosen.runs, options) if chosen.json else as_table(timings))
    return 0


def split(words: list[str]) -> tuple[list[str], list[str]]:
    """Our own arguments, and polyc's after `--`."""
    where = words.index("--") if "--" in words else len(words)
    return words[:where], words[where + 1 :]


def timed(files: dict[str, Path], runs: int, options: list[str]) -> list[Timing]:
    """Time the kernels in rounds, so that what else the machine does is spread over all of them."""
    seconds: dict[str, list[float]] = {name: [] for name in files}
    with tempfile.TemporaryDirectory(prefix="polyc-compile-time-") as folder:
        output = Path(folder) / "out.c"
        compile_once(next(iter(files.values())), output, options)  # byte code and file cache
        for _ in range(runs):
            for name, file in files.items():
                seconds[name].append(compile_once(file, output, options))
    return [Timing(name, min(found), statistics.median(found), max(found)) for name, found in seconds.items()]


def compile_once(file: Path, output: Path, options: list[str]) -> float:
    """Wall seconds of one process."""
    command = [sys.executable, "-m", "polyc", "compile", str(file), "-I", str(POLYBENCH / "harness"), *options]
    start = time.perf_counter()
    done = subprocess.run([*command, "-o", str(output)], capture_output=True, text=True, check=False)
    taken = time.perf_counter() - start
    if done.returncode != 0:
        sys.exit(f"{file.stem}: polyc ended with {done.returncode}\n{done.stderr}")
    return taken


def as_table(timings: list[Timing]) -> str:
    lines = [f"{'kernel':<16}{'min':>8}{'median':>8}{'max':>8}"]
    lines += [f"{t.kernel:<16}{t.min:>8.3f}{t.median:>8.3f}{t.max:>8.3f}" for t in timings]
    overall, worst = summary(timings)
    lines.append(f"\nmedian of the kernels' medians: {overall:.3f} s (asked for: under {MEDIAN_LIMIT_SECONDS:g} s)")
    lines.append(f"worst median: {worst.median:.3f} s, {worst.kernel} (asked for: under {WORST_LIMIT_SECONDS:g} s)")
    return "\n".join(lines)


def as_json(timings: list[Timing], runs: int, options: list[str]) -> str:
    overall, worst = summary(timings)
    found = {
        "runs": runs,
        "options": options,
        "processors": os.cpu_count(),
        "load_average": os.getloadavg()[0],
        "median_seconds": overall,
        "worst": worst.kernel,
        "worst_seconds": worst.median,
        "kernels": [asdict(timing) for timing in timings],
    }
    return json.dumps(found, indent=2)


def summary(timings: list[Timing]) -> tuple[float, Timing]:
    return statistics.median(t.median for t in timings), max(timings, key=lambda t: t.median)


if __name__ == "__main__":
    sys.exit(main())
