"""The counters of the CUDA shim: kernels with known answers, by the rules of the hardware."""

from __future__ import annotations

import ctypes
import os
import shutil
from pathlib import Path

import pytest

from polyc.runtime.cuda_shim import BLOCKS, Launch, build, read_counters, report
from polyc.runtime.cuda_shim.launches import rewrite_unrolled

pytestmark = pytest.mark.skipif(
    not (shutil.which("g++") and shutil.which("addr2line") and shutil.which("objdump")),
    reason="the shim is built with g++, and places are read with binutils",
)

TEXT = (Path(__file__).parent / "programs" / "counted.cu").read_text()


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(TEXT, [], tmp_path_factory.mktemp("counted"), count=True)


def counted(library: Path, name: str) -> list[Launch]:
    """What the kernels of one function did."""
    code = ctypes.CDLL(str(library))
    code.polyc_shim_clear()
    assert code[f"run_{name}"]() == 0
    assert report(library) == []
    return read_counters(library)


def one(library: Path, name: str) -> Launch:
    (launch,) = counted(library, name)
    assert launch.kernel == name
    return launch


def loads(launch: Launch) -> tuple[int, int, int]:
    total = launch.total
    return total.load_requests, total.load_sectors, total.load_sectors_least


def stores(launch: Launch) -> tuple[int, int, int]:
    total = launch.total
    return total.store_requests, total.store_sectors, total.store_sectors_least


def shared(launch: Launch) -> tuple[int, int, int]:
    total = launch.total
    return total.shared_requests, total.wavefronts, total.wavefronts_least


def line_of(text: str) -> int:
    """The number of the one line that has this text."""
    (number,) = (number for number, line in enumerate(TEXT.splitlines(), 1) if text in line)
    return number


def test_coalesced_copy(library: Path) -> None:
    """32 warps, each 128 bytes: four sectors."""
    launch = one(library, "copy")
    assert (launch.grid, launch.block, launch.shared_bytes) == ((4, 1, 1), (256, 1, 1), 0)
    assert loads(launch) == stores(launch) == (32, 128, 128)
    assert launch.compulsory == (128, 128)
    assert (launch.total.requests, launch.total.lanes, launch.total.divergent) == (64, 64 * 32, 0)
    assert launch.total.splits == launch.barriers == 0


def test_a_copy_that_begins_inside_a_sector(library: Path) -> None:
    """Five sectors hold what four could; the kernel touches one more in all."""
    launch = one(library, "shifted")
    assert loads(launch) == (32, 160, 128)
    assert launch.compulsory == (129, 128)


def test_strided_load(library: Path) -> None:
    """Each lane has a sector of its own, and takes 4 bytes of it."""
    launch = one(library, "strided")
    assert loads(launch) == (32, 32 * 32, 32 * 4)
    assert launch.compulsory == (1024, 128)


def test_broadcast(library: Path) -> None:
    """One word for all lanes is one sector, and one wavefront."""
    launch = one(library, "broadcast")
    assert loads(launch) == (1, 1, 1)
    assert shared(launch) == (2, 2, 2)
    assert launch.barriers == 1


@pytest.mark.parametrize(("name", "wavefronts"), [("unpadded", 128 + 32 * 128), ("padded", 128 + 128)])
def test_transpose(library: Path, name: str, wavefronts: int) -> None:
    """Columns of a tile of 32 x 32 lie in one bank; with one more column a row they lie in 32."""
    launch = one(library, name)
    assert launch.shared_bytes == 4 * 32 * (33 if name == "padded" else 32)
    assert loads(launch) == stores(launch) == (128, 512, 512)
    assert shared(launch) == (256, wavefronts, 256)
    assert launch.barriers == 4
    reads = launch.lines[line_of(f"turn<{int(name == 'padded')}>")]
    assert (reads.wavefronts, reads.wavefronts_least) == (wavefronts, 256)


def test_wide_accesses(library: Path) -> None:
    """16 bytes a lane are four wavefronts to store and eight to load, 8 bytes are two; one value for all lanes is one,
    or two where it has 16 bytes. So Nsight Compute counts on an H200."""
    wide4, wide2, same = counted(library, "wide")
    assert loads(wide4) == stores(wide4) == (1, 16, 16)
    assert loads(wide2) == stores(wide2) == (1, 8, 8)
    assert shared(wide4) == (2, 12, 12)
    assert shared(wide2) == (2, 4, 4)
    assert shared(same) == (2, 6, 6)


