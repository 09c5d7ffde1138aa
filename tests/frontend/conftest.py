"""`scop(text)` models the one region of a C text, each iteration in its place; `read_text(text)` reads it as a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import islpy as isl
import pytest

from polyc.frontend import read
from polyc.model.program import InputOptions
from polyc.model.scop import Scop, Source

Reader = Callable[..., Source]
Modeller = Callable[..., Scop]


@pytest.fixture
def read_text(tmp_path: Path) -> Reader:
    def run(text: str, **options: object) -> Source:
        path = tmp_path / "t.c"
        path.write_text(text)
        return read(str(path), InputOptions(**options))  # type: ignore[arg-type]

    return run


@pytest.fixture
def scop(read_text: Reader) -> Modeller:
    def run(text: str, **options: object) -> Scop:
        (region,) = read_text(text, **options).regions
        return region.scop.whole or region.scop

    return run


@pytest.fixture
def same() -> Callable[[object, str], None]:
    """Compare an isl set or map with its text, as sets."""

    def check(found: object, expected: str) -> None:
        kind = type(found)
        wanted = kind(expected)  # type: ignore[call-arg]
        assert found == wanted, f"{found} is not {expected}"

    return check


@pytest.fixture
def relations() -> Callable[[Scop, str], list[str]]:
    """`kind array exact?` and relation of every access of a statement, domain dropped."""

    def run(scop: Scop, name: str) -> list[str]:
        statement = scop.statements[name]
        found = []
        for access in statement.accesses:
            plain = str(access.relation.gist_domain(statement.domain)).partition("{")[2]
            found.append(f"{access.kind.value} {{{plain}{'' if access.exact else ' inexact'}")
        return found

    return run


__all__ = ["Modeller", "Reader", "isl"]
