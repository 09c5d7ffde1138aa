"""Calling the original and the result in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from polyc.model.scop import Scop
from polyc.records import dataclass, field, replace
from polyc.runtime import child, csource
from polyc.runtime.inputs import Data
from polyc.runtime.layout import Shape
from polyc.runtime.process.build import exit_fault

THREADS = 4


@dataclass(slots=True)
class Setting:
    """What all runs of a region share."""

    scop: Scop
    source: csource.CSource
    folder: Path
    library: Path
    element_bytes: dict[str, int]
    reassociated: bool
    limit_seconds: float
    environment: dict[str, str] = field(default_factory=dict)
    """What the process of the calls needs beside its own."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How the two calls ended; "" is well."""

    original_fault: str = ""
    result_fault: str = ""


def arguments_of(
    setting: Setting, arrays: dict[str, Data], shapes: dict[str, Shape], values: dict[str, int]
) -> list[dict[str, Any]]:
    """What both functions take, each in a file: parameters, arrays, and the extents of arrays of rows."""
    folder = setting.folder
    arguments = []
    for parameter in setting.scop.parameters:
        size_bytes = parameter.type.size_bytes or 4
        data = values[parameter.name].to_bytes(size_bytes, sys.byteorder, signed=values[parameter.name] < 0)
        arguments.append(argument(folder, f"parameter-{parameter.name}", data))
    for name in setting.source.arrays:
        one = argument(folder, f"array-{name}", np.ascontiguousarray(arrays[name]).data)
        one["offset"] = offset(shapes[name], arrays[name])
        arguments.append(one)
    for name in setting.source.rows:
        data = np.array(shapes[name].extents, dtype=np.int64).tobytes()
        arguments.append(argument(folder, f"extents-{name}", data))
    return arguments


def run_child(setting: Setting, arrays: dict[str, Data], shapes: dict[str, Shape], values: dict[str, int]) -> Ended:
    """Call both functions in a process of its own; their arrays come back as files."""
    folder = setting.folder
    arguments = arguments_of(setting, arrays, shapes, values)
    calls = []
    for function in (csource.ORIGINAL, csource.RESULT):
        own = [{**a, "result": f"{a['file']}.{function}"} for a in arguments]
        calls.append({"function": function, "arguments": own})
    output, fault = child_output(
        folder, {"library": str(setting.library), "calls": calls}, setting.limit_seconds, setting.environment
    )
    lines = [json.loads(line) for line in output.splitlines() if line.startswith(b"{")]
    names = [*(p.name for p in setting.scop.parameters), *setting.source.arrays, *setting.source.rows]
    ended = Ended()
    for line in lines:
        overrun = ", ".join(names[position] for position in line["damaged"])
        if overrun and line["function"] == csource.ORIGINAL:
            ended = replace(ended, original_fault=f"writes outside of {overrun}")
        elif overrun:
            ended = replace(ended, result_fault=f"writes outside of {overrun}")
    if len(lines) == 0:
        return replace(ended, original_fault=fault or "did not run")
    return ended if len(lines) == 2 else replace(ended, result_fault=fault or "did not run")


def child_output(
    folder: Path, job: dict[str, Any], limit_seconds: float, more: dict[str, str] | None = None
) -> tuple[bytes, str]:
    """What the child printed for a job, and how it ended ("" is well)."""
    file = folder / "job.json"
    file.write_text(json.dumps(job))
    environment = {"OMP_NUM_THREADS": str(THREADS), **os.environ, "OMP_WAIT_POLICY": "passive", **(more or {})}
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", child.__file__, str(file)],
            capture_output=True,
            check=False,
            timeout=limit_seconds,
            env=environment,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired as late:
        return late.stdout or b"", f"did not end within {limit_seconds:g} s"
    fault = exit_fault(done.returncode)
    told = [line for line in done.stderr.decode("utf-8", "replace").splitlines() if line.startswith("polyc: ")]
    return done.stdout, f"{fault} ({told[0][7:]})" if fault and told else fault


def read_table(
    folder: Path, library: Path, name: str, entries: int, limit_seconds: float, more: dict[str, str]
) -> list[int]:
    """A table of unsigned long numbers in the library; empty where it cannot be loaded."""
    job = {"library": str(library), "table": name, "entries": entries, "calls": []}
    output, fault = child_output(folder, job, limit_seconds, more)
    return [] if fault else list(json.loads(output)["table"])


def argument(folder: Path, name: str, data: bytes | memoryview) -> dict[str, Any]:
    file = folder / name
    file.write_bytes(data)
    return {"file": str(file), "offset": 0}


def offset(shape: Shape, data: Data) -> int:
    """Bytes from the start of the memory to the element with all subscripts zero."""
    first = [low + begin for low, begin in zip(shape.corner, shape.begins, strict=True)]
    return -sum(low * stride for low, stride in zip(first, data.strides, strict=True))
