"""`polyc machine detect`: what it makes of the benchmark's figures, and what it does where there are none."""

from __future__ import annotations

import shutil
import stat
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from polyc.cli.main import cli
from polyc.machine import HOST, Cpu, load_cpu
from polyc.machine.host import host_file, quick_host
from polyc.runtime import measure as m
from polyc.runtime.process.build import BuildError

GCC = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
CPU = replace(
    load_cpu("zen4"), cores=2, levels=tuple(replace(x, shared_by=min(2, x.shared_by)) for x in load_cpu("zen4").levels)
)
FIGURES = {
    "clock_ghz": 3.69,
    "double_gflops": 59.1,
    "float_gflops": 118.2,
    "all_double_gflops": 117.0,
    "fma_latency_ns": 1.083,
    "store_gb_per_s": 103.0,
    "region_us": 1.2345,
    "L1.gb_per_s": 222.1,
    "L1.latency_ns": 1.083,
    "L2.gb_per_s": 115.8,
    "L2.latency_ns": 4.918,
    "L3.gb_per_s": 99.6,
    "L3.all_gb_per_s": 196.6,
    "L3.latency_ns": 15.3,
    "memory.gb_per_s": 24.6,
    "memory.all_gb_per_s": 43.7,
    "memory.copy_gb_per_s": 24.5,
    "memory.all_copy_gb_per_s": 44.6,
    "memory.latency_ns": 154.8,
}
ALL = ("region_us", "all_double_gflops", "L3.all_gb_per_s", "memory.all_gb_per_s", "memory.all_copy_gb_per_s")


def printed(figures: dict[str, float]) -> str:
    return "".join(f"{key} {value}\n" for key, value in figures.items())


def polyc(*words: str) -> Result:
    return CliRunner().invoke(cli, list(words), prog_name="polyc", catch_exceptions=False)


# --- figures ----------------------------------------------------------------------------------------------------------


def test_figures_of_the_benchmark() -> None:
    cpu, remarks = m.with_figures(CPU, m.read_figures(printed(FIGURES)))
    assert remarks == []
    assert (cpu.clock_ghz, cpu.fma_per_cycle, cpu.fma_latency_cycles) == (3.69, 1.0, 4.0)
    assert (cpu.loads_per_cycle, cpu.stores_per_cycle) == (1.0, 0.5)
    assert cpu.parallel_region_us == 1.23
    l1, l2, l3 = cpu.levels
    assert (l1.gb_per_s, l1.all_gb_per_s, l1.latency_ns) == (222, 444, 1.08)
    assert (l2.gb_per_s, l2.all_gb_per_s, l2.latency_ns) == (116, 232, 4.92)
    assert (l3.gb_per_s, l3.all_gb_per_s, l3.latency_ns) == (99.6, 197, 15.3)
    assert [level.bytes for level in cpu.levels] == [level.bytes for level in CPU.levels]
    assert cpu.memory.all_copy_gb_per_s == 44.6
    assert not list(cpu.contradictions())


def test_without_openmp_all_cores_are_an_estimate() -> None:
    cpu, remarks = m.with_figures(CPU, {key: value for key, value in FIGURES.items() if key not in ALL})
    assert remarks == ["the compiler has no OpenMP: rates of all cores and the cost of a parallel region are estimates"]
    assert cpu.levels[0].all_gb_per_s == 444
    assert cpu.levels[2].all_gb_per_s > cpu.levels[2].gb_per_s
    assert cpu.memory.all_gb_per_s == 49.2
    assert cpu.parallel_region_us == CPU.parallel_region_us
    assert not list(cpu.contradictions())


def test_a_busy_machine_is_told() -> None:
    busy = FIGURES | {"all_double_gflops": 60.0, "L3.all_gb_per_s": 90.0, "L3.latency_ns": 300.0}
    cpu, remarks = m.with_figures(CPU, busy)
    assert remarks == [
        "the cores were busy with other work: run this again when they are not",
        "the latency of L3 could not be measured: 300 ns, as others use it as well",
    ]
    assert cpu.clock_ghz == 3.69
    assert cpu.levels[2].latency_ns == CPU.levels[2].latency_ns
    assert not list(cpu.contradictions())


def test_cores_that_get_slower_together() -> None:
    cpu, remarks = m.with_figures(CPU, FIGURES | {"all_double_gflops": 2 * 59.1 * 0.8})
    assert remarks == []
    assert cpu.clock_ghz == pytest.approx(3.69 * 0.8, abs=0.01)


def test_figures_that_are_near_no_round_number() -> None:
    cpu, _ = m.with_figures(CPU, FIGURES | {"double_gflops": 80.0, "float_gflops": 150.0, "fma_latency_ns": 1.2})
    assert cpu.fma_per_cycle == 1.36
    assert cpu.fma_latency_cycles == 4.43


def test_the_best_of_several_runs() -> None:
    assert m.best([{"a": 1.0, "b_ns": 3.0, "c_us": 1.0}, {"a": 2.0, "b_ns": 2.0, "c_us": 5.0}]) == {
        "a": 2.0,
        "b_ns": 2.0,
        "c_us": 1.0,
    }


