"""Colours at a terminal, and the same text without them elsewhere."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def output_of(words: list[str], terminal: bool, **extra: str) -> str:
    command = [sys.executable, "-m", "polyc", *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", "COLUMNS": "60", **extra}
    environment.pop("NO_COLOR", None) if "NO_COLOR" not in extra else None
    if not terminal:
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False).stdout
    ours, theirs = pty.openpty()
    running = subprocess.Popen(command, env=environment, stdout=theirs, stderr=subprocess.DEVNULL)
    os.close(theirs)
    found = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # Linux says so when the other side is closed
            break
        if not piece:
            break
        found += piece
    running.wait()
    os.close(ours)
    return found.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("words", [["explain", str(ROOT / "tests/cli/inputs/conv.c")], ["doctor"]])
def test_colours_are_for_terminals(words: list[str]) -> None:
    plain, coloured = output_of(words, terminal=False), output_of(words, terminal=True)
    assert "\x1b[" not in plain
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == plain
    assert output_of(words, terminal=True, NO_COLOR="1", TERM="dumb") == plain
    assert "\x1b[" not in output_of([*words, "--help"], terminal=True)


def test_other_forms_have_no_colours() -> None:
    words = ["explain", str(ROOT / "tests/cli/inputs/conv.c"), "--format", "dot"]
    assert output_of(words, terminal=True) == output_of(words, terminal=False)
