"""Tensor cores: which sums they get, what the tree says, and that the values are right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from polyc.cost.gpu_sizes import contraction_candidates
from polyc.machine import load_gpu
from polyc.model.fragments import HALF, TF32, Fragment
from polyc.model.program import Options
from polyc.model.tree import WARP_AXES, Band, Mark, walk
from polyc.pipeline import compile_region
from polyc.runtime import compare, cuda_shim
from polyc.runtime.tolerance import tolerances
from polyc.verify import check
from tests.half import needs_half
from tests.passes.test_registers import ADDED, ALIGNED, BATCHED, CONVOLUTION, PARTLY, PRODUCT, TRIANGLE, TWICE
from tests.programs import after, region_of

ODD = """
void f(float A[39][43], float B[43][41], float C[39][41])
{
#pragma scop
    for (int i = 0; i < 39; i++)
        for (int j = 0; j < 41; j++)
            for (int k = 0; k < 43; k++)
                C[i][j] = C[i][j] + A[i][k] * B[k][j];
#pragma endscop
}
"""
POINTWISE = """
void f(float in[4][24][20][20], float w[35][24], float bias[35], float out[4][35][20][20])
{
#pragma scop
    for (int b = 0; b < 4; b++)
        for (int f = 0; f < 35; f++)
            for (int y = 0; y < 20; y++)
                for (int x = 0; x < 20; x++) {
                    out[b][f][y][x] = bias[f];
                    for (int c = 0; c < 24; c++)
                        out[b][f][y][x] += in[b][c][y][x] * w[f][c];
                }
#pragma endscop
}
"""
"""A convolution with a window of 1 x 1."""
PROGRAMS = {
    "odd": ODD,
    "short": ODD.replace("43", "12"),
    "aligned": ALIGNED,
    "product": PRODUCT,
    "added": ADDED.replace("double", "float"),
    "batched": BATCHED,
    "triangle": TRIANGLE.replace("double", "float"),
    "pointwise": POINTWISE,
    "twice": TWICE,
}
"""short: the second fragment of the sum has products of zeros only in its second half."""
HALF_ODD = ODD.replace("float A", "_Float16 A").replace("float B", "_Float16 B")
HALVES = {
    "half": HALF_ODD,
    "cast": HALF_ODD.replace("A[i][k] * B[k][j]", "(float)A[i][k] * (float)B[k][j]"),
    "half_product": PRODUCT.replace("float A", "_Float16 A").replace("float B", "_Float16 B"),
    "half_pointwise": POINTWISE.replace("float in", "_Float16 in").replace("float w", "_Float16 w"),
}
"""Products of halves, added up as floats."""
BOTH = {
    **{name: (text, "allow_tf32") for name, text in PROGRAMS.items()},
    **{n: (t, "reassociate") for n, t in HALVES.items()},
}


def remark(text: str, folder: Path, **options: Any) -> str:
    program = after(region_of(text, folder), "registers", **{"target": "cuda", "allow_tf32": True, **options})
    (found,) = [r.message for r in program.remarks if r.code == "register-tile"]
    return found


@pytest.mark.parametrize("name", BOTH)
def test_fragments(name: str, tmp_path: Path) -> None:
    text, option = BOTH[name]
    if name in HALVES:
        needs_half()
    program = after(region_of(text, tmp_path), "barriers", target="cuda", **{option: True})
    assert check(program) == []
    marks = [n for n in walk(program.tree.child) if isinstance(n, Mark) and n.kind == "mma"]
    assert len(marks) == (2 if name == "twice" else 1)
    assert {(m.text, m.sizes) for m in marks} == {("half", (16, 8, 16)) if name in HALVES else ("tf32", (16, 8, 8))}
    axes = {m.mapped for n in walk(program.tree.child) if isinstance(n, Band) for m in n.members}
    assert set(WARP_AXES[2:]) <= axes
    kernels = [n for n in walk(program.tree.child) if isinstance(n, Mark) and n.kind == "kernel"]
    assert all(k.sizes[0] == 32 for k in kernels)


def test_what_lies_outside(tmp_path: Path) -> None:
    """Sums whose length is no multiple of a fragment's add products of zeros."""
    odd = after(region_of(ODD, tmp_path), "registers", target="cuda", allow_tf32=True)
    assert odd.padded["S0"] == "neutral"
    whole = after(region_of(ODD.replace("43", "48"), tmp_path), "registers", target="cuda", allow_tf32=True)
    assert whole.padded["S0"] == "free"


