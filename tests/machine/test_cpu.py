"""CPUs are data, too: those that polyc ships are plausible, and mistakes are told with their line."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path

import pytest

from polyc.errors import UserError
from polyc.machine import Cpu, Memory, load, load_cpu, load_gpu, shipped
from polyc.machine.host import as_toml
from polyc.machine.shipped import FOLDERS, GENERIC_CPU

NAMES = pytest.mark.parametrize("name", shipped("cpu"))
TEXT = (FOLDERS["cpu"] / "skylake-sp.toml").read_text()


def test_what_is_shipped() -> None:
    assert GENERIC_CPU in shipped("cpu")
    assert {"x86-64-v3", "x86-64-v4", "aarch64"} <= set(shipped("cpu"))
    assert not set(shipped("cpu")) & set(shipped("gpu"))
    assert load_cpu("generic") == load_cpu(GENERIC_CPU)


@NAMES
def test_figures_are_plausible(name: str) -> None:
    cpu = load_cpu(name)
    wide = {"x86-64": (16, 16), "x86-64-v3": (32, 16), "x86-64-v4": (64, 32)}
    assert (cpu.vector_bytes, cpu.vector_registers) == wide.get(cpu.isa, (16, 32))
    ports = cpu.loads_per_cycle * cpu.vector_bytes
    assert 0.8 * ports < cpu.bytes_per_cycle(cpu.levels[0]) <= ports
    assert 4 <= cpu.fma_latency_cycles <= 5
    places = [*cpu.levels, cpu.memory]
    for near, far in pairwise(places):
        assert near.gb_per_s > far.gb_per_s
        assert near.all_gb_per_s > far.all_gb_per_s
        assert near.latency_ns * 2 < far.latency_ns
    for level in cpu.levels:
        assert level.all_gb_per_s <= level.gb_per_s * cpu.cores
        assert level.shared_by > 1 or level.all_gb_per_s == pytest.approx(level.gb_per_s * cpu.cores)
        assert level.sets * level.ways * level.line_bytes == level.bytes
        assert cpu.cores % level.shared_by == 0
    assert cpu.memory.copy_gb_per_s <= cpu.memory.gb_per_s
    assert 0.9 <= cpu.levels[0].latency_ns <= 2.5


@NAMES
def test_each_file_says_where_its_figures_are_from(name: str) -> None:
    head = (FOLDERS["cpu"] / f"{name}.toml").read_text().partition("\nkind =")[0]
    assert all(line.startswith("#") for line in head.splitlines() if line)
    said = " ".join(head.replace("#", " ").split())
    assert "Typical figures, rounded, not measured ones." in said
    assert "Guide" in said or "Manual" in said or "Apple" in said


def test_what_is_reckoned() -> None:
    cpu = load_cpu("skylake-sp")
    assert (cpu.lanes(4), cpu.lanes(8)) == (16, 8)
    assert cpu.gflops(8) == pytest.approx(2 * 8 * 2 * 2.2)
    assert cpu.gflops(4) == pytest.approx(2 * cpu.gflops(8))
    assert cpu.all_gflops(8) == pytest.approx(20 * cpu.gflops(8))
    l1, _, l3 = cpu.levels
    assert l1.sets == 64
    assert cpu.bytes_per_cycle(l1) == pytest.approx(250 / 2.2)
    assert cpu.bytes_per_cycle(cpu.memory) == pytest.approx(12 / 2.2)
    assert cpu.bytes_per_cycle(cpu.memory, cores=20) == pytest.approx(105 / 20 / 2.2)
    assert cpu.capacity(l3) == l3.bytes
    assert cpu.capacity(l3, cores=20) == l3.bytes // 20
    assert cpu.capacity(l1, cores=20) == l1.bytes


@NAMES
def test_what_is_written_is_read(name: str, tmp_path: Path) -> None:
    cpu = load_cpu(name)
    file = tmp_path / "mine.toml"
    file.write_text(as_toml(cpu, "A comment,\n\nand more."))
    assert load(str(file)) == cpu
    assert file.read_text().startswith('# A comment,\n#\n# and more.\n\nkind = "cpu"\n')


def test_names_that_need_quotes(tmp_path: Path) -> None:
    from dataclasses import replace

    cpu = replace(load_cpu("zen3"), name='A "new" \\ CPU\n\x00ü')
    file = tmp_path / "mine.toml"
    file.write_text(as_toml(cpu))
    assert load_cpu(str(file)).name == 'A "new" \\ CPU  ü'


def test_the_other_kind() -> None:
    for loader, name, said in ((load_cpu, "h100", "'h100' is a GPU"), (load_gpu, "zen3", "'zen3' is a CPU")):
        with pytest.raises(UserError) as caught:
            loader(name)
        (problem,) = caught.value.diagnostics
        assert problem.message.startswith(said)
        assert problem.hint.startswith("name one of ")


# --- mistakes, by what is replaced: where they are told, the message, the hint ----------------------------------------

TOP, L1, L2, L3, MEMORY = ("", 0), ("[[levels]]", 0), ("[[levels]]", 1), ("[[levels]]", 2), ("[memory]", 0)
MISTAKES = {
    ("vector_bytes = 64", "vector_bytes = 63"): (TOP, "vector_bytes", "'vector_bytes' is no power of two", "compare"),
    ("cores = 20", "cores = 0"): (TOP, "cores", "'cores' has to be positive, and is 0", "look"),
    ("cores = 20\n", ""): (TOP, "", "the key 'cores' is missing", "write: cores = …"),
    ("clock_ghz = 2.2", 'clock_ghz = "2"'): (TOP, "clock_ghz", "'clock_ghz' has to be a number, and is '2'", "numbers"),
    ("ways = 8", "way = 8"): (L1, "way ", "unknown key 'way'", "did you mean 'ways'?"),
    ("ways = 11", "ways = 1.5"): (L3, "ways", "'ways' has to be a whole number, and is 1.5", "numbers"),
    ("ways = 11\n", ""): (L3, "", "the key 'ways' is missing in [[levels]]", "write: ways = …"),
    ("shared_by = 20", "shared_by = 21"): (L3, "shared_by", "'shared_by' is larger than 'cores', which is 20", "comp"),
    ("ways = 16", "ways = 100_000"): (L2, "ways", "100000 lines of 64 bytes are more than", "compare"),
    ("line_bytes = 64", "line_bytes = 65"): (L1, "line_bytes", "'line_bytes' is no power of two", "compare"),
    ("gb_per_s = 95.0", "gb_per_s = 9500"): (L2, "gb_per_s", "'gb_per_s' is larger than 'all_gb_per_s'", "compare"),
    ("1_048_576", "1024"): (L2, "bytes", "'L2' is smaller than 'L1'", "compare"),
    ('name = "L2"', 'name = "L1"'): (L2, "name", "there are two levels 'L1'", "compare"),
    ("gb_per_s = 12.0", "gb_per_s = 120"): (MEMORY, "gb_per_s", "'gb_per_s' is larger than 'all_gb_per_s'", "compare"),
    ("\ncopy_gb_per_s = 11.0", ""): (MEMORY, "", "the key 'copy_gb_per_s' is missing in [memory]", "write: copy_gb"),
    ("[memory]", "[[memory]]"): (("[[memory]]", 0), "", "'memory' has to be a table", "write: [memory], and below it"),
    ("[memory]", "[memori]"): (
        TOP,
        "",
        "the key 'memory' is missing",
        "write: [memory], and below it the keys gb_per_s,",
    ),
}


def line(text: str, table: tuple[str, int], key: str) -> int:
    """The line of a key in the table that is the n-th with this header; of the header where the key is ""."""
    lines = text.splitlines()
    header, number = table
    start = [0, *(n for n, one in enumerate(lines, 1) if one == header)][number + bool(header)]
    return start or 1 if not key else next(n for n in range(start + 1, 1000) if lines[n - 1].startswith(key))


@pytest.mark.parametrize("change", MISTAKES)
def test_mistakes_are_located(change: tuple[str, str], tmp_path: Path) -> None:
    text = TEXT.replace(*change, 1)
    assert text != TEXT
    table, key, message, hint = MISTAKES[change]
    file = tmp_path / "mine.toml"
    file.write_text(text)
    with pytest.raises(UserError) as caught:
        load(str(file))
    problem = next(p for p in caught.value.diagnostics if p.message.startswith(message))
    assert problem.code == "bad-machine"
    assert problem.hint.startswith(hint)
    assert problem.span is not None
    assert problem.span.line == line(text, table, key)


@pytest.mark.parametrize("said", ["levels = []", "levels = 5", "levels = [5]", "[levels]\nname = 'L1'"])
def test_levels_are_tables(said: str, tmp_path: Path) -> None:
    top, _, rest = TEXT.partition("[[levels]]")
    file = tmp_path / "mine.toml"
    file.write_text(f"{top}{said}\n\n[memory]{rest.partition('[memory]')[2]}")
    with pytest.raises(UserError) as caught:
        load(str(file))
    (problem,) = caught.value.diagnostics
    assert problem.message == "'levels' has to be one or more tables"
    assert problem.span is not None
    assert problem.span.line == len(top.splitlines()) + 1


def test_tables_in_other_forms(tmp_path: Path) -> None:
    """TOML has several ways to write a table: what is wrong has a line in all of them."""
    cpu = load_cpu("apple-m1")
    top = as_toml(cpu).partition("\n[[levels]]")[0]
    level = "name = 'L1', bytes = 32768, line_bytes = 64, ways = 8, shared_by = 1, gb_per_s = 1, latency_ns = 1"
    memory = "gb_per_s = 1, all_gb_per_s = 1, copy_gb_per_s = 1, all_copy_gb_per_s = 1, latency_ns = 9"
    file = tmp_path / "mine.toml"
    file.write_text(f"{top}\nlevels = [{{ {level}, all_gb_per_s = 1 }}]\nmemory = {{ {memory} }}\n")
    found = load_cpu(str(file))
    assert found.memory == Memory(1, 1, 1, 1, 9)
    file.write_text(f"{top}\nlevels = [{{ {level} }}]\nmemory = {{ {memory} }}\n")
    with pytest.raises(UserError) as caught:
        load(str(file))
    (problem,) = caught.value.diagnostics
    assert problem.message == "the key 'all_gb_per_s' is missing in [[levels]]"
    assert problem.span is not None
    assert problem.span.line == len(top.splitlines()) + 2


def test_a_file_is_read_once_and_again_when_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(TEXT)
    first = load(str(file))
    assert load(str(file)) is first
    file.write_text(TEXT.replace("clock_ghz = 2.2", "clock_ghz = 3.2"))
    os.utime(file, ns=(1, 1))
    changed = load(str(file))
    assert isinstance(changed, Cpu)
    assert changed.clock_ghz == 3.2
    assert load("zen4") is load("zen4")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.toml").write_text(TEXT)
    monkeypatch.chdir(tmp_path)
    assert load("mine.toml") == changed
    monkeypatch.chdir(tmp_path / "other")
    assert load("mine.toml") == first
