"""polyc's kernels against PyTorch, eager and under torch.compile, on a GPU: values compared, times taken in turns.

python benchmarks/gpu/run.py OUT [--only NAME]... [--runs N] [--json FILE] [--dry-run]

OUT is what `generate.py` wrote, on this machine or another one. Needs nvcc and PyTorch with CUDA, nothing of polyc.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from records import DeviceFunction, Operator, Problem, addresses_of, load
from references import MOST_ERROR, REFERENCES, difference, inputs, outputs, reference_of

RUNS = 50
WARM_UP = 5
FLUSH_BYTES = 256 << 20
"""Written before each run: what is read comes from memory, not from a cache of the run before. It also keeps the device
busy while the host starts what is timed, so that the time is the device's."""
COPY_BYTES = 1 << 30
PRODUCT = 4096
"""Rows and columns of the product that gives the arithmetic limit."""
MORE = ("layernorm", "matmul", "selfattention", "softmax")
"""Programs of this folder, which are not among the twenty operators."""
Calls = dict[str, Callable[[], Any]]


@dataclass(frozen=True, slots=True)
class Limits:
    """What this device reaches, measured in the same run."""

    device: str
    copy_bytes_per_second: float
    product_flops_per_second: float
    """cuBLAS, float, without TF32."""


@dataclass(frozen=True, slots=True)
class Row:
    """One operator: milliseconds of the device (medians), and how far the values are apart."""

    name: str
    polyc: float
    eager: float
    compiled: float | None
    """None where torch.compile fails."""
    share: float
    """Of the time that the limits leave, 1 where it is as fast as memory or arithmetic can be."""
    error: float

    @property
    def right(self) -> bool:
        return self.error <= MOST_ERROR


def main() -> int:
    parser = argparse.ArgumentParser(prog="run.py", description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path, help="the folder that generate.py wrote")
    parser.add_argument("--only", action="append", help="this operator; may be repeated")
    parser.add_argument("--runs", type=int, default=RUNS, help=f"timed runs of each (default: {RUNS})")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there, too")
    parser.add_argument("--eager", action="store_true", help="leave torch.compile out")
    parser.add_argument("--dry-run", action="store_true", help="say whether all that is needed is there")
    given = parser.parse_args()
    try:
        operators = chosen(load(given.out), given.only)
        lacking = missing(operators, given.out)
        if given.dry_run or lacking:
            print("\n".join(f"run.py: {line}" for line in lacking) or "all is there", file=sys.stderr)
            return 1 if lacking else 0
        return measure(operators, given.out, given)
    except Problem as problem:
        print(f"run.py: {problem}", file=sys.stderr)
        return 1


def chosen(operators: list[Operator], names: list[str] | None) -> list[Operator]:
    unknown = set(names or ()) - {operator.name for operator in operators}
    if unknown:
        raise Problem(f"no operator {', '.join(sorted(unknown))}; there are {', '.join(o.name for o in operators)}")
    return [operator for operator in operators if not names or operator.name in names]


def missing(operators: list[Operator], folder: Path) -> list[str]:
    """What a run needs and does not find."""
    found = [
        f"{folder / o.file} is missing; run generate.py again" for o in operators if not (folder / o.file).exists()
    ]
    found += [f"no form of {o.name} in PyTorch (references.py)" for o in operators if o.name not in REFERENCES]
    if shutil.which("nvcc") is None:
        found.append("nvcc is not in PATH; it comes with the CUDA toolkit")
    try:
        import torch
    except (ImportError, OSError) as error:
        return [*found, f"PyTorch cannot be imported ({error}); python -m pip install torch"]
    if not torch.cuda.is_available():
        found.append("PyTorch finds no GPU (torch.cuda.is_available() is False)")
    return found


def measure(operators: list[Operator], folder: Path, given: argparse.Namespace) -> int:
    import torch

    runs, file = given.runs, given.json
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True  # cuDNN tries its algorithms, and takes the fastest
    limits = measured_limits(runs)
    print(heading(limits), flush=True)
    rows = []
    with tempfile.TemporaryDirectory(prefix="polyc-gpu-") as libraries:
        for operator, function in zip(operators, built(operators, folder, Path(libraries)), strict=True):
            rows.append(measured(operator, function, limits, runs, not given.eager))
            print(line(rows[-1]), flush=True)
            torch.cuda.empty_cache()
    print(means(rows))
    if file is not None:
        record = {"limits": asdict(limits), "runs": runs, "operators": [asdict(row) for row in rows]}
        file.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    wrong = [row.name for row in rows if not row.right]
    if wrong:
        raise Problem(f"wrong values: {', '.join(wrong)}")
    return 0


def built(operators: list[Operator], folder: Path, libraries: Path) -> list[DeviceFunction]:
    """The operators' functions, whose texts are compiled side by side. Raises Problem."""
    with ThreadPoolExecutor() as pool:
        made = pool.map(lambda operator: build(folder / operator.file, libraries), operators)
        return [DeviceFunction(library, operator) for operator, library in zip(operators, made, strict=True)]


