"""How the time and the memory of `polyc compile` grow with a program: a chain of N stages, and the image pipelines in
both forms, on arrays of their shapes and on flat ones.

python benchmarks/compile_growth.py [--stages 25 50 100 200 400] [--pipelines] [--json] [-- POLYC-OPTIONS…]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
STAGES = (25, 50, 100, 200, 400)
SIZE = 2048
CHAIN_SECONDS = {400: 20.0}
PIPELINE_SECONDS = 3.0
MEGABYTES = 1000.0
PIPELINES = ROOT / "benchmarks" / "pipelines"
FORMS = ("arrays", "flat")
INCLUDES = ("-I", str(ROOT / "polybench" / "harness"), "-I", str(PIPELINES / "harness"))


@dataclass(frozen=True, slots=True)
class Growth:
    """One compile: the whole process and its children."""

    name: str
    statements: int
    """Of a chain; 0 for a pipeline."""
    seconds: float
    """Of the wall clock."""
    processor_seconds: float
    megabytes: float
    """The most that one process held at once."""
    given_up: tuple[str, ...]
    """Remarks that say that something took too long, or was not checked."""


GIVEN_UP = frozenset({"budget", "schedule-budget", "text-not-checked", "verification-failed", "isl-failed"})


def main() -> int:
    words = sys.argv[1:]
    where = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(description="Time polyc compile for chains of more and more stages.")
    parser.add_argument("--stages", type=int, nargs="+", default=STAGES, metavar="N", help="lengths of the chains")
    parser.add_argument("--pipelines", action="store_true", help="the image pipelines as well, in both forms")
    parser.add_argument("--json", action="store_true", help="print JSON")
    chosen = parser.parse_args(words[:where])
    found = list(measured(tuple(chosen.stages), chosen.pipelines, words[where + 1 :], chosen.json))
    if chosen.json:
        print(json.dumps({"load_average": os.getloadavg()[0], "compiles": [asdict(one) for one in found]}, indent=2))
    return 0


def measured(stages: tuple[int, ...], pipelines: bool, options: list[str], quiet: bool) -> list[Growth]:
    found: list[Growth] = []
    with tempfile.TemporaryDirectory(prefix="polyc-growth-") as name:
        folder = Path(name)
        files: list[tuple[str, int, Path]] = []
        for count in stages:
            file = folder / f"chain{count}.c"
            file.write_text(chain(count))
            files.append((f"chain of {count}", count, file))
        if pipelines:
            for form in FORMS:
                files += [(f"{file.stem} {form}", 0, file) for file in sorted((PIPELINES / form).glob("*.c"))]
        (folder / "warm.c").write_text(chain(1))
        compiled("", 0, folder / "warm.c", folder, options)  # byte code and file cache
        if not quiet:
            print(f"{'':<18}{'stages':>7}{'seconds':>10}{'processor s':>13}{'MB':>8}  given up")
        for title, count, file in files:
            one = compiled(title, count, file, folder, options)
            found.append(one)
            if not quiet:
                print(as_line(one), flush=True)
    return found


def chain(count: int) -> str:
    """A function of `count` nests: in turn a point-wise one and three-point stencils along the rows and the columns."""
    cells = f"[{SIZE}][{SIZE}]"
    made = "\n".join(f"    float (*a{k})[{SIZE}] = malloc(sizeof(float{cells}));" for k in range(1, count))
    freed = "\n".join(f"    free(a{k});" for k in range(1, count))
    nests = "\n".join(nest(k) for k in range(1, count + 1))
    return (
        f"#include <stdlib.h>\n\nvoid chain(const float a0{cells}, float a{count}{cells})\n{{\n{made}\n"
        f"#pragma polyc live-out(a{count})\n#pragma scop\n{nests}\n#pragma endscop\n{freed}\n}}\n"
    )


def nest(number: int) -> str:
    """Stage `number`, counted from one; each stencil leaves a border of two cells out."""
    rows, columns = (SIZE - 2 * ((number + less) // 3) for less in (0, 1))
    a = f"a{number - 1}"
    values = (
        f"0.25f * {a}[i][j] + 0.5f * {a}[i + 1][j] + 0.25f * {a}[i + 2][j]",
        f"{a}[i][j] * 0.5f + 1.0f",
        f"0.25f * {a}[i][j] + 0.5f * {a}[i][j + 1] + 0.25f * {a}[i][j + 2]",
    )
    return (
        f"    for (int i = 0; i < {rows}; i++)\n        for (int j = 0; j < {columns}; j++)\n"
        f"            a{number}[i][j] = {values[number % 3]};"
    )


def compiled(name: str, statements: int, file: Path, folder: Path, options: list[str]) -> Growth:
    """One process. Ends the program where polyc fails."""
    words = [sys.executable, "-m", "polyc", "compile", str(file), *INCLUDES, *options]
    start = time.perf_counter()
    process = subprocess.Popen(
        [*words, "-q", "--remarks", "json", "-o", str(folder / "out.c")],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    told = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    seconds = time.perf_counter() - start
    if status:
        sys.exit(f"{name}: polyc ended with {process.returncode}\n{told}")
    (found,) = (json.loads(line) for line in told.splitlines() if line.startswith("["))
    codes = tuple(dict.fromkeys(remark["code"] for remark in found if remark["code"] in GIVEN_UP))
    processor = used.ru_utime + used.ru_stime
    return Growth(name, statements, round(seconds, 3), round(processor, 3), round(used.ru_maxrss / 1024, 1), codes)


def as_line(one: Growth) -> str:
    limit = asked(one)
    over = "" if limit is None or (one.seconds < limit and one.megabytes < MEGABYTES) else f" (asked for: {limit:g} s)"
    return (
        f"{one.name:<18}{one.statements or '':>7}{one.seconds:>10.2f}{one.processor_seconds:>13.2f}"
        f"{one.megabytes:>8.0f}  {', '.join(one.given_up)}{over}"
    )


def asked(one: Growth) -> float | None:
    """The most seconds that a compile is to take."""
    return CHAIN_SECONDS.get(one.statements) if one.statements else PIPELINE_SECONDS


if __name__ == "__main__":
    sys.exit(main())
