"""A GPU, and how many blocks of threads one of its multiprocessors holds at once."""

from __future__ import annotations

from polyc.records import dataclass

REGISTERS_AT_ONCE = 8
"""Registers of a thread are handed out in such steps."""
STATIC_SHARED_BYTES = 48 * 1024
"""Of a block, without asking for more: every GPU has them."""
SHARED_BYTES_AT_ONCE = 128
"""Shared memory of a block is handed out in such steps."""


@dataclass(frozen=True, slots=True)
class Residency:
    """How many blocks a multiprocessor holds at once, and what keeps it from holding one more."""

    blocks: int
    """0 where not even one fits."""
    bound: str
    """`threads`, `blocks`, `registers` or `shared memory`."""


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU as its vendor describes it. The fields are the keys of its file.

    source: "Compute capabilities" in NVIDIA's CUDA C++ Programming Guide for the limits, the data sheet of the
            product for sizes and rates
    """

    name: str
    compute_capability: str
    """Major and minor version, `8.0`; "" where the GPU is no CUDA device."""
    multiprocessors: int
    warp_size: int
    """Threads that run in step."""
    threads_per_block: int
    """At most."""
    threads_per_multiprocessor: int
    """At most."""
    blocks_per_multiprocessor: int
    """At most."""
    registers_per_multiprocessor: int
    """Of 32 bits."""
    registers_per_thread: int
    """Of 32 bits, at most."""
    shared_bytes_per_block: int
    """Of shared memory that a kernel may declare, in bytes."""
    shared_bytes_per_block_optin: int
    """The same where the host asks for more before it starts the kernel, in bytes."""
    shared_bytes_per_multiprocessor: int
    """In bytes."""
    shared_bytes_reserved_per_block: int
    """What the system keeps for itself of the multiprocessor's shared memory, for each block, in bytes."""
    shared_banks: int
    shared_bank_bytes: int
    """Width of a bank: consecutive words of so many bytes are in different banks."""
    transaction_bytes: int
    """A warp's accesses to memory are served in aligned pieces of so many bytes."""
    l2_bytes: int
    memory_gb_per_s: float
    """Bandwidth of the device's memory, in 10**9 bytes a second."""
    clock_mhz: float
    """At which the rates hold."""
    float_gflops: float
    """Arithmetic rates in 10**9 operations a second; a multiply-add is two. Of all multiprocessors."""
    double_gflops: float
    half_gflops: float
    """Without tensor cores."""
    tensor_half_gflops: float
    """Half inputs, float sums, dense; 0 where there are no tensor cores for it."""
    tensor_tf32_gflops: float
    """Dense; 0 where there are no tensor cores for it."""

    def resident(self, threads: int, registers: int, shared_bytes: int) -> Residency:
        """How many blocks a multiprocessor holds at once.

        threads: of a block. registers: of a thread, of 32 bits. shared_bytes: of a block.
        source:  the occupancy calculator in NVIDIA's CUDA C++ Best Practices Guide, Section 11
        """
        if threads > self.threads_per_block:
            return Residency(0, "threads")
        if registers > self.registers_per_thread:
            return Residency(0, "registers")
        warps = _rounded(threads, self.warp_size)
        of_block = warps * _rounded(max(registers, 1), REGISTERS_AT_ONCE)
        shared = _rounded(shared_bytes, SHARED_BYTES_AT_ONCE) + self.shared_bytes_reserved_per_block
        if shared_bytes > self.shared_bytes_per_block_optin:
            return Residency(0, "shared memory")
        limits = {
            "blocks": self.blocks_per_multiprocessor,
            "threads": self.threads_per_multiprocessor // warps,
            "registers": self.registers_per_multiprocessor // of_block,
        }
        if shared:
            limits["shared memory"] = self.shared_bytes_per_multiprocessor // shared
        bound = min(limits, key=lambda name: limits[name])
        return Residency(limits[bound], bound)

    def gflops(self, element_bytes: int) -> float:
        """The rate of multiply-adds without tensor cores, for elements of 2, 4 or 8 bytes."""
        if element_bytes >= 8:
            return self.double_gflops
        return self.half_gflops if element_bytes == 2 else self.float_gflops

    def operations_per_cycle(self, element_bytes: int) -> float:
        """Multiply-adds of one multiprocessor in a cycle of its clock."""
        return self.gflops(element_bytes) * 1e3 / (2 * self.multiprocessors * self.clock_mhz)

    def cycles_of_loads(self, count: int) -> float:
        """Cycles of one multiprocessor for `count` loads of a thread, where lanes ask for neighbours: a warp's request
        is served at a time."""
        return count / self.warp_size

    def tensor_operations_per_cycle(self, element_bytes: int) -> float:
        """Multiply-adds of the tensor cores of one multiprocessor in a cycle, for inputs of 2 bytes, or floats (tf32).

        Where the description has none for floats: a quarter of the rate for halves, as from 8.0 on, or that of halves
        without tensor cores. Code that uses them runs there as well, only not on them.
        """
        half = self.tensor_half_gflops or self.half_gflops
        gflops = half if element_bytes == 2 else self.tensor_tf32_gflops or half / 4
        return gflops * 1e3 / (2 * self.multiprocessors * self.clock_mhz)

    def bytes_per_cycle(self) -> float:
        """From memory, in a cycle of the multiprocessors' clock, for all of them together."""
        return self.memory_gb_per_s * 1e3 / self.clock_mhz

    def contradiction(self) -> tuple[str, str] | None:
        """A key whose value does not fit to another one, and what is wrong."""
        pairs = (
            ("threads_per_block", "threads_per_multiprocessor"),
            ("warp_size", "threads_per_block"),
            ("shared_bytes_per_block", "shared_bytes_per_block_optin"),
            ("shared_bytes_per_block_optin", "shared_bytes_per_multiprocessor"),
            ("registers_per_thread", "registers_per_multiprocessor"),
        )
        for small, large in pairs:
            if getattr(self, small) > getattr(self, large):
                return small, f"'{small}' is larger than '{large}'"
        if self.threads_per_block % self.warp_size:
            return "threads_per_block", "'threads_per_block' is no multiple of 'warp_size'"
        return None


def _rounded(value: int, step: int) -> int:
    return -(-value // step) * step