def test_only_where_it_is_permitted(tmp_path: Path) -> None:
    program = after(region_of(ODD, tmp_path), "registers", target="cuda")
    assert not any(isinstance(n, Mark) and n.kind == "mma" for n in walk(program.tree.child))
    assert "tensor cores" not in remark(ODD, tmp_path, allow_tf32=False)
    assert remark(ODD, tmp_path).endswith(", by tensor cores")
    assert "tensor cores" not in remark(ODD, tmp_path, allow_tf32=False, reassociate=True)


def test_who_permits_products_of_halves(tmp_path: Path) -> None:
    """They are exact: all that changes is the order of additions."""
    needs_half()
    assert "tensor cores" not in remark(HALF_ODD, tmp_path, allow_tf32=False)
    assert remark(HALF_ODD, tmp_path, allow_tf32=False, reassociate=True).endswith(", by tensor cores")
    assert remark(HALF_ODD, tmp_path).endswith(", by tensor cores")
    rounded = HALF_ODD.replace("float C", "_Float16 C")
    assert "tensor cores" not in remark(rounded, tmp_path, allow_tf32=False, reassociate=True)
    assert remark(rounded, tmp_path).endswith(
        "; not by tensor cores: its sums are rounded to half precision at each step"
    )


@pytest.mark.parametrize(
    ("text", "options", "reason"),
    [
        (ODD, {"target": "opencl"}, "OpenCL has no words for them"),
        (ODD, {"machine": "v100"}, "NVIDIA V100 SXM2 has none for floats"),
        (ODD.replace("float", "double"), {}, "not all of its elements are float"),
        (ODD.replace("float B", "double B"), {}, "not all of its elements are float"),
        (ODD.replace("C[i][j] + A", "C[i][j] - A"), {}, "what it sums up is not the product"),
        (ODD.replace("A[i][k] * B", "2.0f * A[i][k] * B"), {}, "what it sums up is not the product"),
        (HALF_ODD, {"machine": "v100"}, "NVIDIA V100 SXM2 has none for such products of halves"),
        (HALF_ODD.replace("_Float16 B", "float B"), {}, "not all of its elements are float, nor its factors halves"),
        (PARTLY.replace("double", "float"), {}, "how long its sum is depends on the row or the column"),
        (CONVOLUTION, {}, "its sum runs over several loops"),
    ],
)
def test_why_not(text: str, options: dict[str, Any], reason: str, tmp_path: Path) -> None:
    assert f"; not by tensor cores: {reason}" in remark(text, tmp_path, **options)


@pytest.mark.parametrize("fragment", [TF32, HALF], ids=lambda f: f.name)
@pytest.mark.parametrize("machine", ["generic", "a100", "h100"])
def test_shapes(machine: str, fragment: Fragment) -> None:
    """Fewer than 200 as for any contraction; whole warps and fragments, within what a block has."""
    found = contraction_candidates(load_gpu(machine), 512, 512, 512, 1, fragment.operand_bytes, fragment=fragment)
    assert 0 < len(found) < 200
    for size in found:
        assert size.fragment is fragment
        assert size.block[0] == 32
        assert size.threads == 32 * size.warps[0] * size.warps[1]
        assert (size.block_m, size.block_n) == (8 * size.thread_m * size.warps[0], 4 * size.thread_n * size.warps[1])
        assert size.block_k % fragment.depth == 0
        assert size.shared_bytes <= load_gpu(machine).shared_bytes_per_block
        assert 0 < size.score <= 1


