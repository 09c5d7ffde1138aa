"""Each mistake that a user can make, with everything that polyc says about it.

`<code>.c` is the input, `<code>.expected` the whole output. `pytest --update-golden` writes the expected ones anew.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from polyc.errors import UserError
from polyc.frontend import read
from polyc.frontend.text.codes import ERRORS
from polyc.frontend.text.report import render_all
from polyc.model.program import InputOptions

FOLDER = Path(__file__).parent
NO_FILE = {
    "file-not-found",
    "is-directory",
    "unreadable",
    "binary-file",
    "changed-file",
    "no-compiler",
    "bad-assume",
    "impossible-assume",
}
"""Codes that no C text can show: they are about names, files and options. tests/cli shows each of them."""


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.c")))
def test_message(name: str, monkeypatch: pytest.MonkeyPatch, golden: Callable[[Path, str], None]) -> None:
    monkeypatch.chdir(FOLDER)
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)  # the command line sets a higher one, in this process too
    with pytest.raises(UserError) as caught:
        read(f"{name}.c", InputOptions())
    sys.setrecursionlimit(before)
    report = render_all(caught.value.diagnostics) + "\n"
    golden(FOLDER / f"{name}.expected", report)
    assert f"[{name}]" in report


def test_every_code_has_its_file() -> None:
    assert {path.stem for path in FOLDER.glob("*.c")} == set(ERRORS) - NO_FILE


def test_files_that_are_none(tmp_path: Path) -> None:
    binary = tmp_path / "b.c"
    binary.write_bytes(b"int x;\n\0\1\2")
    for path, code in [(tmp_path / "no.c", "file-not-found"), (tmp_path, "is-directory"), (binary, "binary-file")]:
        with pytest.raises(UserError) as caught:
            read(str(path), InputOptions())
        assert [d.code for d in caught.value.diagnostics] == [code]


def test_a_name_that_no_file_can_have() -> None:
    with pytest.raises(UserError) as caught:
        read("a\0b.c", InputOptions())
    assert [d.code for d in caught.value.diagnostics] == ["unreadable"]
