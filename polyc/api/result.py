"""What `polyc.compile` answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from polyc.api.options import ONE_AT_A_TIME
from polyc.cli import output
from polyc.model.program import Remark

if TYPE_CHECKING:
    import os
    from typing import Unpack

    from polyc.api.options import ShowOptions
    from polyc.cli.run import Run


@dataclass(frozen=True, slots=True)
class Group:
    """Statements that run in one tile loop nest."""

    function: str
    """The function of the region."""
    line: int
    """Where the region starts."""
    statements: tuple[str, ...]
    """All of them, named `S0`, `S1`, ... in the order of the source; each region counts its own."""
    outputs: tuple[str, ...]
    """Those that were tiled."""
    fused: tuple[str, ...]
    """Those that are computed in the tiles that need them."""
    tile_sizes: tuple[int, ...]
    """Iterations, one number a loop that was cut; () where none was."""
    parallel: bool
    recomputation: float
    """Repeated instances of the fused statements, as a share of their instances: 0.2 is 20 %."""


@dataclass(frozen=True, slots=True)
class Buffer:
    """A small array that holds a part of a large one for the time of a tile, or a private copy."""

    function: str
    name: str
    """Its name in the printed code."""
    array: str
    """The array that it stands for."""
    extents: tuple[int | str, ...]
    """Elements along each dimension: numbers, or expressions in the region's parameters."""
    storage: str
    """`tile`, `private`, `register`, `spread` or `heap` (docs/architecture.md)."""


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """A file that was compiled. Shows itself in a notebook: what was done, the schedule trees, the code."""

    path: str
    """The name of the file; `source.c` for a text."""
    target: str
    files: dict[str, str]
    """Each file of the output, by the name that `polyc compile` gives it in the current folder: one C file, and for a
    GPU the files of its kernels."""
    verified: bool
    """Whether every region passed the check of the result and of the printed text."""
    remarks: tuple[Remark, ...]
    """Every decision, region by region: `code`, `stage` (the pass), `message`, `span`, `statements`, `data`. Notes of
    the stage `read` tell what was approximated."""
    dependencies: tuple[str, ...]
    """The file and the headers that it includes; of a text, the headers."""
    _run: Run = field()

    @property
    def text(self) -> str:
        """The C file: the input with its regions transformed, everything else byte for byte. Bytes that are not UTF-8
        are surrogates (`errors="surrogateescape"`)."""
        return next(iter(self.files.values()))

    @cached_property
    def summary(self) -> str:
        """The line that ends a compile: `3 nests in 1 region: 1 group, 3 tiled, 3 fused, 3 parallel; verified`."""
        from polyc.explain.words.summary import summary

        with ONE_AT_A_TIME:
            return summary(self.path, self._run.compiled).removeprefix(f"polyc: {self.path}: ")

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The fusion groups of all regions, in order."""
        return tuple(
            Group(one.program.scop.function, one.program.scop.span.line, group.statements, group.outputs, group.fused,
                  group.tile_sizes, group.parallel, float(group.recomputation))
            for one in self._run.compiled for group in one.program.groups
        )  # fmt: skip

    @cached_property
    def buffers(self) -> tuple[Buffer, ...]:
        """The buffers of all regions, in order."""
        from polyc.explain.facts.values import extent

        with ONE_AT_A_TIME:
            return tuple(
                Buffer(one.program.scop.function, b.name, b.array, tuple(map(extent, b.extents)), b.storage)
                for one in self._run.compiled
                for b in one.program.buffers.values()
            )

    @cached_property
    def tree(self) -> str:
        """The final schedule trees of the regions, as docs/cli.md explains them. Raises UserError (`too-large`) where
        showing them takes more isl operations than the budget allows."""
        from polyc.cli.run import shown_within_budget
        from polyc.model.tree_text import render_tree

        with ONE_AT_A_TIME, shown_within_budget(self._run):
            return "\n".join(render_tree(one.program.tree) for one in self._run.compiled)

    def write(self, path: str | os.PathLike[str] | None = None) -> Path:
        """Write the C file to `path` (`STEM.polyc.c` in the current folder without one), and what belongs to it beside
        it with other endings; all of them, or none. Answers where the C file is.

        Raises UserError: `cannot-write`, and `usage` where a file is one that the result was made from.
        """
        from polyc.api.options import told

        target = str(next(iter(self.files)) if path is None else path)
        stem, own = target.removesuffix(".c"), next(iter(self.files)).removesuffix(".c")
        texts = [(target, self.text)]
        texts += [(stem + name.removeprefix(own), text) for name, text in list(self.files.items())[1:]]
        with told():
            for name, _ in texts:
                output.refuse_input(name, self.dependencies)
        output.write_all(texts)
        return Path(target)

    def explain(self, **shown: Unpack[ShowOptions]) -> str:
        """What `polyc.explain` answers, without compiling again: `format`, `pass_`, `all_passes`."""
        from polyc.api.shown import explained, shown_values

        return explained(self._run, shown_values(shown))

    def __repr__(self) -> str:
        return f"<polyc.Result of {self.path} for {self.target}: {self.summary}>"

    def _repr_html_(self) -> str:
        from polyc.api.show import html_of

        return html_of(self)
