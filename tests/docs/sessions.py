"""Pages that are sessions: their files are written, and their commands run, from top to bottom in one folder.

<!-- file: NAME -->          the fence is a file of the folder
<!-- part: NAME -->          the fence is a part of a file that is there by now, leading blanks apart
<!-- printed: COMMAND -->    the fence is what the command prints on either stream
```console                  `$ ` begins a command; what it prints on either stream follows
<!-- varies -->              before a console: exit codes count, and not what is printed (times)
<!-- fails: CODE -->         before a console: its last command ends with this exit code
<!-- not run: WHY -->        the fence is left alone

On lines of their own, seen by nobody who reads the page:
<!-- copy: PATH -->          a file of the repository comes into the folder, by its own name
<!-- run: COMMAND -->        a command that has to end with 0
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

from polyc.api.calls import run_of
from polyc.explain.pictures.panel import tile_picture
from polyc.explain.pictures.tiles import tiles_of

from .pages import ROOT, Fence, fences

_HIDDEN = re.compile(r"^<!-- (copy|run): (.*?) -->$", re.MULTILINE)
_PICTURE = re.compile(r"^<!-- picture: (\S+) of (\S+) with (\S+) -->$", re.MULTILINE)
LONGEST = 300
"""Seconds that a command may take."""


def is_session(page: Path) -> bool:
    return "<!-- session" in page.read_text()


def needs(page: Path) -> list[str]:
    """The programs beside gcc and make that `<!-- session: …, needs PROGRAM -->` names."""
    found = re.search(r"^<!-- session.*, needs (.*) -->$", page.read_text(), re.MULTILINE)
    return found[1].split() if found else []


def environment(folder: Path) -> dict[str, str]:
    """That of the tests, with this polyc as `polyc`, whatever is installed."""
    tools = folder / ".tools"
    tools.mkdir()
    polyc = tools / "polyc"
    polyc.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m polyc "$@"\n')
    polyc.chmod(0o755)
    python = tools / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    # What a make around the tests hands on to ours would change what it prints.
    outside = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS", "POLYC_"))}
    return {**outside, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "NO_COLOR": "1", "COLUMNS": "100"}


def commands(text: str) -> list[str]:
    """The commands of a console, with the lines that continue them."""
    found: list[str] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append(line[2:])
        elif found and found[-1].endswith("\\") and line.startswith("> "):
            found[-1] += "\n" + line[2:]
    return found


def shown(command: str) -> str:
    first, *rest = command.split("\n")
    return "\n".join([f"$ {first}", *(f"> {line}" for line in rest)]) + "\n"


class Session:
    """One page's files and commands, in a folder of their own."""

    def __init__(self, page: Path, folder: Path) -> None:
        self.page = page
        self.folder = folder
        self.environment = environment(folder)

    def run(self) -> str:
        """The page as it would be with what its commands print today."""
        text = self.page.read_text()
        shift = 0
        position = 0
        for fence in fences(self.page):
            self.prepare(self.page.read_text()[position : fence.start])
            position = fence.start + len(fence.text)
            new = self.replayed(fence)
            start = fence.start + shift
            text = text[:start] + new + text[start + len(fence.text) :]
            shift += len(new) - len(fence.text)
        return text

    def prepare(self, text: str) -> None:
        """What the hidden lines between two fences ask for."""
        for what, words in _HIDDEN.findall(text):
            if what == "copy":
                shutil.copy(ROOT / words, self.folder)
            else:
                self.answer(words, 0, f"{self.page.name}: run")

    def pictures(self) -> dict[Path, str]:
        """The page's pictures as they would be today, by the files that hold them."""
        found = {}
        for name, file, option in _PICTURE.findall(self.page.read_text()):
            key, _, value = option.partition("=")
            (region,) = run_of("compile", self.folder / file, {key: value}).compiled
            tiles = tiles_of(region.program, region.program.groups[0])
            assert tiles is not None, f"{self.page.name}: no tiles to draw of {file}"
            found[self.page.parent / name] = tile_picture(tiles)
        return found

    def replayed(self, fence: Fence) -> str:
        """What should stand in the fence."""
        where = f"{self.page.name}:{fence.line}"
        if (name := fence.wished("file")) is not None:
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(fence.text)
        elif (name := fence.wished("part")) is not None:
            whole = textwrap.dedent((self.folder / name).read_text())
            wanted = [line.strip() for line in fence.text.splitlines() if line.strip()]
            lines = [line.strip() for line in whole.splitlines() if line.strip()]
            starts = range(len(lines) - len(wanted) + 1)
            assert any(lines[i : i + len(wanted)] == wanted for i in starts), f"{where}: no such part in {name}"
        elif (command := fence.wished("printed")) is not None:
            return self.answer(command, 0, where)
        elif fence.wished("not run") is not None:
            return fence.text
        elif fence.language == "console":
            return self.console(fence, where)
        return fence.text

    def console(self, fence: Fence, where: str) -> str:
        typed = commands(fence.text)
        expected = int(fence.wished("fails") or 0)
        parts = []
        for number, command in enumerate(typed):
            code = expected if number == len(typed) - 1 else 0
            parts.append(shown(command) + self.answer(command, code, where))
        return fence.text if fence.wish == "varies" else "".join(parts)

    def answer(self, command: str, code: int, where: str) -> str:
        """What a command prints on both streams, where it ends with this exit code."""
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=LONGEST,
        )
        assert done.returncode == code, f"{where}: {command}: exit code {done.returncode}\n{done.stdout}"
        return done.stdout
