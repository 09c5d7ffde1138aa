"""The options that several commands share, and how their values become the compiler's own dataclasses."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from polyc.machine import Gpu
    from polyc.model.program import InputOptions, Options

F = TypeVar("F", bound=Callable[..., Any])
LARGEST_TILE = 1 << 20
TIME_TILES = {"skewed": 2, "diamond": 1, "overlapped": 2}
"""How many sizes a kind of time tiles has at least."""
RESIZABLE = ("tiles", "register-tiles", "row-blocks", "blocks", "time-tiles")
"""The kinds of tiles that `--sizes` takes; those of `polyc.cost.given_sizes`, which would load isl."""
LEAST_TO_READ = 5_000_000
"""isl operations that reading and showing a region may take, however few its passes may."""


if TYPE_CHECKING:
    Parameter = click.ParamType[Any]
else:
    Parameter = click.ParamType  # no generic class before click 8.3


class Whole(click.IntRange):
    """A whole number, in words that people know."""

    name = "whole number"


class Number(click.FloatRange):
    """A number, in the same words."""

    name = "number"


class TileSizes(Parameter):
    """`auto`, `none`, or positive sizes with commas: `32,8`."""

    name = "sizes"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value in ("auto", None) or isinstance(value, tuple):
            return value
        if value == "none":
            return None
        words = str(value).split(",")
        if not all(re.fullmatch(r"\s*\d{1,9}\s*", word) for word in words):
            self.fail(f"'{value}' is not 'auto', 'none' or sizes such as '32,8'", param, ctx)
        sizes = tuple(int(word) for word in words)
        if not all(0 < size <= LARGEST_TILE for size in sizes):
            self.fail(f"a tile size has to be from 1 to {LARGEST_TILE}: '{value}'", param, ctx)
        return sizes


class TimeTile(Parameter):
    """`auto`, `none`, or a kind of tiles, perhaps with sizes: `skewed:16,32`."""

    name = "tiles"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, tuple):
            return value
        kind, colon, words = str(value).partition(":")
        if kind in ("auto", "none") and not colon:
            return kind, ()
        if kind not in TIME_TILES:
            self.fail(
                f"'{value}' is not 'auto', 'none', or {' or '.join(TIME_TILES)} with sizes: 'skewed:16,32'", param, ctx
            )
        sizes = TileSizes().convert(words, param, ctx) if colon else ()
        if not isinstance(sizes, tuple):
            self.fail(f"'{words}' are no sizes such as '16,32'", param, ctx)
        least = TIME_TILES[kind]
        if colon and len(sizes) < least:
            self.fail(f"{kind} tiles have a number of steps and sizes in space: '{kind}:16,32'", param, ctx)
        return kind, sizes


class Strips(Parameter):
    """`auto`, `none`, or how many tiles a strip has. A number of tiles, 0 for none, or None for `auto`."""

    name = "strips"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value in ("auto", None):
            return None
        if value == "none":
            return 0
        if not str(value).isdigit():
            self.fail(f"'{value}' is not 'auto', 'none', or a number of tiles", param, ctx)
        return int(value)


class Resized(Parameter):
    """Sizes for one kind of tiles: `register-tiles=128,1152,256`."""

    name = "sizes"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, tuple):
            return value
        kind, equals, words = str(value).partition("=")
        if kind not in RESIZABLE or not equals:
            self.fail(f"'{value}' is not {', '.join(RESIZABLE[:-1])} or {RESIZABLE[-1]} with sizes: 'tiles=32,128'",
                      param, ctx)  # fmt: skip
        sizes = TileSizes().convert(words, param, ctx)
        if not isinstance(sizes, tuple):
            self.fail(f"'{words}' are no sizes such as '32,128'", param, ctx)
        return kind, sizes


class Counts(Parameter):
    """One to three positive numbers: `128` or `32,8`."""

    name = "counts"

    def __init__(self, what: str, most: tuple[int, int, int]) -> None:
        self.what = what
        self.most = most
        """Along x, y, z; what CUDA allows."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, tuple):
            return value
        words = str(value).split(",")
        if len(words) > 3 or not all(re.fullmatch(r"\s*\d{1,12}\s*", word) for word in words):
            self.fail(f"'{value}' is not one to three numbers of {self.what} such as '32,8'", param, ctx)
        counts = tuple(int(word) for word in words)
        for count, axis, most in zip(counts, "xyz", self.most, strict=False):
            if not 0 < count <= most:
                self.fail(f"there are 1 to {most} {self.what} along {axis}, not {count}", param, ctx)
        return counts


