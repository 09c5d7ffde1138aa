"""What the operating system says of this machine's CPU, without measuring anything."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from polyc.records import dataclass

CPUS = "sys/devices/system/cpu"
SYSCTL_SECONDS = 5


@dataclass(frozen=True, slots=True)
class Cache:
    """A data cache of the first core."""

    level: int
    bytes: int
    line_bytes: int
    """0 where the system does not say it, as for the next two."""
    ways: int
    shared_by: int
    """Cores, not counting hyper-threads."""


@dataclass(frozen=True, slots=True)
class System:
    """Fields are 0 or empty where the system does not say them."""

    model: str
    """The CPU's name for people, such as `AMD EPYC 9654 96-Core Processor`."""
    code: str
    """What the vendor numbers it: `AuthenticAMD 25 17` (vendor, family, model), `0x41 0xd0c` (implementer, part)."""
    architecture: str
    """`x86-64`, `aarch64`, or what Python calls it."""
    features: frozenset[str]
    """As /proc/cpuinfo names them: `avx2`, `asimd`."""
    cores: int
    """That this process may use, not counting hyper-threads."""
    threads_per_core: int
    page_bytes: int
    caches: tuple[Cache, ...] = ()
    """From the nearest to the core."""

    @property
    def isa(self) -> str:
        """As in `Cpu.isa`."""
        if self.architecture == "aarch64":
            return "aarch64+sve" if "sve" in self.features else "aarch64+neon"
        if self.architecture != "x86-64":
            return self.architecture
        if self.features >= {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}:
            return "x86-64-v4"
        return "x86-64-v3" if self.features >= {"avx2", "fma", "bmi2"} else "x86-64-v2"

    @property
    def vector_bytes(self) -> int:
        """Of the widest vectors that GNU vector types become; SVE needs a compiler's option for its own."""
        return {"x86-64-v4": 64, "x86-64-v3": 32}.get(self.isa, 16)

    @property
    def vector_registers(self) -> int:
        return 32 if self.architecture == "aarch64" or self.isa == "x86-64-v4" else 16


@cache
def this_system(root: str = "/") -> System:
    """What can be found out in some milliseconds. `root` has the folders `proc` and `sys`."""
    if sys.platform == "darwin" and root == "/":
        return of_sysctl(_sysctl())
    return of_linux(Path(root), _usable())