def test_neighbours_in_shared_memory_are_one_load(library: Path) -> None:
    launch = one(library, "together")
    assert shared(launch) == (4 + 1, 4 + 8, 4 + 8)
    assert launch.operations is not None
    assert (launch.operations.float_adds, launch.operations.float_products) == (4 * 32, 0)


def test_lanes_meet_again_behind_a_loop(library: Path) -> None:
    """Two turns of five loads, of which half of the lanes make three."""
    launch = one(library, "uneven")
    assert loads(launch) == (2 * 5, 2 * 5 * 4, 2 * (3 * 4 + 2 * 2))
    assert launch.total.divergent == 2 * 2
    assert launch.total.lanes == 2 * (3 * 32 + 2 * 16) + 32
    assert launch.total.splits == 2


def test_few_lanes(library: Path) -> None:
    """Nine lanes load, then three others, then all store; the second warp has 16 threads."""
    launch = one(library, "few")
    assert loads(launch) == (2, 2 + 1, 2 + 1)
    assert stores(launch) == (2, 4 + 2, 4 + 2)
    assert launch.total.lanes == 9 + 3 + 32 + 16
    assert launch.total.divergent == 2
    assert launch.total.splits == 2
    of_line = launch.lines[line_of("value = a[threadIdx.x];")]
    assert (of_line.requests, of_line.lanes) == (1, 9)


def test_functions(library: Path) -> None:
    launch = one(library, "called")
    assert loads(launch) == (2, 4 + 2, 4 + 2)
    assert stores(launch) == (1, 4, 4)
    assert launch.total.lanes == 32 + 16 + 32


def test_copies_to_shared_memory(library: Path) -> None:
    """What is not inside is zero, and not read."""
    launch = one(library, "copied")
    assert loads(launch) == (1, 3, 3)
    assert shared(launch) == (4, 4, 4)
    assert launch.total.copies == 1
    assert launch.total.lanes == 24 + 2 * 32 + 2 * 32 + 2 * 32


def test_atomic_updates(library: Path) -> None:
    launch = one(library, "updates")
    assert launch.total.atomics == 2
    assert stores(launch) == (2, 2, 2)
    assert shared(launch) == (3, 3, 3)
    assert launch.barriers == 2


@pytest.mark.parametrize(("name", "all_blocks", "blocks"), [("rows", 200, 24), ("stencil", 400, 20)])
def test_some_blocks_stand_for_all(
    library: Path, name: str, all_blocks: int, blocks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Interior and borders, what neighbours share and what all share: each count is that of the whole run."""
    whole = one(library, name)
    monkeypatch.setitem(os.environ, BLOCKS, "24")
    part = one(library, name)
    assert (whole.blocks_run, part.blocks_run) == (all_blocks, blocks)
    assert not whole.sampled
    assert part.sampled
    part.blocks_run = whole.blocks_run
    assert part == whole


def test_some_launches_stand_for_all(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a hundred launches: 32, 16 up to the 64th, and nine of the rest. Every eighth begins at a sector's start."""
    whole = one(library, "steps")
    assert (whole.launches, whole.blocks_run) == (100, 100)
    assert stores(whole) == (100, 100 * 5 - 13, 400)
    monkeypatch.setitem(os.environ, BLOCKS, "24")
    part = one(library, "steps")
    assert (part.launches, part.blocks_run) == (100, 32 + 16 + 9)
    assert part.sampled
    requests, sectors, least = stores(part)
    assert (requests, least) == (100, 400)
    assert sectors == pytest.approx(487, rel=0.03)


def test_the_same_counts_each_time(library: Path) -> None:
    assert counted(library, "stencil") == counted(library, "stencil")


def test_whole_loops_are_unrolled() -> None:
    text = "  #pragma unroll\n#pragma unroll 8\nint unroll;\n"
    assert rewrite_unrolled(text) == "  #pragma GCC unroll 65534\n#pragma unroll 8\nint unroll;\n"
