"""The words in which CUDA and OpenCL differ."""

from __future__ import annotations

from dataclasses import dataclass

from polyc.model import ctree as c

AXES = "xyz"
RESIDENT_THREADS = 512
"""Threads of a multiprocessor that are worth having at once, at up to 128 registers each."""


@dataclass(frozen=True, slots=True)
class Dialect:
    name: str
    stream: str
    """What the function that starts a kernel takes first; "" for nothing."""
    kernel: str
    """What stands before a kernel's name; `{threads}` in all, `{sizes}` of a block, `{resident}` blocks at once: nvcc
    would keep to 40 registers without it, and spill."""
    shared: str
    pointer: str
    """What stands before the type of a pointer to the device's memory."""
    restrict: str
    barrier: c.Stmt
    block: str
    thread: str
    blocks: str
    """The index of a block, of a thread, and how many blocks there are; `{axis}` or `{number}`."""

    def index(self, template: str, axis: str) -> str:
        return template.format(axis=axis, number=AXES.index(axis))


CUDA = Dialect(
    "cuda",
    "stream",
    "__global__ void __launch_bounds__({threads}, {resident})",
    "__shared__",
    "",
    "__restrict__",
    c.ExprStmt(c.Call("__syncthreads", ())),
    "blockIdx.{axis}",
    "threadIdx.{axis}",
    "gridDim.{axis}",
)
OPENCL = Dialect(
    "opencl",
    "",
    "__kernel __attribute__((reqd_work_group_size({sizes})))\nvoid",
    "__local",
    "__global ",
    "restrict",
    c.ExprStmt(c.Call("barrier", (c.Binary("|", c.Name("CLK_LOCAL_MEM_FENCE"), c.Name("CLK_GLOBAL_MEM_FENCE")),))),
    "get_group_id({number})",
    "get_local_id({number})",
    "get_num_groups({number})",
)
DIALECTS = {"cuda": CUDA, "opencl": OPENCL}