def _usable() -> frozenset[int]:
    """The numbers of the processors that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return frozenset(os.sched_getaffinity(0))
    return frozenset(range(os.cpu_count() or 1))


# --- Linux ------------------------------------------------------------------------------------------------------------


def of_linux(root: Path, usable: frozenset[int]) -> System:
    """From /proc/cpuinfo and /sys; without them, as on Windows, what Python knows."""
    info = _cpuinfo(root / "proc" / "cpuinfo")
    machine = platform.machine().lower()
    arm = "CPU implementer" in info or (not info and machine in ("aarch64", "arm64"))
    x86 = "vendor_id" in info or (not info and machine in ("x86_64", "amd64"))
    keys = ("CPU implementer", "CPU part") if arm else ("vendor_id", "cpu family", "model")
    siblings = {cpu: _siblings(root, cpu) & usable for cpu in usable}
    cores = {min(found) for found in siblings.values() if found} or usable
    first = min(usable)
    return System(
        model=info.get("model name", "") or platform.processor() or machine,
        code=" ".join(info.get(key, "?") for key in keys),
        architecture="aarch64" if arm else "x86-64" if x86 else machine,
        features=frozenset(info.get("flags", info.get("Features", "")).split()),
        cores=len(cores),
        threads_per_core=max(1, max(map(len, siblings.values()), default=1)),
        page_bytes=_page_bytes(),
        caches=tuple(_caches(root, first, cores)),
    )


def _cpuinfo(file: Path) -> dict[str, str]:
    """The paragraph on the first processor: what it names to what it says."""
    text = _said(file).partition("\n\n")[0]
    pairs = (line.partition(":") for line in text.splitlines())
    return {key.strip(): value.strip() for key, colon, value in pairs if colon}


def _siblings(root: Path, cpu: int) -> frozenset[int]:
    """The processors that are hyper-threads of the same core, itself among them."""
    folder = root / CPUS / f"cpu{cpu}" / "topology"
    return _listed(_said(folder / "core_cpus_list") or _said(folder / "thread_siblings_list")) | {cpu}


def _caches(root: Path, cpu: int, cores: frozenset[int] | set[int]) -> Iterator[Cache]:
    found: dict[int, Cache] = {}
    for folder in sorted((root / CPUS / f"cpu{cpu}" / "cache").glob("index*")):
        level, size = _number(_said(folder / "level")), _size(_said(folder / "size"))
        if level and size and _said(folder / "type") in ("Data", "Unified"):
            found[level] = Cache(
                level,
                size,
                _number(_said(folder / "coherency_line_size")),
                _number(_said(folder / "ways_of_associativity")),
                len(_listed(_said(folder / "shared_cpu_list")) & cores),
            )
    yield from (found[level] for level in sorted(found))


def _said(file: Path) -> str:
    """What the system says in a file; "" where there is none."""
    with suppress(OSError, ValueError):
        return file.read_text(encoding="utf-8", errors="replace").strip()
    return ""


def _number(text: str) -> int:
    return int(text) if re.fullmatch(r"\d{1,15}", text) else 0


def _size(text: str) -> int:
    """`32K`, `1M`, in bytes."""
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    return _number(text[:-1]) * units[text[-1]] if text[-1:] in units else _number(text)


def _listed(text: str) -> frozenset[int]:
    """`0-3,8` as numbers."""
    parts = [part.partition("-") for part in text.split(",") if re.fullmatch(r"\d{1,6}(-\d{1,6})?", part)]
    return frozenset(n for low, _, high in parts for n in range(int(low), int(high or low) + 1))


def _page_bytes() -> int:
    with suppress(AttributeError, ValueError, OSError):
        return max(0, os.sysconf("SC_PAGE_SIZE"))
    return 0


# --- macOS ------------------------------------------------------------------------------------------------------------

OF_CORES = ("physicalcpu", "logicalcpu", "l1dcachesize", "l2cachesize", "l3cachesize", "cpusperl2")
SYSCTLS = (
    *("machdep.cpu.brand_string", "hw.pagesize", "hw.cachelinesize"),
    *(f"hw.{part}{name}" for part in ("perflevel0.", "") for name in OF_CORES),
)


def _sysctl() -> str:
    """What sysctl says of SYSCTLS, as lines `key: value`; it leaves out what it does not know."""
    with suppress(OSError, subprocess.TimeoutExpired):
        done = subprocess.run(
            ["/usr/sbin/sysctl", *SYSCTLS],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=SYSCTL_SECONDS,
            stdin=subprocess.DEVNULL,
        )
        return done.stdout
    return ""


def of_sysctl(text: str) -> System:
    """From the lines of sysctl. Of an Apple chip the performance cores are taken: loops run on them first."""
    said = {key: value.strip() for key, _, value in (line.partition(":") for line in text.splitlines())}

    def of(name: str) -> int:
        return _number(said.get(f"hw.perflevel0.{name}", "")) or _number(said.get(f"hw.{name}", ""))

    cores = of("physicalcpu") or os.cpu_count() or 1
    model = said.get("machdep.cpu.brand_string", "")
    apple = model.startswith("Apple")
    shared = {1: 1, 2: of("cpusperl2") if apple else 1, 3: cores}
    sizes = {1: of("l1dcachesize"), 2: of("l2cachesize"), 3: of("l3cachesize")}
    return System(
        model=model or platform.machine(),
        code="apple" if apple else "",
        architecture="aarch64" if apple else "x86-64",
        features=frozenset({"asimd"} if apple else {"avx2", "fma", "bmi2"}),  # every Mac since 2013
        cores=cores,
        threads_per_core=max(1, of("logicalcpu") // cores),
        page_bytes=of("pagesize"),
        caches=tuple(Cache(n, b, of("cachelinesize"), 0, min(shared[n], cores)) for n, b in sizes.items() if b),
    )
