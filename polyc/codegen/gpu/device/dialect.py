"""The words in which CUDA and OpenCL differ."""

from __future__ import annotations

from polyc.codegen.gpu.device.float16 import HalfWords
from polyc.model import ctree as c
from polyc.records import dataclass

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
    aligned: str
    """For an array of which a thread loads several elements at once."""
    pointer: str
    """What stands before the type of a pointer to the device's memory."""
    restrict: str
    barrier: c.Stmt
    block: str
    thread: str
    blocks: str
    """The index of a block, of a thread, and how many blocks there are; `{axis}` or `{number}`."""
    half: HalfWords
    host_half: str
    """The type of half precision in the functions of the host."""

    stores: bool = False
    """A thread can store 16 bytes at once."""
    fetches: bool = False
    """Copies into shared memory can go on while the thread does other things."""
    commits: tuple[c.Stmt, ...] = ()
    waits: tuple[c.Stmt, ...] = ()
    """What stands behind a group of such copies, and what waits for it."""

    words: frozenset[str] = frozenset()
    """What a program in C may call its own, and this language, or the text around kernels, has for itself."""
    device: str = ""
    """What stands before a function that kernels call."""
    add: str = "atomicAdd"
    """The function that adds to a whole number of 4 bytes in memory at once, whoever else does."""

    def index(self, template: str, axis: str) -> str:
        return template.format(axis=axis, number=AXES.index(axis))


_CPP_WORDS = """
alignas alignof and and_eq asm bitand bitor bool catch char16_t char32_t char8_t class co_await co_return co_yield compl
concept const_cast consteval constexpr constinit decltype delete dynamic_cast explicit export false friend mutable
namespace new noexcept not not_eq nullptr operator or or_eq private protected public reinterpret_cast requires
static_assert static_cast template this thread_local throw true try typeid typename using virtual wchar_t xor xor_eq
linux unix blockDim blockIdx gridDim threadIdx warpSize dim3 size_t grid stream
"""
_OPENCL_WORDS = """
bool complex constant false generic global half imaginary kernel local pipe private quad read_only read_write true uchar
uint ulong uniform ushort vec_step write_only linux unix atomic_add barrier get_group_id get_local_id get_num_groups
groups size_t event_t sampler_t image1d_t image2d_t image3d_t queue_t reserve_id_t clk_event_t
"""

CUDA = Dialect(
    "cuda",
    "stream",
    "__global__ void __launch_bounds__({threads}, {resident})",
    "__shared__",
    "__align__(16)",
    "",
    "__restrict__",
    c.ExprStmt(c.Call("__syncthreads", ())),
    "blockIdx.{axis}",
    "threadIdx.{axis}",
    "gridDim.{axis}",
    HalfWords("__half", "__half2float", "__float2half", "__double2half"),
    "__half",
    True,
    True,
    (c.ExprStmt(c.Call("__pipeline_commit", ())),),
    (c.ExprStmt(c.Call("__pipeline_wait_prior", (c.Literal("0"),))),),
    frozenset(_CPP_WORDS.split()),
    "__device__ ",
)
OPENCL = Dialect(
    "opencl",
    "",
    "__kernel __attribute__((reqd_work_group_size({sizes})))\nvoid",
    "__local",
    "__attribute__((aligned(16)))",
    "__global ",
    "restrict",
    c.ExprStmt(c.Call("barrier", (c.Binary("|", c.Name("CLK_LOCAL_MEM_FENCE"), c.Name("CLK_GLOBAL_MEM_FENCE")),))),
    "get_group_id({number})",
    "get_local_id({number})",
    "get_num_groups({number})",
    HalfWords("ushort", "polyc_from_half", "polyc_to_half", "polyc_double_to_half"),
    "_Float16",
    words=frozenset(_OPENCL_WORDS.split()),
    add="atomic_add",
)
DIALECTS = {"cuda": CUDA, "opencl": OPENCL}
