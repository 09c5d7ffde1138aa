"""One operator in one process: the values and times of what is in libraries, or of its form in PyTorch.

python measure.py JOB      the answer is one line of JSON; needs the standard library, and PyTorch for `torch`

JOB is a file: {"what": "ours" or "torch", "operator": …, "libraries": {name: path}, "harness": path, "threads": n,
"rounds": n, "enough": seconds}. Libraries and PyTorch never take turns in one process, since the threads of two OpenMP
runtimes would wait for work on the same processors.
"""

from __future__ import annotations

import ctypes
import json
import math
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "gpu"))
from records import Operator, operator_of
from references import REFERENCES, WIDE

TYPES = {"float32": ("float", 4), "float64": ("double", 8), "int32": ("int", 4)}
LINE = 64
COPIED = 1 << 28


class Arrays:
    """The memory of an operator's arguments, on 64-byte boundaries: inputs are the same in each process."""

    def __init__(self, operator: Operator, harness: ctypes.CDLL) -> None:
        self.operator, self.harness = operator, harness
        self.memory = {a.name: aligned(math.prod(a.shape) * TYPES[a.dtype][1]) for a in operator.arguments}
        for seed, argument in enumerate(operator.arguments):
            if argument.role == "in":
                fill = getattr(harness, f"fill_{TYPES[argument.dtype][0]}")
                wide = ctypes.c_double(WIDE.get(operator.name, 1.0))
                fill(self.memory[argument.name], ctypes.c_size_t(math.prod(argument.shape)), seed, wide)

    def call(self, library: str) -> Callable[[], None]:
        """The operator's function of a library, on these arrays."""
        function = getattr(ctypes.CDLL(library), self.operator.name)
        function.restype = None
        places = [self.memory[a.name] for a in self.operator.arguments]
        return lambda: function(*places)

    def outputs(self) -> dict[str, bytes]:
        return {a.name: self.memory[a.name].raw for a in self.operator.arguments if a.role == "out"}

    def difference(self, right: dict[str, bytes]) -> float:
        """The largest one of what is in the outputs now."""
        found = 0.0
        for a in self.operator.arguments:
            if a.role == "out":
                function = getattr(self.harness, f"difference_{TYPES[a.dtype][0]}")
                function.restype = ctypes.c_double
                one = function(self.memory[a.name], right[a.name], ctypes.c_size_t(math.prod(a.shape)))
                found = max(found, one)
        return found


def aligned(size: int) -> Any:
    """A buffer of so many bytes."""
    whole = ctypes.create_string_buffer(size + LINE)
    return (ctypes.c_char * size).from_buffer(whole, -ctypes.addressof(whole) % LINE)


def timed(calls: dict[str, Callable[[], Any]], rounds: int, enough: float) -> dict[str, float]:
    """Milliseconds of each, the median of its runs, in turns; no further run of one that took `enough` seconds."""
    found: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            if sum(found[name]) < enough:
                repeats = max(1, int(0.002 / found[name][0])) if found[name] else 1
                start = time.perf_counter()
                for _ in range(repeats):
                    call()
                found[name].append((time.perf_counter() - start) / repeats)
    return {name: 1000 * statistics.median(times[1:] or times) for name, times in found.items()}


def ours(job: dict[str, Any], operator: Operator, harness: ctypes.CDLL) -> dict[str, Any]:
    """What the libraries compute, held against the first one's values, and the bandwidth of a copy."""
    arrays = Arrays(operator, harness)
    calls = {name: arrays.call(path) for name, path in job["libraries"].items()}
    errors: dict[str, float] = {}
    right: dict[str, bytes] | None = None
    for name, call in calls.items():
        for a in operator.arguments:
            if a.role == "out":
                ctypes.memset(arrays.memory[a.name], 0x40, ctypes.sizeof(arrays.memory[a.name]))
        call()
        if right is None:
            right = arrays.outputs()
        errors[name] = arrays.difference(right)
    times = timed(calls, job["rounds"], job["enough"])
    return {"ms": times, "errors": errors}


def copied(job: dict[str, Any], harness: ctypes.CDLL) -> dict[str, Any]:
    """Bytes a second of a copy, each one read and written."""
    to, source = aligned(COPIED), aligned(COPIED)
    size = ctypes.c_size_t(COPIED)
    times = timed({"copy": lambda: harness.copy_bytes(to, source, size)}, job["rounds"], job["enough"])
    return {"bytes_per_second": 2000 * COPIED / times["copy"]}


def in_torch(job: dict[str, Any], operator: Operator, harness: ctypes.CDLL) -> dict[str, Any]:
    """The operator's form in PyTorch, on the same inputs, held against a library's values."""
    import torch

    torch.set_num_threads(job["threads"])
    arrays = Arrays(operator, harness)
    (library,) = job["libraries"].values()
    arrays.call(library)()
    right = arrays.outputs()
    taken = {a.name: tensor(torch, arrays.memory[a.name], a) for a in operator.arguments if a.role == "in"}
    results = [(a, tensor(torch, arrays.memory[a.name], a)) for a in operator.arguments if a.role == "out"]
    forms = {"eager": REFERENCES[operator.name]}
    forms["compiled"] = torch.compile(forms["eager"], dynamic=False)
    calls: dict[str, Callable[[], Any]] = {}
    errors: dict[str, float] = {}
    told = ""
    with torch.inference_mode():
        for name, form in forms.items():
            try:
                answer = form(**taken)
            except Exception as failure:  # its compilers raise errors of many kinds
                told = f"{name}: {str(failure).splitlines()[0]}"
                continue
            for (_, kept), one in zip(results, answer if isinstance(answer, tuple) else (answer,), strict=True):
                kept.copy_(one.reshape(kept.shape))
            errors[name] = arrays.difference(right)
            calls[name] = lambda form=form: form(**taken)  # type: ignore[misc]
        times = timed(calls, job["rounds"] + 1, job["enough"])
    return {"ms": times, "errors": errors, "told": told, "version": torch.__version__}


def tensor(torch: Any, memory: Any, argument: Any) -> Any:
    return torch.frombuffer(memory, dtype=getattr(torch, argument.dtype)).reshape(argument.shape)


def main(file: str) -> None:
    job = json.loads(Path(file).read_text(encoding="utf-8"))
    harness = ctypes.CDLL(job["harness"])
    if job["what"] == "copy":
        answer = copied(job, harness)
    else:
        answer = (in_torch if job["what"] == "torch" else ours)(job, operator_of(job["operator"]), harness)
    print(json.dumps(answer))


if __name__ == "__main__":
    main(sys.argv[1])
