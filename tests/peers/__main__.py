"""Compile every C file below a folder, and sort them: compiled, refused, or a bug of polyc.

python -m tests.peers FOLDER [--jobs 2] [--time 60] [--verify] [--complete] [--accepted LIST] [--json] [--cases]
                             [--include DIR] [--define NAME] [--modes MODE ...] [--run] [--with FILE]
                             [--argument WORD]

The files are somebody else's: nothing of them is part of polyc. `--complete` declares what a fragment leaves
undeclared (Clan, the frontend of pluto, reads loops without a function and without declarations). LIST names files
that their own compiler accepts, one path a line, relative to FOLDER; the share of them that polyc compiles is printed.
`--verify` runs each region and its result on input of polyc's own; `--run` builds each file as a whole program, as it
is and through polyc, with the files of `--with`, and compares what both print byte for byte.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from tests.modes import MODES
from tests.peers.outcome import BUG, COMPILED, REFUSED, Outcome, Settings
from tests.peers.workers import outcomes


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.peers", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--time", type=float, default=60, help="seconds to compile a file, and again to run it")
    parser.add_argument("--memory", type=int, default=2048, help="MiB that a worker may take (0: no limit)")
    parser.add_argument("--verify", action="store_true", help="run original and result as well")
    parser.add_argument("--complete", action="store_true", help="declare what fragments leave undeclared")
    parser.add_argument("--accepted", type=Path, help="files that the peer accepts, one path a line")
    parser.add_argument("--json", action="store_true", help="print an object a file")
    parser.add_argument("--cases", action="store_true", help="print a line a file that was not compiled")
    parser.add_argument("-I", "--include", dest="include", action="append", default=[], metavar="DIR")
    parser.add_argument("-D", "--define", dest="define", action="append", default=[], metavar="NAME")
    parser.add_argument("--modes", nargs="+", choices=(*MODES, "all"), default=["default"], help="compile in each")
    parser.add_argument("--run", action="store_true", help="build and run whole programs, and compare what they print")
    parser.add_argument("--with", dest="sources", action="append", default=[], metavar="FILE", help="link with it")
    parser.add_argument("--argument", dest="arguments", action="append", default=[], metavar="WORD", help="run with it")
    given = parser.parse_args(words)
    if not given.folder.is_dir():
        parser.error(f"{given.folder} is no folder")
    settings = Settings(
        given.time,
        given.memory,
        given.verify,
        given.complete,
        tuple(given.include),
        tuple(given.define),
        tuple(given.sources),
        given.run,
        tuple(given.arguments),
    )
    linked = {Path(file).resolve() for file in given.sources}
    files = [file for file in sorted(given.folder.rglob("*.c")) if file.resolve() not in linked]
    modes = list(MODES) if "all" in given.modes else given.modes
    found = outcomes(files, given.folder, settings, given.jobs, modes)
    accepted = listed(given.accepted) if given.accepted is not None else None
    if given.json:
        print(json.dumps([asdict(one) for one in found], indent=2))
    else:
        print(table(found, accepted), end="")
        if given.cases:
            print(cases(found, accepted), end="")
    return 1 if any(one.kind == BUG for one in found) else 0


def listed(file: Path) -> frozenset[str]:
    return frozenset(line.strip() for line in file.read_text().splitlines() if line.strip())


def table(found: list[Outcome], accepted: frozenset[str] | None) -> str:
    """The counts that docs/trust.md shows."""
    kinds = Counter(one.kind for one in found)
    compiled = [one for one in found if one.kind == COMPILED]
    regions = sum(one.regions for one in compiled)
    changed = sum(one.changed for one in compiled)
    modes = len({one.mode for one in found})
    lines = [
        ("files" if modes < 2 else f"files, in {modes} modes each", len(found)),
        ("compiled, and verified statically", kinds[COMPILED]),
        ("  with declarations that the fragment leaves out", sum(one.completed for one in compiled)),
        ("  regions in them", regions),
        ("  regions that were changed", changed),
        ("  regions that keep the original order", regions - changed),
        ("refused with a located error", kinds[REFUSED]),
    ]
    codes = Counter(code for one in found if one.kind == REFUSED for code in one.codes[:1])
    lines += [(f"  {code}", count) for code, count in codes.most_common()]
    lines.append(("bugs", kinds[BUG]))
    runs = Counter(run.partition(":")[0] for one in compiled for run in one.runs)
    if runs:
        lines.append(("regions verified by running", runs["equal"]))
        lines.append(("regions that cannot be run", runs["not run"]))
        reasons = Counter(run.partition(": ")[2] for one in compiled for run in one.runs if run.startswith("not run"))
        lines += [(f"  {reason}", count) for reason, count in reasons.most_common()]
    programs = Counter(one.output.partition(":")[0] for one in compiled if one.output)
    if programs:
        lines.append(("programs that print the same", programs["equal"]))
        lines.append(("programs that cannot be run", programs["not run"]))
    if budget := sum(one.budget for one in found):
        lines.append(("regions that reached a budget", budget))
    if accepted is not None:
        there = [one for one in found if one.file in accepted]
        good = sum(one.kind == COMPILED for one in there)
        lines.append(("files that the peer accepts", len(there)))
        lines.append(("  compiled", good))
        lines.append(("  compiled, percent", round(100 * good / len(there), 1) if there else 0))
    width = max(len(name) for name, _ in lines)
    return "".join(f"{name:<{width}}  {count:>6}\n" for name, count in lines)


def mode_of(one: Outcome) -> str:
    return f" ({one.mode})" if one.mode != "default" else ""


def cases(found: list[Outcome], accepted: frozenset[str] | None) -> str:
    """A line for each file that was not compiled; those that the peer accepts have a star."""
    lines = [
        f"{'*' if accepted and one.file in accepted else ' '} {one.kind:<8} {one.file}{mode_of(one)}: {one.detail}\n"
        for one in found
        if one.kind != COMPILED
    ]
    lines += [
        f"  {'not run':<8} {one.file}{mode_of(one)}: {one.output.partition(': ')[2]}\n"
        for one in found
        if one.kind == COMPILED and one.output.startswith("not run")
    ]
    return "".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
