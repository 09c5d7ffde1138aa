"""Runs in a process of its own: calls functions of a shared library on arrays that it reads from files.

A crash or an endless loop of the called code ends this process only. It imports nothing of polyc and no
NumPy, so that it starts in a few milliseconds: `python child.py JOB.json` prints one JSON line a call, and one
for a table of numbers where the job names one.
"""

from __future__ import annotations

import ctypes
import json
import mmap
import os
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
        size = os.stat(argument["file"]).st_size
        memory = mmap.mmap(-1, size + 2 * GUARD_BYTES + ALIGNMENT)
        address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        start = GUARD_BYTES + -(address + GUARD_BYTES) % ALIGNMENT
        ctypes.memmove(address + start - GUARD_BYTES, guard, GUARD_BYTES)
        with open(argument["file"], "rb", buffering=0) as file:
            read_into(file, memoryview(memory)[start : start + size])
        ctypes.memmove(address + start + size, guard, GUARD_BYTES)
        buffers.append((memory, start, size))
        pointers[position] = address + start + argument["offset"]
    function = library[call["function"]]
    function.restype = None
    function(pointers)
    damaged = []
    for position, (argument, (memory, start, size)) in enumerate(zip(call["arguments"], buffers, strict=True)):
        address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        around = (address + start - GUARD_BYTES, address + start + size)
        if any(ctypes.string_at(place, GUARD_BYTES) != guard for place in around):
            damaged.append(position)
        if argument.get("result"):
            with open(argument["result"], "wb") as file:
                file.write(memoryview(memory)[start : start + size])
    return damaged


def read_into(file: Any, memory: memoryview) -> None:
    """Fill a stretch of memory from a file; one call reads 2 GB at most."""
    done = 0
    while done < len(memory):
        read = file.readinto(memory[done:])
        if not read:
            raise EOFError(f"{file.name} is too short")
        done += read


if __name__ == "__main__":
    main(sys.argv[1])
