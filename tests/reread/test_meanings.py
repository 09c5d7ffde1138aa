"""The definitions that the check of a text knows are those that are printed."""

from __future__ import annotations

import pytest

from polyc.codegen.blocks.stream_block import STREAMING
from polyc.codegen.blocks.vectors import VectorTypes
from polyc.codegen.text.macros import MACROS
from polyc.reread.meanings import definitions


def test_functions() -> None:
    assert list(definitions(MACROS, {})) == list(MACROS.values())


def test_stores_past_the_caches() -> None:
    (known,) = definitions(["polyc_stream", "polyc_fence"], {})
    assert STREAMING.split("*/\n", 1)[1] == known


@pytest.mark.parametrize(("element", "lanes", "size"), [("float", 8, 4), ("double", 4, 8), ("float", 16, 4)])
def test_rows_of_two_vectors(element: str, lanes: int, size: int) -> None:
    types = VectorTypes()
    name = types.name(element, lanes, size)
    types.lookups.add(name)
    short = name.removeprefix("polyc_")
    assert list(definitions([name, f"polyc_lookup_{short}"], types.found)) == types.macros()


@pytest.mark.parametrize("count", [128, 256, 512, 1024])
def test_rows_of_bytes(count: int) -> None:
    types = VectorTypes()
    name = types.name("unsigned char", 64, 1)
    types.bytes.add((name, count))
    assert list(definitions([name, f"polyc_lookup{count}_unsigned_char64"], types.found)) == types.macros()