class Bindings(Parameter):
    """`NAME=VALUE`, several with commas."""

    name = "name=value"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, tuple):
            return value
        found: list[tuple[str, int]] = []
        for word in str(value).split(","):
            match = re.fullmatch(r"\s*([A-Za-z_]\w*)\s*=\s*([-+]?(?:0[xX][0-9a-fA-F]+|\d+))\s*", word)
            if match is None:
                self.fail(f"'{word}' is not NAME=VALUE with an integer value", param, ctx)
            text = match.group(2)
            found.append((match.group(1), int(text, 16 if "x" in text.lower() else 10)))
        return tuple(found)


class Names(Parameter):
    """C names, several with commas; an empty text is no name."""

    name = "names"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, tuple):
            return value
        words = [word.strip() for word in str(value).split(",") if word.strip()]
        for word in words:
            if not re.fullmatch(r"[A-Za-z_]\w*", word):
                self.fail(f"'{word}' is not a name", param, ctx)
        return tuple(words)


class Definition(Parameter):
    """`NAME` or `NAME=VALUE` as the preprocessor takes it."""

    name = "name[=value]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not re.match(r"[A-Za-z_]\w*(\([^()]*\))?(=|$)", str(value)):
            self.fail(f"'{value}' does not start with a macro's name", param, ctx)
        return value


class Folder(Parameter):
    """A folder's name. An empty one would make the compiler take the next word for it."""

    name = "dir"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not value:
            self.fail("a folder has a name", param, ctx)
        return value

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(incomplete, type="dir")]


class MacroName(Parameter):
    """A macro's name."""

    name = "name"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not re.fullmatch(r"[A-Za-z_]\w*", str(value)):
            self.fail(f"'{value}' is not a macro's name", param, ctx)
        return value


