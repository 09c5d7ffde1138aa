"""This machine as a CPU: what the system says of several machines, and which description is taken."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from polyc.errors import UserError
from polyc.machine import HOST, Cpu, load, load_cpu, load_gpu, shipped
from polyc.machine.host import MODELS, as_toml, described, host_file, nearest, quick_host
from polyc.machine.shipped import FOLDERS
from polyc.machine.system import Cache, System, of_linux, of_sysctl, this_system

SKYLAKE = """processor	: 0
vendor_id	: GenuineIntel
cpu family	: 6
model		: 85
model name	: Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz
flags		: fpu sse2 fma bmi2 avx2 avx512f avx512bw avx512cd avx512dq avx512vl

processor	: 1
vendor_id	: Other
"""
GRAVITON = """processor	: 0
BogoMIPS	: 243.75
Features	: fp asimd atomics sve
CPU implementer	: 0x41
CPU architecture: 8
CPU part	: 0xd40
"""
M1 = """machdep.cpu.brand_string: Apple M1
hw.pagesize: 16384
hw.cachelinesize: 128
hw.perflevel0.physicalcpu: 4
hw.perflevel0.logicalcpu: 4
hw.perflevel0.l1dcachesize: 131072
hw.perflevel0.l2cachesize: 12582912
hw.perflevel0.cpusperl2: 4
hw.physicalcpu: 8
hw.logicalcpu: 8
hw.l1dcachesize: 65536
"""
MAC = """machdep.cpu.brand_string: Intel(R) Core(TM) i7-8850H CPU @ 2.60GHz
hw.pagesize: 4096
hw.cachelinesize: 64
hw.physicalcpu: 6
hw.logicalcpu: 12
hw.l1dcachesize: 32768
hw.l2cachesize: 262144
hw.l3cachesize: 9437184
"""


def written(root: Path, cpuinfo: str, caches: list[tuple[int, str, str, str, str, str]], siblings: list[str]) -> Path:
    """A root with the folders proc and sys: caches of processor 0, and hyper-threads of each processor."""
    (root / "proc").mkdir()
    (root / "proc" / "cpuinfo").write_text(cpuinfo)
    cpus = root / "sys" / "devices" / "system" / "cpu"
    for n, listed in enumerate(siblings):
        (cpus / f"cpu{n}" / "topology").mkdir(parents=True)
        (cpus / f"cpu{n}" / "topology" / "thread_siblings_list").write_text(listed + "\n")
    keys = ("level", "type", "size", "coherency_line_size", "ways_of_associativity", "shared_cpu_list")
    for n, values in enumerate(caches):
        folder = cpus / "cpu0" / "cache" / f"index{n}"
        folder.mkdir(parents=True)
        for key, value in zip(keys, values, strict=True):
            (folder / key).write_text(f"{value}\n")
    return root


def test_linux_with_hyper_threads(tmp_path: Path) -> None:
    caches = [
        (1, "Data", "32K", "64", "8", "0,4"),
        (1, "Instruction", "32K", "64", "8", "0,4"),
        (2, "Unified", "1M", "64", "16", "0,4"),
        (3, "Unified", "28160K", "64", "11", "0-7"),
    ]
    root = written(tmp_path, SKYLAKE, caches, ["0,4", "1,5", "2,6", "3,7", "0,4", "1,5", "2,6", "3,7"])
    found = of_linux(root, frozenset(range(8)))
    assert (found.model, found.code) == ("Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz", "GenuineIntel 6 85")
    assert (found.isa, found.vector_bytes, found.vector_registers) == ("x86-64-v4", 64, 32)
    assert (found.cores, found.threads_per_core) == (4, 2)
    assert found.caches == (
        Cache(1, 32 << 10, 64, 8, 1),
        Cache(2, 1 << 20, 64, 16, 1),
        Cache(3, 28160 << 10, 64, 11, 4),
    )
    assert nearest(found) == "skylake-sp"
    few = of_linux(root, frozenset({0, 1, 5}))  # as with taskset
    assert (few.cores, few.threads_per_core, few.caches[2].shared_by) == (2, 2, 2)


def test_what_is_described(tmp_path: Path) -> None:
    caches = [(1, "Data", "48K", "64", "12", "0"), (3, "Unified", "8M", "64", "16", "0-3")]
    root = written(tmp_path, SKYLAKE, [*caches[:1], *caches[1:]], ["0", "1", "2", "3"])
    system, base = of_linux(root, frozenset(range(4))), load_cpu("skylake-sp")
    cpu = described(system, base)
    assert cpu.name.startswith("Intel(R) Xeon(R) Gold")
    assert cpu.cores == 4
    assert cpu.clock_ghz == base.clock_ghz
    l1, l3 = cpu.levels
    assert (l1.name, l1.bytes, l1.ways, l1.shared_by) == ("L1", 48 << 10, 12, 1)
    assert (l1.gb_per_s, l1.all_gb_per_s) == (250, 1000)
    assert (l3.name, l3.bytes, l3.ways, l3.shared_by) == ("L3", 8 << 20, 16, 4)
    assert (l3.gb_per_s, l3.all_gb_per_s) == (20, 56)  # 280 for 20 cores
    assert (cpu.memory.gb_per_s, cpu.memory.all_gb_per_s) == (12, 48)
    assert 1 <= cpu.parallel_region_us < base.parallel_region_us
    assert not list(cpu.contradictions())


def test_linux_on_arm_says_little(tmp_path: Path) -> None:
    found = of_linux(written(tmp_path, GRAVITON, [(1, "Data", "64K", "", "", "")], ["0", "1"]), frozenset({0, 1}))
    assert (found.code, found.isa, found.cores) == ("0x41 0xd40", "aarch64+sve", 2)
    assert nearest(found) == "graviton3"
    cpu = described(found, load_cpu("graviton3"))
    (l1,) = cpu.levels
    assert (l1.line_bytes, l1.ways, l1.shared_by) == (64, 4, 1)
    assert not list(cpu.contradictions())


def test_a_system_that_says_nothing(tmp_path: Path) -> None:
    found = of_linux(tmp_path, frozenset({0, 1, 2}))
    assert (found.cores, found.threads_per_core, found.caches) == (3, 1, ())
    for base in shipped("cpu"):
        cpu = described(found, load_cpu(base))
        assert len(cpu.levels) == len(load_cpu(base).levels)
        assert not list(cpu.contradictions()), base


def test_macs() -> None:
    apple = of_sysctl(M1)
    assert (apple.model, apple.isa, apple.cores, apple.threads_per_core) == ("Apple M1", "aarch64+neon", 4, 1)
    assert apple.caches == (Cache(1, 128 << 10, 128, 0, 1), Cache(2, 12 << 20, 128, 0, 4))
    assert nearest(apple) == "apple-m1"
    assert replace(described(apple, load_cpu("apple-m1")), name="") == replace(load_cpu("apple-m1"), name="")
    intel = of_sysctl(MAC)
    assert (intel.isa, intel.cores, intel.threads_per_core) == ("x86-64-v3", 6, 2)
    assert [cache.shared_by for cache in intel.caches] == [1, 1, 6]
    assert nearest(intel) == "x86-64-v3"
    assert of_sysctl("").cores >= 1


WIDE = frozenset(["fma", "bmi2", "avx2", "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"])
NEAREST = {
    ("AuthenticAMD 23 49", "x86-64", WIDE - {"avx512f"}): "zen2",
    ("AuthenticAMD 23 1", "x86-64", WIDE - {"avx512f"}): "x86-64-v3",  # Zen: halves of vectors
    ("AuthenticAMD 25 1", "x86-64", WIDE - {"avx512f"}): "zen3",
    ("AuthenticAMD 25 33", "x86-64", WIDE - {"avx512f"}): "zen3",
    ("AuthenticAMD 25 17", "x86-64", WIDE): "zen4",
    ("AuthenticAMD 25 17", "x86-64", WIDE - {"avx512f"}): "x86-64-v3",  # hidden by a virtual machine
    ("AuthenticAMD 25 97", "x86-64", WIDE): "zen4",
    ("AuthenticAMD 26 2", "x86-64", WIDE): "zen4",
    ("GenuineIntel 6 106", "x86-64", WIDE): "ice-lake-sp",
    ("GenuineIntel 6 143", "x86-64", WIDE): "sapphire-rapids",
    ("GenuineIntel 6 158", "x86-64", WIDE - {"avx512f"}): "x86-64-v3",
    ("GenuineIntel 6 42", "x86-64", frozenset({"avx"})): "x86-64-v3",
    ("Unknown 1 2", "x86-64", WIDE): "x86-64-v4",
    ("0x41 0xd0c", "aarch64", frozenset({"asimd"})): "graviton2",
    ("0x41 0xd03", "aarch64", frozenset({"asimd"})): "aarch64",
    ("0x61 0x022", "aarch64", frozenset({"asimd"})): "apple-m1",
}


@pytest.mark.parametrize("key", NEAREST)
def test_nearest(key: tuple[str, str, frozenset[str]]) -> None:
    code, architecture, features = key
    assert nearest(System("", code, architecture, features, 1, 1, 4096)) == NEAREST[key]


def test_all_that_are_near_are_shipped() -> None:
    assert {name for _, name in MODELS} < set(shipped("cpu"))


# --- `host` -----------------------------------------------------------------------------------------------------------


def test_without_measuring() -> None:
    assert not host_file().exists()
    cpu = load_cpu(HOST)
    assert cpu == load(HOST) == quick_host()
    assert cpu.cores == this_system().cores
    assert not list(cpu.contradictions())


def test_it_takes_no_time() -> None:
    times = []
    for _ in range(3):
        this_system.cache_clear()
        quick_host.cache_clear()
        start = time.process_time()
        load_cpu(HOST)
        times.append(time.process_time() - start)
    assert min(times) < 0.02


def test_what_was_measured_is_taken(kept: Path) -> None:
    file = host_file()
    assert file.is_relative_to(kept / "polyc" / "machines")
    file.parent.mkdir(parents=True)
    measured = replace(load_cpu("zen3"), name="measured")
    file.write_text(as_toml(measured))
    assert load_cpu(HOST) == measured
    with pytest.raises(UserError) as caught:
        load_gpu(HOST)
    assert caught.value.diagnostics[0].message == "'host' is a CPU, and the target runs on a GPU"
    file.unlink()
    assert load_cpu(HOST) == quick_host()


def test_a_broken_file_says_how_to_mend_it() -> None:
    file = host_file()
    file.parent.mkdir(parents=True)
    for text in ('kind = "cpu"\n', "", (FOLDERS["gpu"] / "h100.toml").read_text()):
        file.write_text(text)
        with pytest.raises(UserError) as caught:
            load(HOST)
        for problem in caught.value.diagnostics:
            assert problem.code == "bad-machine"
            assert "'polyc machine detect'" in problem.hint
            assert problem.span is not None
            assert problem.span.file == str(file)


def test_where_it_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for ignored in ("", "relative"):
        monkeypatch.setenv("XDG_CACHE_HOME", ignored)
        assert host_file().parent == tmp_path / ".cache" / "polyc" / "machines"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert host_file().parent == tmp_path / ".cache" / "polyc" / "machines"
    assert host_file().name.endswith(".toml")
    assert not set(host_file().stem) & set(" /()@")


def test_hosts_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """By model and cores: a cache may be on a network, and a process may be bound to some cores."""
    seen = set()
    for model in ("CPU @ 2.40GHz", "Ein/../ü", "CPU"):
        for cores in (2, 64):
            system = System(model, "", "x86-64", WIDE, cores, 1, 4096)
            monkeypatch.setattr("polyc.machine.host.this_system", lambda system=system: system)
            seen.add(host_file())
            assert host_file().parent.name == "machines"
    assert len(seen) == 6
    assert isinstance(load("zen4"), Cpu)
