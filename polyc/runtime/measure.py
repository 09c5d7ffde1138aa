"""Measure this machine's CPU: build `measure.c` with the user's compiler, run it, and put its figures into a `Cpu`."""

from __future__ import annotations

import math
import os
import re
import shlex
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from shutil import which

from polyc.machine.cpu import Cpu, Level, Memory
from polyc.records import dataclass, replace
from polyc.runtime.process.build import BuildError, run_compiler

SOURCE = Path(__file__).parent / "measure.c"
FLAGS = ("-std=gnu11", "-O3", "-ffp-contract=fast", "-w")
VARIANTS = (("-march=native", "-fopenmp"), ("-mcpu=native", "-fopenmp"), ("-march=native",), ("-mcpu=native",), ())
"""Tried in this order: some compilers have no `-march=native` for a CPU, or no OpenMP."""
ROUNDS = 2
"""Runs of the benchmark: what else the machine does comes and goes."""
SLOW_SECONDS = 2.0
"""A run takes about 1 s. After one that took longer there is no other."""
LIMIT_SECONDS = 60
"""Of a run."""
LEAST_MEMORY_BYTES, MOST_MEMORY_BYTES = 64 << 20, 1 << 30
"""That are read to measure the main memory."""
NEAR = 0.06
"""A count in a cycle, or a latency in cycles, that is so near to a round number is that number."""
NEAR_PORTS = 0.2
"""The same for loads and stores, which come less near to what their ports can do."""
SLOWEST = 0.6
"""Of the clock of one core: all of them at work do not get slower than this, unless others work as well."""


class MeasureError(Exception):
    """Nothing could be measured; the message says why."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A CPU with what was measured of it."""

    cpu: Cpu
    command: str
    """The compiler and the options that count, for people."""
    remarks: tuple[str, ...] = ()
    """What could not be measured, or looks wrong."""


def measure(cpu: Cpu, cc: str | None = None) -> Measured:
    """The CPU with measured figures in place of those that it has; sizes of caches and counts of cores stay.

    cc: the compiler with its options; None for $CC, gcc, cc or clang, the first that has OpenMP.
    Raises MeasureError. Takes some seconds, most of them in the compiler.
    """
    with tempfile.TemporaryDirectory(prefix="polyc-measure-") as folder:
        program, command = built(cpu, compilers(cc), Path(folder))
        figures = best(list(_rounds(program, arguments(cpu))))
    found, remarks = with_figures(cpu, figures)
    return Measured(found, command, tuple(remarks))


# --- building and running ---------------------------------------------------------------------------------------------


def compilers(cc: str | None) -> list[list[str]]:
    """The compilers to try, each as the words of its command. Raises MeasureError where there is none."""
    named = os.environ.get("CC", "") if cc is None else cc
    try:
        words = shlex.split(named)
    except ValueError:
        raise MeasureError(f"'{named}' is no command") from None
    if cc is not None and not words:
        raise MeasureError("--cc has no name")
    found = [[name] for name in ("gcc", "cc", "clang") if which(name)]
    tried = [words] if cc is not None else [words, *found] if words else found
    if not tried:
        raise MeasureError("there is no C compiler: install gcc or clang, or name one with --cc")
    return tried


def built(cpu: Cpu, tried: list[list[str]], folder: Path) -> tuple[Path, str]:
    """The program, and how it was built: with OpenMP, if one of the compilers has it. Raises MeasureError."""
    program, first = folder / "measure", ""
    widths = (f"-DVECTOR_BYTES={cpu.vector_bytes}", f"-DVECTOR_REGISTERS={cpu.vector_registers}")
    for openmp in (True, False):
        for compiler in tried:
            for variant in VARIANTS:
                if ("-fopenmp" in variant) is not openmp:
                    continue
                command = [*compiler, *FLAGS, *variant, *widths, str(SOURCE), "-o", str(program)]
                try:
                    run_compiler(command, folder)
                    return program, shlex.join([*compiler, "-O3", *variant])
                except BuildError as problem:
                    first = first or f"{shlex.join(compiler)}: {str(problem).splitlines()[0]}"
    raise MeasureError(f"the benchmark cannot be built: {first}")


