"""`polyc completion` and `polyc man`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.shell_completion import CompletionItem, ShellComplete
from click.testing import Result

from polyc.cli.commands.man import escaped, page
from polyc.cli.main import COMMANDS, cli

DOCS = Path(__file__).parents[2] / "docs"
Polyc = Callable[..., Result]


def completed(*words: str) -> list[CompletionItem]:
    """What the last word may become."""
    return ShellComplete(cli, {}, "polyc", "_POLYC_COMPLETE").get_completions(list(words[:-1]), words[-1])


def values(*words: str) -> list[str]:
    return [item.value for item in completed(*words)]


def test_words_that_are_completed() -> None:
    assert values("") == list(COMMANDS)
    assert values("compile", "--ti") == ["--tile-sizes", "--time-tile", "--timings"]
    assert sorted(values("explain", "--all")) == ["--all-passes", "--allow-no-scop", "--allow-tf32"]
    assert values("compile", "--target", "open") == ["openmp", "opencl"]
    assert values("machine", "") == ["detect", "list", "show"]
    assert values("completion", "") == ["bash", "zsh", "fish"]
    assert values("compile", "--machine", "zen") == ["zen2", "zen3", "zen4", "zen"]
    assert "h100" in values("compile", "--target", "cuda", "--machine", "")


def test_files_and_folders_are_the_shells() -> None:
    assert [item.type for item in completed("compile", "bl")] == ["file"]
    assert [item.type for item in completed("compile", "-I", "in")] == ["dir"]
    assert [item.type for item in completed("compile", "--machine", "./")] == ["file"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_scripts(polyc: Polyc, shell: str, tmp_path: Path) -> None:
    result = polyc("completion", shell)
    assert result.exit_code == 0
    assert result.stderr == ""
    assert f"_POLYC_COMPLETE={shell}_complete" in result.stdout
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} to read the script")
    file = tmp_path / "script"
    file.write_text(result.stdout)
    subprocess.run([shell, "-n", str(file)], check=True)


def test_bash_completes(polyc: Polyc, tmp_path: Path) -> None:
    if shutil.which("bash") is None:
        pytest.skip("there is no bash")
    command = tmp_path / "polyc"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m polyc "$@"\n')
    command.chmod(0o755)
    file = tmp_path / "script"
    file.write_text(polyc("completion", "bash").stdout)
    code = f"source {file}; COMP_WORDS=(polyc compile --tile); COMP_CWORD=2; _polyc_completion polyc; echo $COMPREPLY"
    environment = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(DOCS.parent)}
    done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout == "--tile-sizes\n"


def test_the_manual_page_is_current(polyc: Polyc, golden: Callable[[Path, str], None]) -> None:
    result = polyc("man")
    assert result.exit_code == 0
    golden(DOCS / "polyc.1", result.stdout)


def test_the_manual_page_has_both_names_of_the_help_option() -> None:
    """click keeps the first help option of a command, which may have been asked for without the group's names."""
    command = cli.get_command(click.Context(cli), "compile")
    assert command is not None
    command.get_params(click.Context(command))
    assert page() == (DOCS / "polyc.1").read_text()


def test_the_manual_page_has_every_command_and_option() -> None:
    text = page().replace("\\-", "-")
    for name in COMMANDS:
        assert f"POLYC {name.upper()}" in text
    for option in ("--tile-sizes auto|N,N,...|none", "--all-passes", "-h, --help"):
        assert f".B {option}" in text


def test_roff_takes_the_page_without_a_warning() -> None:
    if shutil.which("groff") is None:
        pytest.skip("there is no groff")
    done = subprocess.run(
        ["groff", "-man", "-ww", "-Tutf8", "-P-c"], input=page(), capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    assert "polyc compile blur.c -o blur.polyc.c     write the transformed file" in done.stdout
    assert max(len(line) for line in done.stdout.splitlines()) <= 200


def test_what_roff_would_take_for_something_else() -> None:
    assert escaped(".x") == "\\&.x"
    assert escaped("'a' \\b -c") == "\\(aqa\\(aq \\eb \\-c"
