"""`polyc.compile`, `polyc.explain` and `polyc.load`."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from polyc.api.options import COMPILING, ONE_AT_A_TIME, SHOWING, CompileOptions, File, parsed, shared, told
from polyc.api.result import Result
from polyc.api.shown import explained, shown_values

if TYPE_CHECKING:
    from typing import Unpack

    from polyc.api.kernel import Kernel
    from polyc.api.options import ExplainOptions
    from polyc.cli.run import Run

TEXT = "source.c"
"""What a text is called in messages."""


def compile(source_or_path: File, **options: Unpack[CompileOptions]) -> Result:
    """Compile a C file, or C text, as `polyc compile` does; nothing is written.

    source_or_path: a file's name (str or Path), or a str with a line end in it, which is C text. What such a text
        includes with quotes is looked for in the current folder.
    options: those of the command line, by their long names with underscores; see `CompileOptions`.

    Raises UserError with every problem of the file, each with its code and place (`problem.diagnostics`), and for a
    value that an option does not take (code `usage`); TypeError for an option that there is not. Warns (RuntimeWarning)
    where the optimised program did not pass the check, and an earlier form is the result.
    """
    with ONE_AT_A_TIME:
        return result_of(run_of("compile", source_or_path, options))


def explain(source_or_path: File, **options: Unpack[ExplainOptions]) -> str:
    """What `polyc explain` prints, for the same options: what was done with each nest, what was not, and why.

    options: those of `compile`, and `format` (`text`, `html`, `json`, ... as docs/cli.md has them), `what` (`tree` or
        `graph`, with `svg` and `dot`), `pass_` to show the tree after this pass, `all_passes` for all that is known,
        `why` to answer for the nest at this line.

    Raises as `compile`.
    """
    wish = shown_values({name: value for name, value in options.items() if name not in COMPILING}, COMPILING | SHOWING)
    with ONE_AT_A_TIME:
        given = {name: value for name, value in options.items() if name in COMPILING}
        return explained(run_of("explain", source_or_path, given), wish)


def load(
    source_or_path: File,
    function: str | None = None,
    *,
    cflags: str | Sequence[str] = ("-O3", "-march=native"),
    num_threads: int | None = None,
    **options: Unpack[CompileOptions],
) -> Kernel:
    """Compile a C file or text, build it, and answer one of its functions, to be called on NumPy arrays.

    function: its name; without one, the only function with a region.
    cflags: further words for the C compiler (`cc=`, or gcc), such as libraries or more C files. Before them stands
        -fno-math-errno where the file does not name errno: functions of math.h then run in vectors.
    num_threads: OpenMP threads of each call. None: as OMP_NUM_THREADS says, or one a core.
    options: as for `compile`; the target is `openmp` or `c`.

    The code runs in this process: where it reads or writes outside of an array, Python may crash. Raises as `compile`;
    UserError also where the C compiler refuses the text (`cannot-build`), and where the function is not there, or takes
    what NumPy does not have (`cannot-load`).
    """
    from polyc.api.kernel import kernel_of

    if num_threads is not None and (isinstance(num_threads, bool) or not isinstance(num_threads, int)):
        raise TypeError(f"num_threads is a number, not {num_threads!r}")
    if num_threads is not None and num_threads < 1:
        raise ValueError(f"num_threads has to be 1 or more, not {num_threads}")
    words = (cflags,) if isinstance(cflags, str) else tuple(cflags)
    with ONE_AT_A_TIME:
        run = run_of("load", source_or_path, options, "gcc")
        return kernel_of(result_of(run), function, source(source_or_path)[1], words, num_threads)


def run_of(function: str, source_or_path: File, options: Mapping[str, object], default_cc: str = "cc") -> Run:
    """Compile, with the options of a polyc.toml near the file."""
    from polyc.cli import config
    from polyc.cli.run import compile_file

    path, text = source(source_or_path)
    context = parsed(function, shared, options, COMPILING)
    values = dict(context.params)
    with told():
        if text is None:
            config.apply(context, values, path)
        return compile_file(path, values, default_cc, text=text)


def source(source_or_path: File) -> tuple[str, str | None]:
    """The name of a file, and the text in its place. Raises TypeError."""
    if isinstance(source_or_path, str) and "\n" in source_or_path:
        return TEXT, source_or_path
    if not isinstance(source_or_path, (str, os.PathLike)):
        raise TypeError(f"a file's name or C text is wanted, not {source_or_path!r}")
    path = os.fspath(source_or_path)
    if not isinstance(path, str):
        raise TypeError(f"a file's name is a str or a Path, not {path!r}")
    return path, None


def result_of(run: Run) -> Result:
    """The run as its user sees it."""
    from polyc.cli import messages, output
    from polyc.cli.commands.compile import emitted, other_files

    target = output.default_output(run.source.path)
    files = dict([(target, emitted(run, "source")), *other_files(run, target, "source")])
    remarks = tuple(one for done in run.compiled for one in messages.decisions(done.program))
    for warning, _ in messages.fallbacks(run):
        warnings.warn(warning, RuntimeWarning, stacklevel=3)
    verified = all(done.verified for done in run.compiled)
    return Result(run.source.path, run.options.target, files, verified, remarks, run.source.dependencies, run)
