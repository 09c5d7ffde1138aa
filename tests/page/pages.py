"""Pages of some programs, made once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from polyc.explain.html import render
from polyc.frontend import read
from polyc.model.program import Compiled, InputOptions, Options
from polyc.model.scop import Source
from polyc.pipeline import compile_region

ROOT = Path(__file__).parents[2]
HEADERS = (str(ROOT / "polybench" / "harness"), str(ROOT / "benchmarks" / "pipelines" / "harness"))
CONV = ROOT / "benchmarks" / "demo" / "conv.c"
CAMERA = ROOT / "benchmarks" / "pipelines" / "arrays" / "camera.c"
LAPLACIAN = ROOT / "benchmarks" / "pipelines" / "arrays" / "laplacian.c"
GEMM = ROOT / "polybench" / "kernels" / "gemm.c"
JACOBI = ROOT / "polybench" / "kernels" / "jacobi-2d.c"


@dataclass(frozen=True, slots=True)
class Page:
    source: Source
    compiled: list[Compiled]
    options: Options
    text: str

    def stored(self, folder: Path) -> str:
        """The address of the page as a file."""
        file = folder / "page.html"
        file.write_text(self.text, encoding="utf-8")
        return file.as_uri()


def page_of(path: Path, options: Options) -> Page:
    source = read(str(path), InputOptions(include_dirs=HEADERS, allow_no_scop=True))
    compiled = [compile_region(region, options) for region in source.regions]
    return Page(source, compiled, options, render(source, compiled, options))


@cache
def page(path: Path, target: str = "openmp") -> Page:
    return page_of(path, Options(target=target))
