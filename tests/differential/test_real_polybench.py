"""The real PolyBench/C 4.2.1, unmodified: POLYBENCH_DIR names its folder. It is not a part of this project."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from toolbox import MODES, ROUNDING, assert_rest_unchanged, assert_verified, compiled_file, run

from polyc.model.program import InputOptions

FOLDER = Path(os.environ.get("POLYBENCH_DIR", "/nonexistent")).absolute()
KERNELS = {
    file.stem: file
    for file in sorted(FOLDER.rglob("*.c"))
    if file.parent.name != "utilities" and file.with_suffix(".h").exists() and not file.stem.endswith(".orig")
}
DEFINES = ("MINI_DATASET", "POLYBENCH_DUMP_ARRAYS")


@pytest.mark.slow
@pytest.mark.skipif(not KERNELS, reason="POLYBENCH_DIR is not set")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kernel", KERNELS or ["none"])
def test_same_dump(kernel, mode, tmp_path):
    utilities = FOLDER / "utilities"
    folders = (str(utilities), str(KERNELS[kernel].parent))
    source, regions, text = compiled_file(KERNELS[kernel], InputOptions(folders, DEFINES), MODES[mode])
    assert_verified(regions)
    assert_rest_unchanged(source, regions, text)
    file = tmp_path / f"{kernel}.c"
    file.write_text(text)
    dumps = []
    for name, level, c_file in (("plain", "-O2", KERNELS[kernel]), ("polyc", "-O1", file)):
        flags = [f"-I{folder}" for folder in folders] + [f"-D{name}" for name in DEFINES]
        # On standard error, where PolyBench writes its arrays.
        run("gcc", level, "-fopenmp", ROUNDING, *flags, c_file, utilities / "polybench.c", "-o", tmp_path / name, "-lm")
        dumps.append(run("sh", "-c", f"exec {tmp_path / name} 2>&1"))
    assert "begin dump" in dumps[0]
    assert dumps[0] == dumps[1]