def files(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """For a shell: the names of files."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


def machines(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """For a shell: the machines of the target's kind, and files."""
    from click.shell_completion import CompletionItem

    from polyc.machine import known

    kind = "gpu" if context.params.get("target") in ("cuda", "opencl") else "cpu"
    names = [CompletionItem(name) for name in known(kind) if name.startswith(incomplete)]
    return [*names, *files(context, _, incomplete)]


def _among(name: str, values: str, help: str) -> Callable[[F], F]:
    """An option with a few values, the first of which it has by itself."""
    found = values.split()
    return click.option(name, type=click.Choice(found), default=found[0], show_default=True, help=help)


def _usual(name: str, metavar: str, kind: click.ParamType[Any], help: str) -> Callable[[F], F]:
    """An option that is `auto` by itself."""
    return click.option(name, metavar=metavar, type=kind, default="auto", show_default=True, help=help)


INPUT = (
    click.option("-I", "include_dirs", metavar="DIR", multiple=True, type=Folder(), help="Search DIR for headers."),
    click.option("-D", "defines", metavar="NAME[=VALUE]", multiple=True, type=Definition(), help="Define a macro."),
    click.option("-U", "undefines", metavar="NAME", multiple=True, type=MacroName(), help="Undefine a macro."),
    click.option(
        "--param",
        "params",
        metavar="NAME=VALUE",
        multiple=True,
        type=Bindings(),
        help="Promise a parameter's value.",
    ),
    click.option("--assume", metavar="CONDITION", multiple=True, help="Promise a condition, such as 'N >= 4'."),
    click.option(
        "--live-out",
        metavar="NAME,...",
        multiple=True,
        type=Names(),
        help="The arrays that are needed after the regions; '' for none. Default: found out.",
    ),
    click.option("--allow-no-scop", is_flag=True, help="A file without a region is no error."),
    click.option("--detect", is_flag=True, help="Also find regions that nobody marked."),
    click.option("--no-config", is_flag=True, help="Read no polyc.toml."),
    click.option("--no-alias", is_flag=True, help="Promise that arrays do not overlap in regions that are found."),
    _among(
        "--openmp", "keep replace", "Leave functions with OpenMP's pragmas alone, or take over their parallel loops."
    ),
)

TRANSFORM = (
    _among("--target", "openmp c cuda opencl", "What to print: C with OpenMP, C, or C with kernels for a GPU."),
    _among("--fuse", "basteln min smart max", "How to fuse: by tiles, or with one of isl's own heuristics."),
    _usual(
        "--tile-sizes", "auto|N,N,...|none", TileSizes(), "Tile sizes for the loops of a nest, the last one repeated."
    ),
    click.option(
        "--sizes",
        "resized",
        metavar="KIND=N[,N...]",
        type=Resized(),
        multiple=True,
        help="In the place of polyc's own sizes, everything else as it is: tiles, register-tiles, row-blocks, blocks "
        "or time-tiles.",
    ),
    _usual(
        "--time-tile",
        "auto|none|KIND[:N,...]",
        TimeTile(),
        "Tiles over the steps of a stencil: skewed[:STEPS,CELLS,...], diamond[:CELLS,...] or "
        "overlapped[:STEPS,CELLS,...].",
    ),
    _among("--threads", "auto always", "Whether parallel loops that are too small for threads start them."),
    _among("--stores", "auto nontemporal plain", "Whether results that no cache holds go to memory past the caches."),
    _usual(
        "--strips",
        "auto|none|N",
        Strips(),
        "Let fused producers slide through strips of N tiles, with circular buffers, instead of repeating work.",
    ),
    click.option(
        "--max-recompute",
        metavar="PERCENT",
        type=Number(min=0),
        help="How much repeated work fusion may cost. Default: as long as the estimated cost falls.",
    ),
    click.option(
        "--machine",
        metavar="host|NAME|FILE",
        shell_complete=machines,
        help="The CPU or GPU to make code for: this one, one that 'polyc machine list' names, or a TOML file.  "
        "[default: generic]",
    ),
    click.option(
        "--grid",
        metavar="N[,N[,N]]",
        type=Counts("blocks", (2**31 - 1, 65535, 65535)),
        help="How many blocks a GPU's kernels have along x, y, z. Default: as many as there are tiles.",
    ),
    click.option(
        "--block",
        metavar="N[,N[,N]]",
        type=Counts("threads", (1024, 1024, 64)),
        help="How many threads a block has along x, y. Default: chosen for the machine.",
    ),
    click.option("--no-inline", is_flag=True, help="Leave elementwise producers in nests of their own."),
    click.option("--no-verify", is_flag=True, help="Print code that was not checked."),
    click.option("--allow-tf32", is_flag=True, help="For CUDA: float products on tensor cores, rounded to 10 bits."),
    click.option("--reassociate", is_flag=True, help="Allow reductions in another order of additions."),
    click.option(
        "--budget",
        metavar="N",
        type=Whole(min=0),
        default=2_000_000,
        show_default=True,
        help="isl operations that a step may take before it is left out; 0 for no bound.",
    ),
)


def compiler_option(default: str) -> Callable[[F], F]:
    """`--cc`, with the first choice of the command."""
    text = "The C compiler that preprocesses" + (" and builds." if default == "gcc" else ".")
    return click.option("--cc", metavar="COMMAND", default=None, help=f"{text}  [default: {default}]")


def options(*groups: tuple[Callable[[F], F], ...]) -> Callable[[F], F]:
    """A decorator that adds groups of options, in the order in which the help shows them."""

    def add(function: F) -> F:
        for group in reversed(groups):
            for option in reversed(group):
                function = option(function)
        return function

    return add


def input_options(values: dict[str, Any], default_cc: str = "cc") -> InputOptions:
    """The options of a command line, as the frontend takes them."""
    from polyc.model.program import InputOptions

    live_out = values["live_out"]
    return InputOptions(
        include_dirs=values["include_dirs"],
        defines=values["defines"],
        undefines=values["undefines"],
        params=tuple(pair for group in values["params"] for pair in group),
        assume=values["assume"],
        live_out=tuple(name for group in live_out for name in group) if live_out else None,
        allow_no_scop=values["allow_no_scop"],
        detect=values["detect"],
        alias=not values["no_alias"],
        openmp=values["openmp"],
        launcher=values.get("launcher", ()),
        whole=values.get("whole", False),
        expands=values.get("expands", False),
        flags=values.get("flags", ()),
        any_build=values.get("any_build", True),
        cc=values["cc"] or first_compiler(default_cc),
        budget=enough(values["budget"]),
    )


def enough(budget: int) -> int:
    """The budget for what has no lesser form."""
    return max(budget, LEAST_TO_READ) if budget else 0


def transform_options(values: dict[str, Any]) -> Options:
    """The options of a command line, as the pipeline takes them."""
    from polyc.model.program import Options

    machine, grid, block = machine_options(values)
    if values["resized"] and values["target"] in ("cuda", "opencl"):
        raise click.UsageError("--sizes is for CPUs; a GPU takes --tile-sizes, --grid and --block")
    return Options(
        target=values["target"],
        one_thread=values.get("one_thread", ""),
        fuse=values["fuse"],
        tile_sizes=values["tile_sizes"],
        time_tile=values["time_tile"],
        sizes=tuple(dict(values["resized"]).items()),
        threads=values["threads"],
        stores=values["stores"],
        strips=values["strips"],
        max_recompute=values["max_recompute"],
        verify=not values["no_verify"],
        reassociate=values["reassociate"],
        allow_tf32=values["allow_tf32"],
        inline=not values["no_inline"],
        budget=values["budget"],
        machine=machine,
        grid=grid,
        block=block,
    )


def machine_options(values: dict[str, Any]) -> tuple[str, tuple[int, ...] | None, tuple[int, ...] | None]:
    """The machine, and for a GPU the grid and the block, where they fit it.

    Raises click.UsageError, and UserError for a machine's file that is wrong.
    """
    from polyc.machine import DEFAULTS, load_cpu, load_gpu, spelled

    named, grid, block, target = values["machine"], values["grid"], values["block"], values["target"]
    kind = "gpu" if target in ("cuda", "opencl") else "cpu"
    machine = DEFAULTS[kind] if named is None else spelled(str(named))
    known_name(machine, target)
    if kind == "cpu":
        for option in ("grid", "block"):
            if values[option] is not None:
                raise click.UsageError(f"--{option} is for a GPU: the target is {target}, not cuda or opencl")
        if values["allow_tf32"]:
            raise click.UsageError(f"--allow-tf32 is for CUDA's tensor cores: the target is {target}, not cuda")
        load_cpu(machine)
        return machine, None, None
    gpu = load_gpu(machine)
    if block is not None:
        block = fitting_block(block, gpu)
    return machine, grid, block


def known_name(name: str, target: str | None) -> None:
    """A name that nobody knows, or of a machine that the target does not run on, is a mistake in the command."""
    from polyc.machine import is_file, known

    kind = None if target is None else "gpu" if target in ("cuda", "opencl") else "cpu"
    if is_file(name) or name in known(kind):
        return
    if kind is not None and name in known(None):
        one, other, targets = ("CPU", "GPU", "openmp or c") if kind == "gpu" else ("GPU", "CPU", "cuda or opencl")
        raise click.UsageError(
            f"--machine: '{name}' is a {one}, and the target {target} runs on a {other}: "
            f"name one of {', '.join(known(kind))}, or choose --target {targets}"
        )
    names = ", ".join(known(kind))
    raise click.UsageError(f"there is no machine '{name}': there are {names}; a file's name ends in .toml")


def fitting_block(block: tuple[int, ...], gpu: Gpu) -> tuple[int, ...]:
    """The block along x, y, where the GPU can run it."""
    if any(count > 1 for count in block[2:]):
        raise click.UsageError("--block: kernels use threads along x and y only: leave out the third number")
    block = block[:2]
    threads = prod(block)
    if threads > gpu.threads_per_block:
        raise click.UsageError(
            f"--block: {threads} threads are too many: a block of {gpu.name} has at most {gpu.threads_per_block}"
        )
    if threads % gpu.warp_size:
        raise click.UsageError(
            f"--block: {threads} threads are no multiple of {gpu.warp_size}, those that {gpu.name} runs in step"
        )
    return block


def first_compiler(preferred: str) -> str:
    """The preferred compiler, or the first other one that there is, or the preferred one again."""
    from shutil import which

    return next((name for name in (preferred, "cc", "gcc", "clang") if which(name)), preferred)
