"""The CUDA shim: right kernels compute what they say without a fault, and each kind of mistake is found at its line."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polyc.runtime import BuildError
from polyc.runtime.cuda_shim import RewriteError, build, report
from polyc.runtime.cuda_shim.launches import (
    Kernel,
    kernels,
    rewrite_asm,
    rewrite_dynamic_shared,
    rewrite_launches,
)

pytestmark = pytest.mark.skipif(not shutil.which("g++"), reason="the shim is built with g++")

PROGRAMS = Path(__file__).parent / "programs"
WRONG = (PROGRAMS / "wrong.cu").read_text()
MISTAKES = {
    match[1]: (match[2], "" if match[3] else f"region.cu:{number}: ")
    for number, text in enumerate(WRONG.splitlines(), 1)
    if (match := re.search(r"// (\w+): ([a-z ]*[a-z])( \*)?$", text))
}


class Library:
    """A program that the shim runs in this process, faults and all."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.code = ctypes.CDLL(str(path))

    def call(self, name: str, *arguments: Any) -> int:
        self.code.polyc_shim_clear()
        values = [a.ctypes.data_as(ctypes.c_void_p) if isinstance(a, np.ndarray) else a for a in arguments]
        return int(self.code[name](*values))

    def report(self) -> list[str]:
        return report(self.path)


