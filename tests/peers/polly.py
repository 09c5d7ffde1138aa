"""How many of the loops of a folder's C files stand in Polly's SCoPs: beside `polyc report FOLDER`.

python -m tests.peers.polly FOLDER [-I DIR ...] [--clang clang] [--json]

clang has to have Polly built in (`-mllvm -polly`). A loop counts where its line lies between those on which Polly's
remarks say that a SCoP begins and ends. Functions stay as they are (`-fno-inline`): a SCoP of a function that was put
into another one would begin in one and end in the other.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

from polyc.explain.facts.source_loops import source_loops

_REMARK = re.compile(r"^(?P<file>[^:\n]+):(?P<line>\d+):\d+: remark: SCoP (?P<what>begins|ends) here", re.MULTILINE)
_FLAGS = ("-O3", "-fno-inline", "-g", "-w", "-mllvm", "-polly", "-Rpass-analysis=polly-scops", "-c", "-o", "/dev/null")


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.peers.polly", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("-I", "--include", action="append", default=[], metavar="DIR")
    parser.add_argument("--clang", default="clang")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(words)
    files = [given.folder] if given.folder.is_file() else sorted(given.folder.rglob("*.c"))
    rows = [(str(file), *counted(file, given.clang, given.include)) for file in files]
    if given.json:
        print(json.dumps([{"path": path, "loops": loops, "inside": inside} for path, loops, inside in rows]))
        return 0
    for path, loops, inside in rows:
        print(f"{inside:5} of {loops:5}  {path}")
    print(f"{sum(row[2] for row in rows):5} of {sum(row[1] for row in rows):5}  all")
    return 0


def counted(file: Path, clang: str, include: list[str]) -> tuple[int, int]:
    """The `for` loops of a file, and those of them in SCoPs."""
    command = [clang, *_FLAGS, *(f"-I{folder}" for folder in include), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        print(f"{file}: {done.stderr.strip().splitlines()[0]}", file=sys.stderr)
    told = done.stderr
    inside: list[tuple[int, int]] = []
    begin = 0
    for match in _REMARK.finditer(told):
        if Path(match["file"]).resolve() != file.resolve():
            continue
        if match["what"] == "begins":
            begin = int(match["line"])
        else:
            inside.append((min(begin, int(match["line"])), max(begin, int(match["line"]))))
    lines = [one.line for one in source_loops(file.read_text(errors="replace")) if one.kind == "for"]
    return len(lines), sum(any(low <= line <= high for low, high in inside) for line in lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
