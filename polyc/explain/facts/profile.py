"""Which functions of a program take its time, as gprof and perf print it."""

from __future__ import annotations

import re

from polyc.errors import Span, UserError

_GPROF = re.compile(r"^\s*(\d+\.\d+)\s+\d+\.\d+\s+\d+\.\d+\b.*?\s([A-Za-z_]\w*)(?:\.\w+)*\s*$", re.MULTILINE)
_PERF = re.compile(r"^\s*(\d+\.\d+)%\s.*\[[.k]\]\s+([A-Za-z_]\w*)(?:\.\w+)*\s*$", re.MULTILINE)
_BINARY = {b"gmon": "gprof -b -p PROGRAM {path}", b"PERFILE2": "perf report --stdio -i {path}"}


def read_profile(path: str) -> dict[str, float]:
    """The share of each function in percent, clones added up: of `gprof -b -p` or `perf report --stdio`.

    Raises UserError.
    """
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as problem:
        raise UserError.of("unreadable", f"the profile cannot be read: {problem.strerror}", Span(path, 1)) from None
    for start, command in _BINARY.items():
        if data.startswith(start):
            hint = f"give what '{command.format(path=path)}' prints"
            raise UserError.of("bad-profile", "this is a profiler's data, not its report", Span(path, 1), hint)
    text = data.decode("utf-8", "replace")
    found: dict[str, float] = {}
    for pattern in (_PERF, _GPROF):
        for share, name in pattern.findall(text):
            found[name] = found.get(name, 0.0) + float(share)
        if found:
            return found
    hint = "give what 'gprof -b -p PROGRAM' or 'perf report --stdio' prints"
    raise UserError.of("bad-profile", "no function stands in this profile", Span(path, 1), hint)