@pytest.fixture(scope="module", params=[True, False], ids=["checked", "unchecked"])
def right(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Library:
    return Library(build((PROGRAMS / "right.cu").read_text(), [], tmp_path_factory.mktemp("right"), request.param))


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return Library(build(WRONG, [], tmp_path_factory.mktemp("wrong")))


@pytest.mark.parametrize("n", [1, 32, 75, 200])
def test_tile(right: Library, n: int) -> None:
    a, c = np.random.default_rng(n).random((n, n), dtype=np.float32), np.zeros((n, n), np.float32)
    right.call("transpose", n, a, c)
    assert (c == a.T).all()
    assert right.report() == []


def test_grid_stride(right: Library) -> None:
    x, y = np.arange(1000.0), np.ones(1000)
    right.call("axpy", 1000, x, y)
    assert (y == 2 * x + 1).all()
    assert right.report() == []


def test_kernels_in_a_loop_of_the_host(right: Library) -> None:
    a = np.random.default_rng(0).random((100, 100))
    expected = a.copy()
    for _ in range(5):
        e = expected
        e[1:-1, 1:-1] = 0.2 * (e[1:-1, 1:-1] + e[1:-1, :-2] + e[1:-1, 2:] + e[:-2, 1:-1] + e[2:, 1:-1])
    right.call("jacobi", 5, 100, a)
    assert (a == expected).all()
    assert right.report() == []


def test_atomics(right: Library) -> None:
    x, total = np.arange(1000, dtype=np.float32), np.full(1, 0.5)
    right.call("sum", 1000, x, total)
    assert total[0] == x.sum() + 0.5
    assert right.report() == []


def test_bytes(right: Library) -> None:
    x = np.zeros(100, np.int8)
    right.call("bytes", 100, x)
    own = np.zeros((100, 16))
    for k in range(16):
        own[np.arange(100), (k * 5 + np.arange(100)) % 16] = k
    assert (x == own[np.arange(100), np.arange(100) % 16]).all()
    assert right.report() == []


def test_warps_and_dynamic_shared_memory(right: Library) -> None:
    x = np.arange(128, dtype=np.float32)
    expected = x.reshape(4, 32).sum(axis=1).repeat(32)
    right.call("warps", x)
    assert (x == expected).all()
    assert right.report() == []


def test_tensor_cores(right: Library) -> None:
    """Factors have ten bits of mantissa, ties go away from zero; sums are float's."""
    rng = np.random.default_rng(0)
    a, b, c = (rng.normal(size=shape).astype(np.float32) for shape in ((16, 8), (8, 8), (16, 8)))
    a[0, :3] = 1 + 2.0**-11, -1 - 2.0**-11, 1 + 2.0**-11 - 2.0**-20
    rounded = [((x.view(np.uint32) + np.uint32(0x1000)) & np.uint32(0xFFFFE000)).view(np.float32) for x in (a, b)]
    assert list(rounded[0][0, :3]) == [1 + 2.0**-10, -1 - 2.0**-10, 1]
    expected = rounded[0].astype(float) @ rounded[1].astype(float) + c
    turned = np.zeros(32, np.uint32)
    right.call("tensor", a, b, c, turned)
    assert (c == expected.astype(np.float32)).all()
    assert (turned == np.arange(32)[::-1]).all()
    assert right.report() == []


def test_tensor_cores_and_halves(right: Library) -> None:
    """Products of halves are exact, also of the smallest ones; the shorter instruction has half of the products."""
    rng = np.random.default_rng(1)
    a, b = (rng.normal(size=shape).astype(np.float16) for shape in ((16, 16), (16, 8)))
    a[0, :4] = 2.0**-24, -(2.0**-15), 65504, 0
    c = rng.normal(size=(16, 8)).astype(np.float32)
    first, rest = (a[:, p].astype(float) @ b[p].astype(float) for p in (slice(0, 8), slice(8, 16)))
    halfway = (c + first).astype(np.float32)
    expected = ((c + (first + rest)).astype(np.float32), (halfway + rest).astype(np.float32))
    again = c.copy()
    right.call("halves", a.view(np.uint16), b.view(np.uint16), c, again)
    assert np.allclose(c, expected[0], rtol=2e-7, atol=0)
    assert np.allclose(again, expected[1], rtol=2e-7, atol=0)
    assert right.report() == []


def test_vectors_constants_and_templates(right: Library) -> None:
    x = np.ones((50, 4), np.float32)
    right.call("vectors", 50, x)
    assert (x == np.array([1, 2, 3, 8])).all()
    assert right.report() == []


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake(wrong: Library, name: str) -> None:
    kind, place = MISTAKES[name]
    wrong.call(name)
    found = wrong.report()
    assert [line for line in found if line.startswith(f"{kind}: {place}")], found
    # Where a write races with a read, some thread reads before anything is written.
    assert {line.partition(":")[0] for line in found} <= {kind, "uninitialised" if kind == "race" else kind}
    assert wrong.code.last_error() != 0


def test_messages(wrong: Library) -> None:
    """Who, what and where stand in a message."""
    messages = {}
    for name in ("no_barrier", "two_blocks_write", "behind_the_end", "behind_shared", "some_wait", "large_block"):
        wrong.call(name)
        messages[name] = re.sub(r"allocation \d+", "allocation N", wrong.report()[0])
        messages[name] = re.sub(r"thread \(\d+", "thread (T", messages[name])
    line = {name: place for name, (_, place) in MISTAKES.items()}
    assert messages["two_blocks_write"] in [
        f"race: {line['two_blocks_write']}kernel two_blocks_write_1: thread (T, 0, 0) of block ({new}, 0, 0) writes 4 "
        f"bytes at byte {byte} of allocation N (256 bytes), which thread (T, 0, 0) of block ({1 - new}, 0, 0) wrote "
        "with no barrier between"
        for new in (0, 1)
        for byte in range(0, 256, 4)
    ]
    assert messages["behind_the_end"] == (
        f"bounds: {line['behind_the_end']}kernel behind_the_end_1: thread (T, 0, 0) of block (0, 0, 0) writes 4 bytes "
        "at byte 256 of allocation N (256 bytes)"
    )
    assert "writes 4 bytes at byte 256 of first (256 bytes)" in messages["behind_shared"]
    assert messages["some_wait"] == (
        "divergent barrier: kernel some_wait_1: thread (T, 0, 0) of block (0, 0, 0) waits at line "
        f"{line_number('some_wait')}, thread (T, 0, 0) of block (0, 0, 0) has ended"
    )
    assert messages["large_block"] == (
        "launch: kernel nothing_1: a block of 32 x 33 x 1 threads; at most 1024 x 1024 x 64, and 1024 in all, "
        "at least 1"
    )


def line_number(name: str) -> int:
    return next(k for k, text in enumerate(WRONG.splitlines(), 1) if f"// {name}: " in text)


def test_report_of_a_process_that_exits(tmp_path: Path) -> None:
    """Generated programs end where a call fails: what they print has the fault, and the report is there."""
    text = """
#include <cuda_runtime.h>
#include <stdio.h>
__global__ void k(int *a) { a[threadIdx.x + 1] = 1; }
extern "C" void run(void)
{
  int *a;
  cudaMalloc(&a, 32);
  k<<<1, 8>>>(a);
  cudaError_t error = cudaDeviceSynchronize();
  if (error) {
    fprintf(stderr, "%s\\n", cudaGetErrorString(error));
    exit(3);
  }
}
"""
    library = build(text, [], tmp_path)
    command = [sys.executable, "-c", "import ctypes, sys; ctypes.CDLL(sys.argv[1]).run()", str(library)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "cudaErrorIllegalAddress: bounds: " in done.stderr
    assert [line.partition(" kernel")[0] for line in report(library)] == ["bounds: region.cu:4:"]


def test_host_c(tmp_path: Path) -> None:
    host = tmp_path / "main.c"
    host.write_text("void fill(int n, int *a);\nint first(void) { int a[3]; fill(3, a); return a[2]; }\n")
    text = """
#include <cuda_runtime.h>
__global__ void k(int n, int *a) { if (threadIdx.x < n) a[threadIdx.x] = 7 * threadIdx.x; }
extern "C" void fill(int n, int *a)
{
  int *d;
  cudaMalloc((void **)&d, n * sizeof *d);
  k<<<1, 32>>>(n, d);
  cudaMemcpy(a, d, n * sizeof *d, cudaMemcpyDeviceToHost);
  cudaFree(d);
}
"""
    library = build(text, [host], tmp_path)
    assert ctypes.CDLL(str(library)).first() == 14
    assert report(library) == []


def test_compiler_refuses(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"region\.cu:2:.*nothing"):
        build("#include <cuda_runtime.h>\n__global__ void k(int n) { nothing = n; }\n", [], tmp_path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("k<<<1, 32>>>();", 'polyc_shim::launch("k", k, polyc_shim::Config(1, 32));'),
        (
            "k <<< dim3((n + 31) / 32, f(a, (b))), dim3(32, 8), 0, s >>> (n, g(a, b), C);",
            'polyc_shim::launch("k", k, polyc_shim::Config( dim3((n + 31) / 32, f(a, (b))), dim3(32, 8), 0, s ), '
            "n, g(a, b), C);",
        ),
        (
            "if (x)\n  a::k<float, f<(3 > 2)>>\n<<<n, 1>>>(\n  x);",
            'if (x)\n  polyc_shim::launch("k", a::k<float, f<(3 > 2)>>, polyc_shim::Config(n, 1), \n  x);',
        ),
        (
            "k<<<(a >> 3) + 1, b[c >>1]>>>({1, 2});",
            'polyc_shim::launch("k", k, polyc_shim::Config((a >> 3) + 1, b[c >>1]), {1, 2});',
        ),
        (
            "j<<<1, 1>>>(); k<<<2, 2>>>(x);",
            'polyc_shim::launch("j", j, polyc_shim::Config(1, 1)); '
            'polyc_shim::launch("k", k, polyc_shim::Config(2, 2), x);',
        ),
        (
            "// k<<<1, 1>>>();\nf(\"<<<\", '<'); /* <<< */ a << 3;",
            "// k<<<1, 1>>>();\nf(\"<<<\", '<'); /* <<< */ a << 3;",
        ),
        (
            "k<<<1, /* >>> ) */ 1>>>(\")\", ')');",
            'polyc_shim::launch("k", k, polyc_shim::Config(1, /* >>> ) */ 1), ")", \')\');',
        ),
    ],
)
def test_launches(text: str, expected: str) -> None:
    assert rewrite_launches(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\nk<<<1, 2;", "line 2: '<<<' without '>>>'"),
        ("k<<<1, (2>>>(3);", "line 1: '(' is not closed"),
        ("k<<<1, 2>>>;", "line 1: no '(' after '>>>'"),
        ("k<<<1, 2>>>(f(x);", "line 1: '(' is not closed"),
        ("= <<<1, 2>>>(x);", "line 1: no kernel before '<<<'"),
        ("k><<<1, 2>>>(x);", "line 1: '>' without '<'"),
    ],
)
def test_launches_that_are_none(text: str, message: str) -> None:
    with pytest.raises(RewriteError, match=re.escape(message)):
        rewrite_launches(text)