@pytest.mark.parametrize("text", ["clock_ghz", "clock_ghz fast", "clock_ghz inf", "clock_ghz nan", "clock_ghz -1", "?"])
def test_what_is_no_figure(text: str) -> None:
    with pytest.raises(m.MeasureError, match=r"the benchmark (printed|found) '"):
        m.read_figures(text + "\n")


def test_a_figure_that_lacks() -> None:
    with pytest.raises(m.MeasureError, match="the benchmark did not print 'clock_ghz'"):
        m.with_figures(CPU, {})


def test_what_is_read_of_each_level(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sysconf", lambda _: 1 << 20)
    sizes = {}
    for name in ("zen4", "skylake-sp", "graviton2", "apple-m1"):
        threads, line, *places = m.arguments(load_cpu(name))
        assert (int(threads), int(line)) == (load_cpu(name).cores, load_cpu(name).levels[0].line_bytes)
        sizes[name] = {p.split(":")[0]: tuple(int(n) // 1024 for n in p.split(":")[1:]) for p in places}
    assert sizes["zen4"] == {"L1": (16, 0), "L2": (512, 0), "L3": (3072, 2048), "memory": (128 << 10, 10920)}
    assert sizes["skylake-sp"]["L3"] == (3072, 1408)
    assert sizes["graviton2"]["L3"] == (3072, 0)  # the shares fit into the L2
    assert sizes["apple-m1"]["L2"] == (384, 384)


# --- compilers --------------------------------------------------------------------------------------------------------


def test_which_compilers_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polyc.runtime.measure.which", lambda name: name if name != "cc" else None)
    monkeypatch.delenv("CC", raising=False)
    assert m.compilers(None) == [["gcc"], ["clang"]]
    monkeypatch.setenv("CC", "ccache 'my cc' -m64")
    assert m.compilers(None) == [["ccache", "my cc", "-m64"], ["gcc"], ["clang"]]
    assert m.compilers("icx -O2") == [["icx", "-O2"]]
    for wrong in ("'", "", " "):
        with pytest.raises(m.MeasureError):
            m.compilers(wrong)
    monkeypatch.delenv("CC")
    monkeypatch.setattr("polyc.runtime.measure.which", lambda name: None)
    with pytest.raises(m.MeasureError, match="there is no C compiler: install gcc or clang"):
        m.compilers(None)


def test_openmp_before_everything_else(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tried = []

    def refuse(command: list[str], folder: Path) -> None:
        assert folder == tmp_path
        tried.append((command[0], "-fopenmp" in command))
        if command[0] != "b" or "-march=native" in command or "-fopenmp" in command:
            raise BuildError(f"{command[0]} cannot\nmore")

    monkeypatch.setattr("polyc.runtime.measure.run_compiler", refuse)
    assert m.built(CPU, [["a"], ["b"]], tmp_path) == (tmp_path / "measure", "b -O3 -mcpu=native")
    assert tried == [("a", True)] * 2 + [("b", True)] * 2 + [("a", False)] * 3 + [("b", False)] * 2
    with pytest.raises(m.MeasureError, match=r"^the benchmark cannot be built: a: a cannot$"):
        m.built(CPU, [["a"]], tmp_path)


@GCC
@pytest.mark.parametrize("options", [(16, 32), (32, 16), (64, 32)])
@pytest.mark.parametrize("openmp", [["-fopenmp"], []])
def test_the_benchmark_has_no_warnings(options: tuple[int, int], openmp: list[str]) -> None:
    width, registers = options
    command = ["gcc", "-std=gnu11", "-Wall", "-Wextra", "-Wno-psabi", "-Werror", "-fsyntax-only", *openmp]
    done = subprocess.run(
        [*command, f"-DVECTOR_BYTES={width}", f"-DVECTOR_REGISTERS={registers}", str(m.SOURCE)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert done.returncode == 0


@GCC
def test_for_real(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short: two levels and little memory."""
    monkeypatch.setattr(m, "ROUNDS", 1)
    monkeypatch.setattr(m, "MOST_MEMORY_BYTES", 4 << 20)
    cpu = replace(quick_host(), levels=quick_host().levels[:2])
    found = m.measure(cpu, "gcc")
    assert found.command.startswith("gcc -O3 -m")
    measured = found.cpu
    assert 0.3 < measured.clock_ghz < 10
    assert 0.1 < measured.fma_per_cycle < 10
    assert 1 < measured.fma_latency_cycles < 40
    assert measured.levels[0].gb_per_s > 1
    assert measured.levels[0].latency_ns > 0.1
    assert measured.parallel_region_us > 0.01
    assert replace(measured, **{key: getattr(cpu, key) for key in CHANGED}) == cpu


CHANGED = (
    "clock_ghz",
    "fma_per_cycle",
    "fma_latency_cycles",
    "loads_per_cycle",
    "stores_per_cycle",
    "parallel_region_us",
    "levels",
    "memory",
)

# --- the command ------------------------------------------------------------------------------------------------------


@pytest.fixture
def faked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A benchmark that is quick, and says the same on every machine."""
    monkeypatch.setattr("polyc.runtime.measure.built", lambda cpu, tried, folder: (folder / "measure", "gcc -O3"))

    def run(program: Path, words: list[str]) -> str:
        found = {key: value for key, value in FIGURES.items() if "." not in key}
        found["all_double_gflops"] = 59.0 * int(words[0])
        for place in (word.split(":")[0] for word in words[2:]):  # this machine may have other levels
            like = place if f"{place}.gb_per_s" in FIGURES else "L3"
            found |= {key.replace(like, place): value for key, value in FIGURES.items() if key.startswith(f"{like}.")}
        return printed(found)

    monkeypatch.setattr("polyc.runtime.measure.run", run)


@pytest.mark.usefixtures("faked")
def test_detect(kept: Path) -> None:
    result = polyc("machine", "detect")
    assert result.exit_code == 0, result.stderr
    file = host_file()
    assert [path for path in kept.rglob("*") if path.is_file()] == [file]
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert file.read_text().startswith("# Measured by 'polyc machine detect', with gcc -O3.\n\nkind = \"cpu\"\n")
    assert load_cpu(HOST).clock_ghz == 3.69
    assert polyc("machine", "show", "host").stdout == result.stdout
    assert result.stderr == (
        f"polyc: Measured by 'polyc machine detect', with gcc -O3.\npolyc: written to {file}; --machine host takes it\n"
    )
    again = polyc("machine", "detect")
    assert (again.stdout, again.stderr) == (result.stdout, result.stderr)


@pytest.mark.usefixtures("faked")
def test_another_file(tmp_path: Path, kept: Path) -> None:
    file = tmp_path / "mine.toml"
    result = polyc("machine", "detect", "--output", str(file))
    assert result.exit_code == 0, result.stderr
    assert load_cpu(str(file)).clock_ghz == 3.69
    assert f"--machine {file} takes it" in result.stderr
    assert not list(kept.iterdir())
    result = polyc("machine", "detect", "-o", "-")
    assert result.stdout == file.read_text()
    assert result.stderr == ""
    result = polyc("machine", "detect", "-o", str(tmp_path / "no" / "mine.toml"))
    assert result.exit_code == 1
    assert result.stderr.endswith("cannot be written: No such file or directory [cannot-write]\n")


def test_without_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polyc.runtime.measure.which", lambda name: None)
    monkeypatch.delenv("CC", raising=False)
    result = polyc("machine", "detect")
    assert result.exit_code == 0
    assert result.stderr.startswith(
        "polyc: warning: there is no C compiler: install gcc or clang, or name one with --cc\n"
        "polyc: Not measured: what the system tells, and typical figures of '"
    )
    assert load_cpu(HOST) == quick_host()
    assert host_file().read_text().startswith("# Not measured: what the system tells, and typical figures of '")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("#!/bin/sh\nexit 3\n", "the benchmark failed with exit code 3"),
        ("#!/bin/sh\necho hello world\n", "the benchmark printed 'hello world'"),
        ("#!/bin/sh\n", "the benchmark did not print 'clock_ghz'"),
        ("no program", "the benchmark does not run: Exec format error"),
    ],
)
def test_a_benchmark_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, said: str) -> None:
    def build(cpu: Cpu, tried: list[list[str]], folder: Path) -> tuple[Path, str]:
        (folder / "measure").write_text(text)
        (folder / "measure").chmod(0o700)
        return folder / "measure", ""

    monkeypatch.setattr("polyc.runtime.measure.built", build)
    result = polyc("machine", "detect")
    assert result.exit_code == 0
    assert f"polyc: warning: {said}\n" in result.stderr
    assert load_cpu(HOST) == quick_host()


def test_settings_of_openmp_do_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "measure"
    program.write_text('#!/bin/sh\necho "$* $OMP_NUM_THREADS $OMP_THREAD_LIMIT $OMP_PROC_BIND $MINE"\n')
    program.chmod(0o700)
    for key, value in {"OMP_NUM_THREADS": "7", "OMP_THREAD_LIMIT": "1", "OMP_PROC_BIND": "close", "MINE": "x"}.items():
        monkeypatch.setenv(key, value)
    assert m.run(program, ["2", "64"]) == "2 64   spread x\n"


def test_a_benchmark_that_does_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(*_: object, timeout: float, **__: object) -> None:
        raise subprocess.TimeoutExpired("measure", timeout)

    monkeypatch.setattr("subprocess.run", hang)
    with pytest.raises(m.MeasureError, match="did not end within 60 s"):
        m.run(Path("measure"), [])


@pytest.mark.usefixtures("faked")
def test_a_cache_that_cannot_be_written(kept: Path) -> None:
    (kept / "polyc").write_text("a file")
    result = polyc("machine", "detect")
    assert result.exit_code == 1
    assert "cannot be made" in result.stderr
    assert "hint: XDG_CACHE_HOME names another folder, --output another file" in result.stderr


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("polyc.runtime.measure.VARIANTS", (("-E", "-fopenmp"),))
    polyc("machine", "detect", "--cc", "false")
    assert not list(tmp_path.iterdir())
