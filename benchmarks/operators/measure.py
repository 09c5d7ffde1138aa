"""One operator in one process: the values and times of what is in libraries, or of its form in PyTorch.

python measure.py JOB      needs the standard library, and PyTorch for `torch`

JOB is a file: {"what": "ours", "torch" or "copy", "operator": …, "libraries": {name: path}, "harness": path,
"threads": n, "right": path}. The process computes everything once, and answers by a line of JSON: which contestants it
has, and how far their values are from those in the file `right`; the first contestant writes that file where there is
none. Then each name that it reads is a turn of that contestant, answered by its seconds. Libraries and PyTorch have
processes of their own, since the threads of two OpenMP runtimes in one would wait for work on the same processors; a
process that waits for its turn has none that run.
"""

from __future__ import annotations

import ctypes
import json
import math
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "gpu"))
from records import Operator, operator_of
from references import REFERENCES, WIDE

TYPES = {"float32": ("float", 4), "float64": ("double", 8), "int32": ("int", 4)}
LINE = 64
WAITED, TIMED = 0.2, 0.02
"""Seconds."""


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

    def wipe(self) -> None:
        """Something else than what is right in all outputs."""
        for a in self.operator.arguments:
            if a.role == "out":
                ctypes.memset(self.memory[a.name], 0x40, ctypes.sizeof(self.memory[a.name]))

    def difference(self, right: Path) -> float:
        """The largest one of what is in the outputs now from a file; 0 where there is none yet: this is it, then."""
        outputs = [a for a in self.operator.arguments if a.role == "out"]
        if not right.exists():
            begun = right.with_suffix(".begun")
            with begun.open("wb") as file:
                file.writelines(self.memory[a.name] for a in outputs)
            begun.rename(right)
            return 0.0
        found = 0.0
        with right.open("rb") as file:
            for a in outputs:
                function = getattr(self.harness, f"difference_{TYPES[a.dtype][0]}")
                function.restype = ctypes.c_double
                memory = self.memory[a.name]
                kept = file.read(ctypes.sizeof(memory))
                found = max(found, function(memory, kept, ctypes.c_size_t(math.prod(a.shape))))
        return found


def aligned(size: int) -> Any:
    """A buffer of so many bytes."""
    whole = ctypes.create_string_buffer(size + LINE)
    return (ctypes.c_char * size).from_buffer(whole, -ctypes.addressof(whole) % LINE)


def turn(call: Callable[[], Any], last: float) -> float:
    """Seconds of a run, by what it took the last time. One that takes no longer than WAITED runs once before it is
    timed, since threads sleep and data are elsewhere after another process's turn; a short one is timed for several
    runs."""
    if 0 < last < WAITED:
        call()
    repeats = max(1, min(500, int(TIMED / last))) if last else 1
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats


@dataclass(frozen=True, slots=True)
class Ready:
    """What takes part, by name, and how far its values are from the right ones. told: what does not, and why."""

    calls: dict[str, Callable[[], Any]]
    errors: dict[str, float]
    told: str = ""
    mode: AbstractContextManager[Any] = field(default_factory=nullcontext)
    """What holds around the calls."""


def ours(job: dict[str, Any], operator: Operator, harness: ctypes.CDLL) -> Ready:
    """What the libraries compute."""
    arrays = Arrays(operator, harness)
    calls = {name: arrays.call(path) for name, path in job["libraries"].items()}
    errors: dict[str, float] = {}
    for name, call in calls.items():
        arrays.wipe()
        call()
        errors[name] = arrays.difference(Path(job["right"]))
    return Ready(calls, errors)


def copied(harness: ctypes.CDLL, count: int) -> Ready:
    """A copy of so many bytes, each one read and written."""
    to, source = aligned(count), aligned(count)

    def copy() -> None:
        harness.copy_bytes(to, source, ctypes.c_size_t(count))

    copy()
    return Ready({"copy": copy}, {"copy": 0.0})


def in_torch(job: dict[str, Any], operator: Operator, harness: ctypes.CDLL) -> Ready:
    """The operator's form in PyTorch, on the same inputs."""
    import torch

    torch.set_num_threads(job["threads"])
    arrays = Arrays(operator, harness)
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
            errors[name] = arrays.difference(Path(job["right"]))
            calls[name] = lambda form=form: form(**taken)  # type: ignore[misc]
    return Ready(calls, errors, told, torch.inference_mode())


def tensor(torch: Any, memory: Any, argument: Any) -> Any:
    return torch.frombuffer(memory, dtype=getattr(torch, argument.dtype)).reshape(argument.shape)


def main(file: str) -> None:
    job = json.loads(Path(file).read_text(encoding="utf-8"))
    harness = ctypes.CDLL(job["harness"])
    if job["what"] == "copy":
        ready = copied(harness, job["copied"])
    else:
        ready = (in_torch if job["what"] == "torch" else ours)(job, operator_of(job["operator"]), harness)
    print(json.dumps({"errors": ready.errors, "told": ready.told}), flush=True)
    last: dict[str, float] = {}
    with ready.mode:
        for line in sys.stdin:
            name = line.strip()
            last[name] = turn(ready.calls[name], last.get(name, 0.0))
            print(last[name], flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
