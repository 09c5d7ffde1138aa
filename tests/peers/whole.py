"""A whole program, as it is and through polyc: what both print, byte for byte."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tests.peers.outcome import BUG, Outcome, Settings

FLAGS = ("-fopenmp", "-ffp-contract=off", "-w")
"""Both programs have to round alike."""
LEVELS = ("-O2", "-O1")
"""Of the original and of the result."""
ENVIRONMENT = {"LC_ALL": "C", "OMP_NUM_THREADS": "4", "OMP_WAIT_POLICY": "passive"}


def same_output(outcome: Outcome, file: Path, text: str, settings: Settings) -> Outcome:
    """The outcome after the original and the result were built and run: a bug where they print different bytes."""
    with tempfile.TemporaryDirectory(prefix="polyc-peers-") as folder:
        result = Path(folder) / file.name
        result.write_text(text, encoding="utf-8", errors="surrogateescape")
        before, after = Path(folder) / "before", Path(folder) / "after"
        problem = built(file, before, LEVELS[0], file.parent, settings)
        if problem:
            return replace(outcome, output=f"not run: {problem}")
        problem = built(result, after, LEVELS[1], file.parent, settings)
        if problem:
            return replace(outcome, kind=BUG, detail=f"the result is not built: {problem}")
        expected = printed(before, settings)
        if expected is None:
            return replace(outcome, output="not run: takes too long")
        if not expected[1]:
            return replace(outcome, output="not run: prints nothing")
        found = printed(after, settings)
    if found is None:
        return replace(outcome, kind=BUG, detail="the result runs for ever, or much longer")
    if found != expected:
        return replace(outcome, kind=BUG, detail=f"the result {difference(expected, found)}")
    return replace(outcome, output="equal")


def built(file: Path, program: Path, level: str, beside: Path, settings: Settings) -> str:
    """Builds a program with gcc; the first error, or nothing."""
    folders = [f"-I{folder}" for folder in (*settings.include_dirs, str(beside))]
    defines = [f"-D{name}" for name in settings.defines]
    command = ["gcc", level, *FLAGS, *folders, *defines, str(file), *settings.sources, "-o", str(program), "-lm"]
    done = run(command, settings.seconds)
    if done is None:
        return "the compiler takes too long"
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    errors = [line for line in lines if "error" in line or "undefined reference" in line]
    return (errors or lines or ["gcc failed"])[0] if done.returncode else ""


def printed(program: Path, settings: Settings) -> tuple[int, bytes] | None:
    """The exit status and what is printed, on standard error too; None where it takes too long."""
    done = run([str(program), *settings.arguments], settings.seconds / 4)
    return None if done is None else (done.returncode, done.stdout)


def run(command: Sequence[str], seconds: float) -> subprocess.CompletedProcess[bytes] | None:
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=seconds,
            env={**os.environ, **ENVIRONMENT},
        )
    except subprocess.TimeoutExpired:
        return None


def difference(expected: tuple[int, bytes], found: tuple[int, bytes]) -> str:
    """Where two runs part."""
    if expected[0] != found[0]:
        return f"ends with {found[0]} instead of {expected[0]}"
    lines = zip(expected[1].splitlines(), found[1].splitlines(), strict=False)
    number = next((number for number, (a, b) in enumerate(lines, 1) if a != b), None)
    return f"prints another line {number}" if number else "prints more or less"