def arguments(cpu: Cpu) -> list[str]:
    """What `measure.c` wants to know: threads, bytes of a line, and the bytes to read for each level and the memory.

    One core reads half of a level, so that it holds them whatever else runs; of a shared one, which others use, three
    times the level before, where that is less. Cores together read their shares. Nothing is measured of all cores for
    a private level, and where their shares fit into the level before.
    """
    words = [str(cpu.cores), str(cpu.levels[0].line_bytes)]
    inner = 0
    for level in cpu.levels:
        capacity = cpu.capacity(level, cpu.cores)
        one = max(level.bytes // 2, min(level.bytes, inner * 3 // 2))
        if level.shared_by > 1 and inner:
            one = min(one, 3 * inner)
        together = level.shared_by > 1 and capacity > inner
        share = min(one, max(capacity // 2, min(capacity, inner * 3 // 2))) if together else 0
        words.append(f"{level.name}:{_whole(one)}:{_whole(share)}")
        inner = level.bytes
    last = cpu.levels[-1]
    one = _memory_bytes(4 * last.bytes)
    everywhere = _memory_bytes(4 * last.bytes * max(1, cpu.cores // last.shared_by))
    return [*words, f"memory:{_whole(one)}:{_whole(max(everywhere // cpu.cores, 4 << 20))}"]


def _memory_bytes(wanted: int) -> int:
    """What is read to measure the main memory: not more than a quarter of it."""
    try:
        quarter = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 4
    except (AttributeError, ValueError, OSError):
        quarter = MOST_MEMORY_BYTES
    return min(max(wanted, LEAST_MEMORY_BYTES), MOST_MEMORY_BYTES, max(quarter, 1 << 20))


def _whole(size: int) -> int:
    """Whole steps of 4096 bytes, which is at least one; 0 stays 0."""
    return max(4096, size // 4096 * 4096) if size else 0


def _rounds(program: Path, words: list[str]) -> Iterator[dict[str, float]]:
    start = time.monotonic()
    for _ in range(ROUNDS):
        yield read_figures(run(program, words))
        if time.monotonic() - start > SLOW_SECONDS:
            return


def run(program: Path, words: list[str]) -> str:
    """What the program prints. Raises MeasureError.

    The user's settings for OpenMP do not count: a limit of threads would make rates of all cores wrong.
    """
    clean = {key: value for key, value in os.environ.items() if not re.match(r"(OMP|GOMP|KMP)_", key)}
    places = {"OMP_PROC_BIND": "spread", "OMP_PLACES": "cores", "OMP_WAIT_POLICY": "active", "OMP_DYNAMIC": "false"}
    try:
        done = subprocess.run(
            [str(program), *words],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=LIMIT_SECONDS,
            env={**clean, **places, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
        )
    except OSError as problem:
        raise MeasureError(f"the benchmark does not run: {problem.strerror}") from None
    except subprocess.TimeoutExpired:
        raise MeasureError(f"the benchmark did not end within {LIMIT_SECONDS} s") from None
    if done.returncode != 0:
        raise MeasureError(f"the benchmark failed with exit code {done.returncode}")
    return done.stdout


# --- figures ----------------------------------------------------------------------------------------------------------


def read_figures(text: str) -> dict[str, float]:
    """The lines `key value` of the benchmark. Raises MeasureError for what is none, and for an impossible value."""
    found: dict[str, float] = {}
    for line in text.splitlines():
        key, _, value = line.partition(" ")
        try:
            number = float(value)
        except ValueError:
            raise MeasureError(f"the benchmark printed '{line}'") from None
        if not (math.isfinite(number) and 0 < number < 1e9):
            raise MeasureError(f"the benchmark found '{line}', which cannot be")
        found[key] = number
    return found


def best(rounds: list[dict[str, float]]) -> dict[str, float]:
    """Of each figure the best of all rounds: the shortest time, or the highest rate."""
    times = ("_ns", "_us")
    return {key: (min if key.endswith(times) else max)(one[key] for one in rounds) for key in rounds[0]}


def with_figures(cpu: Cpu, figures: Mapping[str, float]) -> tuple[Cpu, list[str]]:
    """The CPU with the figures that were measured, and what to say of them. Raises MeasureError where some lack."""
    try:
        return _with_figures(cpu, figures)
    except KeyError as missing:
        raise MeasureError(f"the benchmark did not print {missing}") from None


def _with_figures(cpu: Cpu, figures: Mapping[str, float]) -> tuple[Cpu, list[str]]:
    clock, lanes = figures["clock_ghz"], cpu.lanes(8)
    remarks = list(_remarks(cpu, figures))
    memory = _memory(cpu.memory, cpu.cores, figures)
    levels = list(_plausible(tuple(_level(level, cpu.cores, figures) for level in cpu.levels), cpu, memory))
    a_vector = cpu.vector_bytes * clock  # 10**9 bytes a second, where each cycle has one vector
    multiply_adds = max(figures["double_gflops"], figures["float_gflops"] / 2) / (2 * lanes * clock)
    found = replace(
        cpu,
        clock_ghz=round(clock * _kept(cpu, figures), 2),
        fma_per_cycle=_snapped(multiply_adds, 0.5),
        fma_latency_cycles=_snapped(figures["fma_latency_ns"] * clock, 1.0),
        loads_per_cycle=_snapped(figures[f"{cpu.levels[0].name}.gb_per_s"] / a_vector, 0.5, NEAR_PORTS),
        stores_per_cycle=_snapped(figures["store_gb_per_s"] / a_vector, 0.5, NEAR_PORTS),
        parallel_region_us=_rounded(figures.get("region_us", cpu.parallel_region_us)),
        levels=tuple(level for level, _ in levels),
        memory=memory,
    )
    return found, remarks + [said for _, said in levels if said]


def _kept(cpu: Cpu, figures: Mapping[str, float]) -> float:
    """The share of its clock that a core keeps when all of them compute; 1 where others were at work."""
    together = figures.get("all_double_gflops", math.inf) / (cpu.cores * figures["double_gflops"])
    return together if SLOWEST <= together < 1 - NEAR else 1.0


def _level(level: Level, cores: int, figures: Mapping[str, float]) -> Level:
    one = figures[f"{level.name}.gb_per_s"]
    guessed = one * cores if level.shared_by == 1 else one * level.all_gb_per_s / level.gb_per_s
    together = max(one, figures.get(f"{level.name}.all_gb_per_s", guessed))
    latency = figures[f"{level.name}.latency_ns"]
    return replace(level, gb_per_s=_rounded(one), all_gb_per_s=_rounded(together), latency_ns=_rounded(latency))


def _memory(memory: Memory, cores: int, figures: Mapping[str, float]) -> Memory:
    one, copied = figures["memory.gb_per_s"], figures["memory.copy_gb_per_s"]
    guess = min(cores, memory.all_gb_per_s / memory.gb_per_s)
    return Memory(
        gb_per_s=_rounded(one),
        all_gb_per_s=_rounded(max(one, figures.get("memory.all_gb_per_s", one * guess))),
        copy_gb_per_s=_rounded(copied),
        all_copy_gb_per_s=_rounded(max(copied, figures.get("memory.all_copy_gb_per_s", copied * guess))),
        latency_ns=_rounded(figures["memory.latency_ns"]),
    )


def _plausible(levels: tuple[Level, ...], shipped: Cpu, memory: Memory) -> Iterator[tuple[Level, str]]:
    """Each level, and what to say of it: one that is slower than what comes after it has the latency it had before."""
    after = [*(level.latency_ns for level in levels[1:]), memory.latency_ns]
    for level, before, limit in zip(levels, shipped.levels, after, strict=True):
        if level.latency_ns < limit:
            yield level, ""
        else:
            said = (
                f"the latency of {level.name} could not be measured: {level.latency_ns:g} ns, as others use it as well"
            )
            yield replace(level, latency_ns=min(before.latency_ns, limit)), said


def _remarks(cpu: Cpu, figures: Mapping[str, float]) -> Iterator[str]:
    if "region_us" not in figures:
        yield "the compiler has no OpenMP: rates of all cores and the cost of a parallel region are estimates"
    elif figures["all_double_gflops"] < SLOWEST * cpu.cores * figures["double_gflops"]:
        yield "the cores were busy with other work: run this again when they are not"


def _snapped(value: float, step: float, tolerance: float = NEAR) -> float:
    """The multiple of the step that is near, or the value with two digits behind the point."""
    near = max(step, round(value / step) * step)
    return near if abs(value - near) <= tolerance * near else max(0.01, round(value, 2))


def _rounded(value: float) -> float:
    """Three digits that count."""
    return float(f"{value:.3g}")
