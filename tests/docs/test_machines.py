"""docs/machines.md has all keys of the format; its example is a machine."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

from polyc.machine import Cpu, Level, Memory, load_cpu
from polyc.machine.shipped import DEFAULTS, GENERIC, GENERIC_CPU

from .pages import ROOT, fences

PAGE = ROOT / "docs" / "machines.md"


def test_the_example_is_a_machine(tmp_path: Path) -> None:
    (text,) = [fence.text for fence in fences(PAGE) if fence.language == "toml"]
    file = tmp_path / "mine.toml"
    file.write_text(text)
    assert load_cpu(str(file)).name == "a board with four small cores"
    assert load_cpu(str(file)).all_gflops(8) == 4 * 2 * 2 * 1.8


def test_all_keys_are_told_in_their_order() -> None:
    table = PAGE.read_text().partition("## The format")[2]
    rows = re.findall(r"^\| (`.*?`) \| ", table, flags=re.MULTILINE)
    named = [key for row in rows for key in re.findall(r"`\[*(\w+)\]*`", row)]
    keys = ["kind", *(f.name for kind in (Cpu, Level) for f in fields(kind))]
    keys.remove("memory")
    keys += ["memory", *(f.name for f in fields(Memory))]
    assert named == keys


def test_the_default_of_the_page() -> None:
    assert f"| nothing, or `{GENERIC}` | for `openmp` and `c` the CPU `{GENERIC_CPU}`" in PAGE.read_text()
    assert DEFAULTS == {"gpu": GENERIC, "cpu": GENERIC}
