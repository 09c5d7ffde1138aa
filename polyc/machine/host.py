"""This machine as a `Cpu`: what was measured, or else what the system says, on top of the nearest shipped CPU."""

from __future__ import annotations

import math
import os
import re
from dataclasses import fields, replace
from functools import cache
from pathlib import Path

from polyc.machine.cpu import Cpu, Level, Memory
from polyc.machine.shipped import named
from polyc.machine.system import Cache, System, this_system

FORMAT = "1"
"""Of the files in the cache. Raised when their keys change, so that old ones are not read any more."""
MODELS = (
    (r"GenuineIntel 6 85", "skylake-sp"),  # and Cascade Lake
    (r"GenuineIntel 6 (106|108)", "ice-lake-sp"),
    (r"GenuineIntel 6 (143|173|174|207)", "sapphire-rapids"),  # and Emerald Rapids, Granite Rapids
    (r"AuthenticAMD 23 (4[89]|[5-9]\d|1\d\d)", "zen2"),
    (r"AuthenticAMD 25 (\d|3[2-9]|[4-8]\d|9[0-5])", "zen3"),
    (r"AuthenticAMD (25|26) \d+", "zen4"),  # and Zen 5
    (r"0x41 0xd0c", "graviton2"),
    (r"0x41 0x(d40|d4f|d49|d8e)", "graviton3"),  # Neoverse V1, and V2, N2, N3
    (r"apple|0x61 0x\w+", "apple-m1"),
)
"""What the system's code is of (`System.code`), and the shipped CPU that is like it."""


def nearest(system: System) -> str:
    """The shipped CPU that this one is most like: by its code, or by its instructions.

    Where a system hides the wide vectors of a known model, as some virtual machines do, the instructions decide: what a
    core does in a cycle is counted in vectors.
    """
    for code, name in MODELS:
        if re.fullmatch(code, system.code) and _cpu(name).vector_bytes <= system.vector_bytes:
            return name
    if system.architecture == "aarch64":
        return "aarch64"
    return "x86-64-v4" if system.isa == "x86-64-v4" else "x86-64-v3"


def described(system: System, base: Cpu) -> Cpu:
    """What the system says, and for all that it does not say the figures of a CPU that is like it.

    A core has the base's rates. All of them have as many times that as there are cores, from memory not more than
    the base's, from a shared cache the base's share of each core. Starting threads costs as the root of their number.
    """
    cores = max(1, system.cores)
    levels = tuple(_level(found, base, cores) for found in system.caches) or tuple(
        _scaled(level, base.cores, cores) for level in base.levels
    )
    memory = base.memory
    return replace(
        base,
        name=system.model or base.name,
        isa=system.isa,
        cores=cores,
        threads_per_core=max(1, system.threads_per_core),
        vector_bytes=system.vector_bytes,
        vector_registers=system.vector_registers,
        page_bytes=system.page_bytes or base.page_bytes,
        parallel_region_us=round(max(1.0, base.parallel_region_us * math.sqrt(cores / base.cores)), 1),
        levels=levels,
        memory=replace(
            memory,
            all_gb_per_s=_all(memory.gb_per_s, memory.all_gb_per_s, cores),
            all_copy_gb_per_s=_all(memory.copy_gb_per_s, memory.all_copy_gb_per_s, cores),
        ),
    )


def _all(one: float, most: float, cores: int) -> float:
    return round(max(one, min(most, one * cores)), 1)


def _scaled(level: Level, of: int, cores: int) -> Level:
    """A level of a machine with another number of cores."""
    share = level.all_gb_per_s / of
    return replace(
        level, shared_by=min(level.shared_by, cores), all_gb_per_s=round(max(level.gb_per_s, share * cores), 1)
    )


def _level(found: Cache, base: Cpu, cores: int) -> Level:
    """The level that the system describes, with the rates of the base's level that is as near to the core."""
    like = _scaled(base.levels[min(found.level, len(base.levels)) - 1], base.cores, cores)
    line = found.line_bytes or like.line_bytes
    ways = min(found.ways or like.ways, found.bytes // line)
    shared_by = min(found.shared_by or like.shared_by, cores)
    everything = like.gb_per_s * cores if shared_by == 1 else like.all_gb_per_s
    return replace(
        like,
        name=f"L{found.level}",
        bytes=found.bytes,
        line_bytes=line,
        ways=ways,
        shared_by=shared_by,
        all_gb_per_s=round(max(everything, like.gb_per_s), 1),
    )


def host_file() -> Path:
    """Where the description of this machine is kept: one file for each CPU's model and number of cores."""
    system = this_system()
    name = re.sub(r"[^a-z0-9]+", "-", f"{system.model} {system.isa} {system.cores} cores".lower()).strip("-")
    return _cache_folder() / "polyc" / "machines" / f"{name}.{FORMAT}.toml"


def _cache_folder() -> Path:
    named = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(named):  # the others are not valid, says the XDG Base Directory Specification
        return Path(named)
    return Path(os.path.expanduser("~")) / ".cache"


@cache
def quick_host() -> Cpu:
    """This machine without measuring."""
    system = this_system()
    return described(system, _cpu(nearest(system)))


def as_toml(cpu: Cpu, heading: str = "") -> str:
    """The file that describes a CPU; each line of the heading becomes a comment at its top."""
    lines = [f"# {line}".rstrip() for line in heading.splitlines()] + [""] * bool(heading)
    lines.append('kind = "cpu"')
    lines += [_line(f.name, getattr(cpu, f.name)) for f in fields(cpu) if f.name not in ("levels", "memory")]
    for level in cpu.levels:
        lines += ["", "[[levels]]", *(_line(f.name, getattr(level, f.name)) for f in fields(Level))]
    lines += ["", "[memory]", *(_line(f.name, getattr(cpu.memory, f.name)) for f in fields(Memory))]
    return "\n".join(lines) + "\n"


def _line(key: str, value: object) -> str:
    if not isinstance(value, str):
        return f"{key} = {value!r}"
    shown = "".join(c if c.isprintable() else " " for c in value)
    return f'{key} = "' + shown.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _cpu(name: str) -> Cpu:
    """A CPU that polyc ships."""
    found = named(name)
    assert isinstance(found, Cpu)
    return found