def test_ptx() -> None:
    text = (
        'f(); asm volatile("a.b.f32 {%0, %1}, "\n "%2, {%0};" : "+f"(x[0]), "=f"(y) : "r"(g(1, 2))); '
        'asm("c.d %0;" : "=r"(z));'
    )
    assert rewrite_asm(text) == "f(); polyc_shim::ptx_a_b_f32(x[0], y, g(1, 2), x[0])\n; polyc_shim::ptx_c_d(z);"


@pytest.mark.parametrize("text", ['\nasm("a.b %1;" : "=r"(x));', '\nasm("a.b %0; c.d %0;" : "=r"(x));', "\nasm(name);"])
def test_ptx_that_the_shim_does_not_read(text: str) -> None:
    with pytest.raises(RewriteError, match="line 2: the shim knows single instructions of PTX only"):
        rewrite_asm(text)


def test_kernels() -> None:
    text = """
__global__ void a(int n);
__global__ void __launch_bounds__(256) a(int n) {}
extern "C" __global__ void __launch_bounds__(128, 2)
b(float (*x)[10]) { a<<<1, 1>>>(0); }
__global__ static void c() {}  // __global__ void d()
"""
    assert kernels(text) == [Kernel("a", 256), Kernel("b", 128), Kernel("c", 0)]


def test_dynamic_shared() -> None:
    text = "extern __shared__ unsigned int a[];"
    assert rewrite_dynamic_shared(text) == "unsigned int *a = (unsigned int *)polyc_shim_dynamic_shared();"
