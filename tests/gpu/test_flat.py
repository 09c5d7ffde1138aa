"""Linearised arrays on a GPU: the same values, and nothing beyond the last cell that is used."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.model.program import Options
from tests.differential.test_flat import STAGES
from tests.gpu.test_kernels import TARGETS, assert_same
from tests.programs import region_of


@TARGETS
@pytest.mark.parametrize("name", [name for name in STAGES if name != "strides"])  # S2 / S1 is no variable
def test_flat_arrays(name: str, target: str, tmp_path: Path) -> None:
    region = region_of(STAGES[name], tmp_path)
    assert_same(region, Options(target=target))
