"""A CPU: its cores, what one core computes in a cycle, and the memory levels between it and the memory."""

from __future__ import annotations

from collections.abc import Iterator

from polyc.records import dataclass


@dataclass(frozen=True, slots=True)
class Level:
    """A cache for data. The fields are the keys of a `[[levels]]` table, the nearest to the core first."""

    name: str
    """`L1`, `L2`, `L3`."""
    bytes: int
    """Of one such cache, in bytes."""
    line_bytes: int
    """What is fetched at once, in bytes."""
    ways: int
    """Of a set: how many lines that fall together it holds."""
    shared_by: int
    """How many cores use one such cache; 1 for a private one."""
    gb_per_s: float
    """Loads of one core from it, in 10**9 bytes a second."""
    all_gb_per_s: float
    """Loads of all cores at once, from all caches of the level, in 10**9 bytes a second."""
    latency_ns: float
    """From a load to its value, where the next address depends on it."""

    @property
    def sets(self) -> int:
        """Lines with the same remainder of their number by this one compete for `ways` places."""
        return max(1, self.bytes // (self.line_bytes * self.ways))


@dataclass(frozen=True, slots=True)
class Memory:
    """The main memory. The fields are the keys of the table `[memory]`."""

    gb_per_s: float
    """Loads of one core, in 10**9 bytes a second."""
    all_gb_per_s: float
    """Loads of all cores at once, in 10**9 bytes a second."""
    copy_gb_per_s: float
    """A copy by one core, in 10**9 bytes a second; each byte is read and written, and counts twice."""
    all_copy_gb_per_s: float
    """The same by all cores at once."""
    latency_ns: float


@dataclass(frozen=True, slots=True)
class Cpu:
    """A CPU as its manuals describe it, or as it was measured. The fields are the keys of its file.

    A vector is what one instruction works on; rates of vectors hold for elements of 4 and of 8 bytes alike.

    source: the device description of ROLLER (Zhu et al., OSDI 2022, Section 3): capacity, alignment and bandwidth of
            each memory layer, and the peak of the execution units; more of it, since a CPU has registers to fill by
            hand, and caches that are not managed by hand
    """

    name: str
    isa: str
    """`x86-64-v3` (AVX2 and FMA), `x86-64-v4` (AVX-512), `aarch64+neon`, `aarch64+sve`; as compilers name it."""
    cores: int
    """Of the whole machine, not counting hyper-threads."""
    threads_per_core: int
    clock_ghz: float
    """Cycles a nanosecond at which a core computes: what it keeps up under load, where that is known."""
    vector_bytes: int
    """Of one vector register, in bytes."""
    vector_registers: int
    """That a program can name."""
    fma_per_cycle: float
    """Fused multiply-adds of whole vectors, of one core, in a cycle."""
    fma_latency_cycles: float
    """From the operands to the result."""
    loads_per_cycle: float
    """Of whole vectors from the first level, of one core, in a cycle."""
    stores_per_cycle: float
    """Of whole vectors to the first level, of one core, in a cycle."""
    page_bytes: int
    """Of memory that is mapped at once, in bytes: the usual size, without huge pages."""
    parallel_region_us: float
    """What a parallel region of OpenMP costs with all cores, start and end, in microseconds; its threads are there
    already."""
    levels: tuple[Level, ...]
    """From the nearest to the core to the last one before memory."""
    memory: Memory

    def lanes(self, element_bytes: int) -> int:
        """Elements of a vector."""
        return max(1, self.vector_bytes // element_bytes)

    def gflops(self, element_bytes: int) -> float:
        """The rate of multiply-adds of one core, for elements of 4 or 8 bytes, in 10**9 operations a second; a
        multiply-add is two."""
        return 2 * self.lanes(element_bytes) * self.fma_per_cycle * self.clock_ghz

    def all_gflops(self, element_bytes: int) -> float:
        """The same of all cores at once."""
        return self.cores * self.gflops(element_bytes)

    def bytes_per_cycle(self, place: Level | Memory, cores: int = 1) -> float:
        """What each of so many cores loads from a level, or from memory, in a cycle of its clock.

        Between one core and all, a core gets what it gets alone, until the rate of all cores is shared.
        """
        return min(place.gb_per_s, place.all_gb_per_s / cores) / self.clock_ghz

    def capacity(self, level: Level, cores: int = 1) -> int:
        """What each of so many cores has of a level, in bytes, where they work on different data."""
        sharing = min(level.shared_by, cores)
        return level.bytes // max(1, sharing)

    def contradictions(self) -> Iterator[tuple[str, int, str, str]]:
        """Keys whose values do not fit to others: the table ("" for the top) and its number, the key, what is wrong."""
        for key in ("vector_bytes", "page_bytes"):
            if getattr(self, key) & (getattr(self, key) - 1):
                yield "", 0, key, f"'{key}' is no power of two"
        for number, level in enumerate(self.levels):
            inner = self.levels[number - 1] if number else None
            yield from (("levels", number, key, said) for key, said in self._odd(level, inner))
        names = [level.name for level in self.levels]
        for number, name in enumerate(names):
            if name in names[:number]:
                yield "levels", number, "name", f"there are two levels '{name}'"
        for key in ("gb_per_s", "copy_gb_per_s"):
            if getattr(self.memory, key) > getattr(self.memory, f"all_{key}"):
                yield "memory", 0, key, f"'{key}' is larger than 'all_{key}'"

    def _odd(self, level: Level, inner: Level | None) -> Iterator[tuple[str, str]]:
        if level.line_bytes & (level.line_bytes - 1):
            yield "line_bytes", "'line_bytes' is no power of two"
        if level.line_bytes * level.ways > level.bytes:
            yield "ways", f"{level.ways} lines of {level.line_bytes} bytes are more than the {level.bytes} bytes of all"
        if level.shared_by > self.cores:
            yield "shared_by", f"'shared_by' is larger than 'cores', which is {self.cores}"
        if level.gb_per_s > level.all_gb_per_s:
            yield "gb_per_s", "'gb_per_s' is larger than 'all_gb_per_s'"
        if inner is not None and inner.bytes > level.bytes * max(1, level.shared_by):
            yield (
                "bytes",
                f"'{level.name}' is smaller than '{inner.name}', and levels stand from the core to the memory",
            )
