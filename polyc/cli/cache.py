"""What `polyc cc` made of files, kept for the next build by all that it was made of: nothing in it grows old."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from polyc import __version__
from polyc.records import dataclass

CACHE = "POLYC_CACHE"
"""Another folder for it; `off`, and there is none."""
OFF = ("off", "no", "0", "")
LARGEST_BYTES = 256 << 20
"""Of all that is kept: from there on the oldest entries go, down to three quarters."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What a file became."""

    text: str
    """"" where nothing was found in it."""
    parallel: bool = False
    """Whether it has loops for OpenMP."""


def folder() -> Path | None:
    """Where the entries are, by the XDG Base Directory Specification; None where nothing is to be kept."""
    named = os.environ.get(CACHE)
    if named is not None:
        return None if named in OFF else Path(named).absolute()
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if os.path.isabs(base) else Path(os.path.expanduser("~")) / ".cache") / "polyc" / "cc"


def key_of(parts: Iterable[bytes]) -> str:
    """The name of an entry: of what it depends on, and of this polyc, file by file."""
    digest = hashlib.sha256()
    for part in [*parts, *_own_files()]:
        digest.update(b"%d:" % len(part) + part)
    return digest.hexdigest()


def _own_files() -> Iterable[bytes]:
    """What tells one polyc from another, also while it is worked on."""
    yield __version__.encode()
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for place, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(names):
            found = os.stat(os.path.join(place, name))
            yield f"{place}/{name} {found.st_size} {found.st_mtime_ns}".encode("utf-8", "surrogateescape")


def load(key: str) -> Entry | None:
    """An entry; None where it is not there, or was damaged."""
    place = _place(key)
    if place is None:
        return None
    try:
        seal, _, data = place.read_bytes().partition(b"\n")
        if hashlib.sha256(data).hexdigest().encode() != seal:
            return None
        head, _, text = data.partition(b"\n")
        entry = Entry(text.decode("utf-8", "surrogateescape"), bool(json.loads(head)["parallel"]))
        os.utime(place)  # the oldest ones go first
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return entry


def store(key: str, entry: Entry) -> None:
    """Keep an entry, as a whole or not at all."""
    place = _place(key)
    if place is None:
        return
    head = json.dumps({"parallel": entry.parallel}).encode()
    data = head + b"\n" + entry.text.encode("utf-8", "surrogateescape")
    with contextlib.suppress(OSError):
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        number, name = tempfile.mkstemp(prefix="new-", dir=place.parent)
        try:
            with os.fdopen(number, "wb") as file:
                file.write(hashlib.sha256(data).hexdigest().encode() + b"\n" + data)
            os.replace(name, place)
        except BaseException:
            os.unlink(name)
            raise
        _make_room(place.parent)


def _place(key: str) -> Path | None:
    kept = folder()
    return None if kept is None else kept / key


def _make_room(kept: Path) -> None:
    """Remove the oldest entries where there are too many."""
    entries: list[tuple[float, int, str]] = []
    for one in os.scandir(kept):
        with contextlib.suppress(OSError):  # another build removes entries, too
            found = one.stat()
            entries.append((found.st_mtime, found.st_size, one.path))
    size = sum(bytes_ for _, bytes_, _ in entries)
    if size <= LARGEST_BYTES:
        return
    for _, bytes_, path in sorted(entries):
        if size <= LARGEST_BYTES * 3 // 4:
            return
        with contextlib.suppress(OSError):
            os.unlink(path)
        size -= bytes_


__all__ = ["CACHE", "Entry", "folder", "key_of", "load", "store"]
