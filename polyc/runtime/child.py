"""Runs in a process of its own: calls functions of a shared library on arrays that it reads from files.

A crash or an endless loop of the called code ends this process only. It imports nothing of polyc and no
NumPy, so that it starts in a few milliseconds: `python child.py JOB.json` prints one JSON line a call, and one
for a table of numbers where the job names one.
"""

from __future__ import annotations

import ctypes
import json
import sys
from pathlib import Path
from typing import Any

GUARD_BYTES = 4096
ALIGNMENT = 64
PATTERN = b"\xa5"


def main(job_file: str) -> None:
    job: dict[str, Any] = json.loads(Path(job_file).read_text())
    library = ctypes.CDLL(job["library"])
    if "table" in job:
        table = (ctypes.c_ulong * job["entries"]).in_dll(library, job["table"])
        print(json.dumps({"table": list(table)}), flush=True)
    for call in job["calls"]:
        damaged = run(library, call)
        print(json.dumps({"function": call["function"], "damaged": damaged}), flush=True)


def run(library: ctypes.CDLL, call: dict[str, Any]) -> list[int]:
    """Call one function and write its arrays back; answers the positions of arrays that were overrun."""
    buffers: list[tuple[Any, int, int]] = []
    pointers = (ctypes.c_void_p * max(1, len(call["arguments"])))()
    guard = PATTERN * GUARD_BYTES
    for position, argument in enumerate(call["arguments"]):
        data = Path(argument["file"]).read_bytes()
        memory = ctypes.create_string_buffer(len(data) + 2 * GUARD_BYTES + ALIGNMENT)
        address = ctypes.addressof(memory)
        start = GUARD_BYTES + -(address + GUARD_BYTES) % ALIGNMENT
        ctypes.memmove(address + start - GUARD_BYTES, guard, GUARD_BYTES)
        ctypes.memmove(address + start, data, len(data))
        ctypes.memmove(address + start + len(data), guard, GUARD_BYTES)
        buffers.append((memory, start, len(data)))
        pointers[position] = address + start + argument["offset"]
    function = library[call["function"]]
    function.restype = None
    function(pointers)
    damaged = []
    for position, (argument, (memory, start, size)) in enumerate(zip(call["arguments"], buffers, strict=True)):
        address = ctypes.addressof(memory)
        around = (address + start - GUARD_BYTES, address + start + size)
        if any(ctypes.string_at(place, GUARD_BYTES) != guard for place in around):
            damaged.append(position)
        if argument.get("result"):
            Path(argument["result"]).write_bytes(ctypes.string_at(address + start, size))
    return damaged


if __name__ == "__main__":
    main(sys.argv[1])
