"""The counters of the operators' kernels as a table in Markdown, that of docs/gpu.md. It needs no GPU.

python benchmarks/gpu/counters.py [--machine h200] [--small] [NAME]...
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from polyc.frontend import read
from polyc.model.program import InputOptions, Options
from polyc.pipeline import compile_region
from polyc.profile import KernelProfile, profile
from polyc.profile.data import active_lanes, traffic

HERE = Path(__file__).resolve().parent
SOURCES = {file.stem: file for file in sorted((HERE.parent / "operators").glob("*.c"))}
HEAD = (
    "| operator | loads | stores | shared memory | active lanes | traffic | bound by | share of the limit |\n"
    "|---|---:|---:|---:|---:|---:|---|---:|"
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="counters.py", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", choices=[*SOURCES, []], metavar="NAME", help="an operator; default: all")
    parser.add_argument("--machine", default="h200", help="a GPU of `polyc machine list`, or a file")
    parser.add_argument("--small", action="store_true", help="the sizes of the tests (-DSMALL)")
    given = parser.parse_args()
    print(HEAD)
    for name in given.names or SOURCES:
        for row in rows(name, given.machine, given.small):
            print(row, flush=True)


def rows(name: str, machine: str, small: bool) -> Iterator[str]:
    """A row for each kernel of an operator."""
    (region,) = read(str(SOURCES[name]), InputOptions(defines=("SMALL",) if small else ())).regions
    compiled = compile_region(region, Options(target="cuda", machine=machine))
    for kernel in profile(region, compiled).kernels:
        yield f"| {name} | {' | '.join([*counters(kernel), *prediction(kernel)])} |"


def counters(kernel: KernelProfile) -> list[str]:
    """What the text alone decides: each count over the least."""
    total, moved = kernel.launch.total, traffic(kernel.launch)
    lanes = active_lanes(total)
    return [
        ratio(total.load_sectors, total.load_sectors_least),
        ratio(total.store_sectors, total.store_sectors_least),
        ratio(total.wavefronts, total.wavefronts_least),
        "" if lanes is None else f"{100 * lanes:.0f} %",
        ratio(moved["bytes"], moved["bytes_compulsory"]),
    ]


def prediction(kernel: KernelProfile) -> list[str]:
    """What depends on the machine, and on nvcc's registers."""
    predicted = kernel.predicted
    return [predicted.bound, f"{100 * predicted.share_of_limit:.0f} % ({predicted.limit})"]


def ratio(actual: int, least: int) -> str:
    return f"{actual / least:.2f}" if least else ""


if __name__ == "__main__":
    main()