def test_tolerance(tmp_path: Path) -> None:
    """From the ten bits of tf32 and the length of the sum, for what the sum reaches; for nothing else."""
    region = region_of(ODD, tmp_path)
    compiled = compile_region(region, Options(target="cuda", allow_tf32=True))
    (found,) = tolerances(compiled.program, {}).items()
    assert found[0] == "C"
    assert found[1] == pytest.approx(2.0**-10 + 2.0**-22 + 43 * 2.0**-22)
    assert tolerances(compile_region(region, Options(target="cuda")).program, {}) == {}


def test_tolerance_of_halves(tmp_path: Path) -> None:
    """Products are exact: only the additions count."""
    needs_half()
    compiled = compile_region(region_of(HALF_ODD, tmp_path), Options(target="cuda", allow_tf32=True))
    assert tolerances(compiled.program, {}) == pytest.approx({"C": 43 * 2.0**-22})


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_same_values(name: str, tmp_path: Path) -> None:
    region = region_of(PROGRAMS[name], tmp_path)
    compiled = compile_region(region, Options(target="cuda", allow_tf32=True))
    assert compiled.passed
    assert "polyc_mma_tf32(" in compiled.device[0]
    report = compare(region, compiled, (1, 37))
    assert not report.differences, report.differences[0].message
    assert report.rows, report.skipped
    assert all(2.0**-10 < row.rounding < 2.0**-8 for row in report.rows)


@pytest.mark.slow
@pytest.mark.parametrize("name", HALVES)
def test_same_values_from_halves(name: str, tmp_path: Path) -> None:
    """With --allow-tf32, so that nothing but the bound of these sums is allowed."""
    needs_half()
    region = region_of(HALVES[name], tmp_path)
    compiled = compile_region(region, Options(target="cuda", allow_tf32=True))
    assert compiled.passed
    assert "polyc_mma_half(" in compiled.device[0]
    report = compare(region, compiled, (1, 37))
    assert not report.differences, report.differences[0].message
    assert report.rows, report.skipped
    assert all(0 < row.rounding < 2.0**-12 for row in report.rows)


@pytest.mark.slow
def test_older_gpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Below sm_80 the same text adds up by shuffles, without rounding."""
    build = cuda_shim.build

    def as_on_sm_75(text: str, *arguments: Any, **more: Any) -> Path:
        return build(f"#define __CUDA_ARCH__ 750\n{text}", *arguments, **more)

    monkeypatch.setattr(cuda_shim, "build", as_on_sm_75)
    monkeypatch.setattr("polyc.runtime.tolerance.FACTORS", 2.0**-22)
    region = region_of(ODD, tmp_path)
    report = compare(region, compile_region(region, Options(target="cuda", allow_tf32=True)), (1,))
    assert not report.differences, report.differences[0].message
    assert report.rows


@pytest.mark.slow
@pytest.mark.parametrize("architecture", [700, 750])
def test_older_gpus_and_halves(architecture: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On sm_75 two shorter instructions, below it shuffles."""
    needs_half()
    build = cuda_shim.build

    def as_on(text: str, *arguments: Any, **more: Any) -> Path:
        return build(f"#define __CUDA_ARCH__ {architecture}\n{text}", *arguments, **more)

    monkeypatch.setattr(cuda_shim, "build", as_on)
    region = region_of(HALF_ODD, tmp_path)
    report = compare(region, compile_region(region, Options(target="cuda", reassociate=True)), (1,))
    assert not report.differences, report.differences[0].message
    assert report.rows


@pytest.mark.slow
def test_rounding_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The factors are rounded in the shim: without a tolerance for that the values differ."""
    monkeypatch.setattr("polyc.runtime.tolerance.FACTORS", 2.0**-22)
    region = region_of(ODD, tmp_path)
    report = compare(region, compile_region(region, Options(target="cuda", allow_tf32=True)), (1,))
    assert report.differences