def build(text: Path, folder: Path) -> Path:
    """A shared library of a CUDA text, for the device that is there. Raises Problem."""
    import torch

    major, minor = torch.cuda.get_device_capability()
    library = folder / f"{text.stem}.so"
    command = ["nvcc", "-O3", f"-arch=sm_{major}{minor}", "-shared", "-Xcompiler", "-fPIC", str(text)]
    done = subprocess.run([*command, "-o", str(library)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Problem(f"nvcc does not take {text}:\n{done.stderr}")
    return library


def measured(operator: Operator, function: DeviceFunction, limits: Limits, runs: int, compiling: bool) -> Row:
    import torch

    tensors = inputs(operator, "cuda")
    addresses = addresses_of(operator, tensors)
    eager = reference_of(operator, tensors, REFERENCES[operator.name])
    calls: Calls = {"polyc": lambda: function(addresses, torch.cuda.current_stream().cuda_stream), "eager": eager}
    calls["polyc"]()
    torch.cuda.synchronize()
    expected = eager()
    arguments = {argument.name: argument for argument in operator.arguments}
    error = max(difference(arguments[n], tensors[n], expected[n]) for n in outputs(operator))
    try:
        if compiling:
            compiled = reference_of(operator, tensors, torch.compile(REFERENCES[operator.name], dynamic=False))
            compiled()
            calls["compiled"] = compiled
    except Exception as failure:  # its compilers raise errors of many kinds
        print(f"torch.compile fails for {operator.name}: {str(failure).splitlines()[0]}", file=sys.stderr)
    times = device_times(calls, runs)
    least = 1000 * max(operator.bytes / limits.copy_bytes_per_second, operator.flops / limits.product_flops_per_second)
    return Row(operator.name, times["polyc"], times["eager"], times.get("compiled"), least / times["polyc"], error)


def device_times(calls: Calls, runs: int) -> dict[str, float]:
    """Median milliseconds of each, by the device's own clock. They run in turns, each time in another order."""
    import torch

    flush = torch.empty(FLUSH_BYTES, dtype=torch.uint8, device="cuda")
    for call in calls.values():
        for _ in range(WARM_UP):
            call()
    names = list(calls)
    marks: dict[str, list[tuple[Any, Any]]] = {name: [] for name in names}
    for run in range(runs):
        for name in names[run % len(names) :] + names[: run % len(names)]:
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            flush.zero_()
            start.record()
            calls[name]()
            end.record()
            marks[name].append((start, end))
        torch.cuda.synchronize()
    return {name: statistics.median(start.elapsed_time(end) for start, end in marks[name]) for name in names}


def measured_limits(runs: int) -> Limits:
    """The bandwidth of a copy (each byte is read and written), and the rate of cuBLAS's float product."""
    import torch

    source = torch.ones(COPY_BYTES // 4, device="cuda")
    target = torch.empty_like(source)
    a, b = (torch.rand(PRODUCT, PRODUCT, device="cuda") for _ in range(2))
    product = torch.empty_like(a)
    times = device_times({"copy": lambda: target.copy_(source), "product": lambda: torch.mm(a, b, out=product)}, runs)
    return Limits(
        torch.cuda.get_device_name(),
        2 * COPY_BYTES / times["copy"] * 1000,
        2 * PRODUCT**3 / times["product"] * 1000,
    )


# --- the table -------------------------------------------------------------------------------------------------------


def heading(limits: Limits) -> str:
    return (
        f"{limits.device}: copy {limits.copy_bytes_per_second / 1e9:.0f} GB/s, cuBLAS float product "
        f"{limits.product_flops_per_second / 1e12:.1f} TFLOP/s\n"
        f"{'operator':<12}{'polyc ms':>11}{'eager ms':>11}{'compile ms':>12}{'eager/':>9}{'compile/':>10}"
        f"{'of limit':>10}{'error':>10}"
    )


def line(row: Row) -> str:
    compiled = "-" if row.compiled is None else f"{row.compiled:.4f}"
    against = "-" if row.compiled is None else f"{row.compiled / row.polyc:.2f}"
    return (
        f"{row.name:<12}{row.polyc:>11.4f}{row.eager:>11.4f}{compiled:>12}{row.eager / row.polyc:>9.2f}{against:>10}"
        f"{row.share:>10.0%}{row.error:>10.1e}{'' if row.right else '  WRONG'}"
    )


def means(rows: list[Row]) -> str:
    """Geometric means over the operators; the programs beside them (`MORE`) are none."""
    some = [row for row in rows if row.name not in MORE]
    both = [row for row in some if row.compiled is not None]
    eager = geometric_mean([row.eager / row.polyc for row in some])
    compiled = geometric_mean([row.compiled / row.polyc for row in both if row.compiled is not None])
    return (
        f"geometric means over {len(some)} operators: {eager:.2f} against eager, "
        f"{compiled:.2f} against torch.compile ({len(both)})"
    )


def geometric_mean(values: list[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, values))) if values else math.nan


if __name__ == "__main__":
    sys.exit(main())
