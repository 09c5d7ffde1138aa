"""The records of a build: a file for each translation unit in one folder, and the page that is made of them.

A build runs many compilers at once. Each puts its own record into the folder, whole or not at all; the page is made
of all that are there, by one at a time.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

from polyc.cli import output
from polyc.errors import Span, UserError
from polyc.explain.facts.translation_unit import UnitRecord, as_data, from_data, merged

PAGE = ".html"
PARTS = ".parts"


def parts_of(target: str) -> Path:
    """The folder of records: `report.parts` for `report.html`, or the target itself."""
    return Path(target.removesuffix(PAGE) + PARTS) if target.endswith(PAGE) else Path(target)


def save(record: UnitRecord, target: str) -> None:
    """Put a record to those of a build, and make the page anew where the target is one. Raises UserError."""
    folder = parts_of(target)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise UserError.of("cannot-write", f"'{folder}' cannot be made: {problem.strerror}") from None
    name = hashlib.sha256(os.path.realpath(record.path).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    stem = Path(record.path).stem
    file = folder / f"{stem}-{name}.json"
    if record.included:  # others include it as well, and may have compiled other functions of it
        with _alone(folder):
            before = _read(file) if file.exists() else None
            record = record if before is None else merged(record, before)
            output.write(str(file), json.dumps(as_data(record)) + "\n")
    else:
        output.write(str(file), json.dumps(as_data(record)) + "\n")
    if target.endswith(PAGE):
        from polyc.explain.html import project

        with _alone(folder):
            output.write(target, project.render(load(folder), {}))


def load(folder: Path) -> list[UnitRecord]:
    """The records in a folder, by path. Raises UserError for a file that is none."""
    return sorted(map(_read, sorted(folder.glob("*.json"))), key=lambda record: record.path)


def _read(file: Path) -> UnitRecord:
    try:
        return from_data(json.loads(file.read_text(encoding="utf-8")))
    except (ValueError, KeyError, TypeError):
        hint = "remove it, and build the file that it is about anew"
        message = "this is no record of a build"
        raise UserError.of("bad-record", message, Span(str(file), 1), hint) from None


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Wait until no other process makes the page."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
