"""The second file of a GPU target: kernels, a function for data on the device, one for arrays of the host."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from math import prod
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from polyc import __version__
from polyc.analysis.alone import most_work_alone
from polyc.codegen.gpu.device.dialect import DIALECTS, RESIDENT_THREADS, Dialect
from polyc.codegen.gpu.device.functions import device_functions
from polyc.codegen.gpu.device.stages import FETCH, FETCH_16, LOAD_16
from polyc.codegen.gpu.device.words import FUNCTIONS, HALF, STORE_16, STRUCT, NotMappable, Words, called, definitions
from polyc.codegen.gpu.finished import Kernel, Parameter
from polyc.codegen.gpu.fragment_printer import MMA, PART
from polyc.codegen.gpu.memory import DeviceArray, device_arrays, with_named_sizes
from polyc.codegen.gpu.printer import KernelPrinter
from polyc.codegen.loops.instances import Scope
from polyc.codegen.loops.loops import generate
from polyc.codegen.loops.naming import IDENTIFIER
from polyc.codegen.loops.origins import origins_in
from polyc.codegen.text.macros import MACROS
from polyc.codegen.text.printer import Line, brackets, expression, lines_of, statement
from polyc.model import ctree as c
from polyc.model.program import Origins, Program
from polyc.model.scop import Array, Region
from polyc.nests.naming import fresh
from polyc.records import dataclass, replace

TEMPLATES = {"cuda": ("cuda.cu.j2",), "opencl": ("opencl.cl.j2", "opencl.c.j2")}
FEW_AHEAD = 4
"""Values on their way to panels, and what keeps their places, for which there are registers beside a thread's sums: an
H200 runs convolutions with more of them 6 to 18 % faster with three quarters of the threads at once."""
FEW_ACCESSES = 12
"""In the text of a kernel, up to which 64 registers are enough for a thread."""
MANY_WORDS = 16
"""Of operands that a lane has at once."""
ENDINGS = {"cuda": (".cu",), "opencl": (".cl", ".opencl.c")}


@cache
def environment() -> Environment:
    """Jinja's environment over `polyc/codegen/templates`."""
    return Environment(
        loader=PackageLoader("polyc.codegen"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )


@cache
def opencl_runtime() -> str:
    """polyc_cl.h: static functions that need CL/cl.h and the C library; they can stand in front of any C11 text."""
    return (files("polyc.codegen") / "templates" / "polyc_cl.h").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class RenderedKernels:
    call: tuple[c.Stmt, ...]
    """What the region becomes: a declaration of the function, and its call."""
    device: tuple[str, ...]
    """The region's part of each other file: kernels and functions (CUDA), kernels, and what runs them (OpenCL)."""
    ast: str
    origins: tuple[Origins, ...]
    """Of each of `device`."""


def render_kernels(program: Program, region: Region, stem: str) -> RenderedKernels:
    """The device text of a mapped program. Raises NotMappable."""
    given = {p.name: p.expr for p in program.scop.parameters}
    program = with_named_sizes(program)
    scop, dialect = program.scop, DIALECTS[program.options.target]
    arrays = device_arrays(program)
    made = generate(program)
    name = f"{scop.function}_{scop.span.line}" + (f"_{scop.span.column}" if region.joined else "")
    printer = KernelPrinter(program, made, dialect, arrays, name)
    host = c.without_notes(printer.body(made.node, Scope()))
    if any(isinstance(n, c.ArrayRef) for item in host for n in c.walk(item)):
        raise NotMappable("the pass that deals its loops out to blocks and threads was left out")
    names = _own_names(program, dialect)
    host = tuple(_respelled(item, names) for item in host)
    searched = [a.name for a in arrays.values() if a.last]
    if searched and all(prod(kernel.block) == 1 for kernel in printer.kernels):
        raise NotMappable(f"no loop of it is parallel, and how much of {searched[0]} is used depends on data")
    alone = most_work_alone(program)
    if alone is not None:
        loops = f"the loops of {alone.statement} run" if alone.whole else f"a loop around {alone.statement} runs"
        carried = f", which hands on {' and '.join(alone.carried)}" if alone.carried else ""
        threads = "one thread" if alone.threads == 1 else f"{alone.threads} threads"
        raise NotMappable(
            f"{loops} in order{carried}, on {threads} of a GPU, and nothing else has more to do; a core of the CPU "
            f"is many times as fast"
        )
    words = Words(scop)
    functions = device_functions(region.preamble, sorted(called(scop)), words, dialect, names)
    own = {one: f"{name}_{one}" for one in functions}  # another region may have them too
    sizes = tuple(Parameter(p.name, words.type(p.type.text)) for p in scop.parameters)
    values = tuple(
        Parameter(a.name, a.type) for a in arrays.values() if a.by_value and a.name not in {p.name for p in sizes}
    )
    used = {p.array.key for kernel in printer.kernels for p in kernel.parameters if p.array is not None}
    buffers = tuple(a for a in arrays.values() if a.key in used)
    entry = f"polyc_{_identifier(stem)}_{name}"
    kernels = [_kernel_respelled(kernel, names) for kernel in printer.kernels]
    nodes = (n for kernel in kernels for item in kernel.body for n in c.walk(item))
    others = words.mentioned([*functions.values(), *(n.type for n in nodes if isinstance(n, c.Decl | c.Cast))])
    bodies = [
        [
            replace(line, text=_with_structs(line.text, name))
            for item in kernel.body
            for line in lines_of(_calling(item, own), 1)
        ]
        for kernel in kernels
    ]
    parts = {
        "part": "region",
        "place": f"{Path(scop.span.file).name}:{scop.span.line}",
        "entry": entry,
        "structs": [_renamed(text, names) for text in definitions(scop.arrays.values(), others, dialect.aligned)],
        "functions": [_renamed(text, own) for text in functions.values()],
        "kernels": [_kernel(kernel, body, dialect) for kernel, body in zip(kernels, bodies, strict=True)],
        "host": [line for item in host for line in statement(item, 1)],
        "numbers": [(names.get(p.name, p.name), p.type) for p in (*sizes, *values)],
        "lasts": [(a.last, "long") for a in buffers if a.last],
        "buffers": [_buffer(_array_respelled(a, names), scop.arrays.get(a.key), dialect) for a in buffers],
    }
    texts = tuple(environment().get_template(name).render(parts) for name in TEMPLATES[dialect.name])
    texts = tuple(_with_structs(text, name) for text in texts)
    # The first file has the kernels, a second one what runs them.
    origins = (origins_in(texts[0], bodies), *(() for _ in texts[1:]))
    return RenderedKernels(_call(entry, sizes, values, buffers, program, given), texts, made.node.to_C_str(), origins)


def _own_names(program: Program, dialect: Dialect) -> dict[str, str]:
    """Other names for those that the user may have given, and which mean something else in the printed text."""
    arrays = {array.printed_name for array in program.scop.arrays.values()}
    made = {f"{array}_{ending}" for array in arrays for ending in ("bytes", "device")}  # of the templates
    taken = program.scop.used_names | set(program.scop.arrays) | set(program.buffers) | made
    return {word: fresh(f"{word}_", taken) for word in dialect.words | FUNCTIONS | made}


def _respelled(node: c.N, names: dict[str, str]) -> c.N:
    """The tree with other names for the user's variables and members; functions have names of their own."""

    def change(part: c.Node) -> c.Node | None:
        match part:
            case c.Name(name=name) if name in names:
                return replace(part, name=names[name])
            case c.ArrayRef(array=name) if name in names:
                return c.rewrite(replace(part, array=names[name]), change)
            case c.Decl(name=name) if name in names:
                return c.rewrite(replace(part, name=names[name]), change)
            case c.Member(field=name) if name in names:
                return c.rewrite(replace(part, field=names[name]), change)
            case c.Call(function=name, arguments=(c.Name(name="stream") as first, *others)) if name.startswith(
                "start_"
            ):
                return replace(part, arguments=(first, *(c.rewrite(other, change) for other in others)))
            case _:
                return None

    return c.rewrite(node, change)


def _array_respelled(array: DeviceArray, names: dict[str, str]) -> DeviceArray:
    elements = None if array.elements is None else _respelled(array.elements, names)
    return replace(array, name=names.get(array.name, array.name), elements=elements)


def _kernel_respelled(kernel: Kernel, names: dict[str, str]) -> Kernel:
    return replace(
        kernel,
        parameters=tuple(replace(p, name=names.get(p.name, p.name)) for p in kernel.parameters),
        body=tuple(_respelled(item, names) for item in kernel.body),
        grid=tuple(_respelled(count, names) for count in kernel.grid),
        small=None if kernel.small is None else _respelled(kernel.small, names),
    )


def _with_structs(text: str, name: str) -> str:
    """A text with structs of the region's own: another region may have them too."""
    return re.sub(rf"\b{STRUCT}", f"{name}_", text)


def _renamed(text: str, names: dict[str, str]) -> str:
    """A function's text with others in the place of some names."""
    return IDENTIFIER.sub(lambda found: names.get(found.group(), found.group()), text)


def _calling(item: c.Stmt, names: dict[str, str]) -> c.Stmt:
    """A statement that calls functions by other names."""

    def change(node: c.Node) -> c.Node | None:
        if not isinstance(node, c.Call) or node.function not in names:
            return None
        arguments = tuple(c.rewrite(argument, change) for argument in node.arguments)
        return replace(node, function=names[node.function], arguments=arguments)

    return c.rewrite(item, change) if names else item


def _identifier(stem: str) -> str:
    return re.sub(r"\W", "_", stem)


def _kernel(kernel: Kernel, body: list[Line], dialect: Dialect) -> dict[str, object]:
    """What the templates need of a kernel."""
    sizes = (*kernel.block, 1, 1)[:3]
    return {
        "name": kernel.name,
        "index": kernel.index if kernel.small is not None else "",
        "small": "" if kernel.small is None else expression(kernel.small),
        "comment": kernel.comment.splitlines(),
        "head": dialect.kernel.format(
            threads=prod(kernel.block),
            sizes=", ".join(map(str, sizes)),
            resident=max(1, min(_resident_threads(kernel, dialect) // prod(kernel.block), 16)),
        ),
        "parameters": ", ".join(_declared(p, dialect, kernel.index) for p in kernel.parameters) or "void",
        "body": [line.text for line in body],
        "block": kernel.block,
        "grid": [expression(e) for e in kernel.grid],
        "arguments": [
            {
                "name": p.name,
                "type": p.type,
                "array": p.array is not None,
                "written": p.written,
                "cast": p.pointer if p.array is not None and p.array.boxed and p.array.inner else "",
            }
            for p in kernel.parameters
        ],
    }


def _resident_threads(kernel: Kernel, dialect: Dialect) -> int:
    """Threads of a multiprocessor at once: more where each keeps nothing but a few values, since memory is what they
    wait for; fewer where each keeps doubles in registers, which take two each, halves, which are there as floats too,
    or the operands of many fragments beside the sums."""
    if not any(isinstance(item, c.Decl) and item.extents for item in kernel.body):
        accesses = {n for item in kernel.body for n in c.walk(item) if isinstance(n, c.ArrayRef)}
        return 2 * RESIDENT_THREADS if len(accesses) <= FEW_ACCESSES else RESIDENT_THREADS
    large = ("double", dialect.half.type)
    found = any(isinstance(item, c.Decl) and item.type in large and item.extents for item in kernel.body)
    parts = [n for item in kernel.body for n in c.walk(item) if isinstance(n, c.Decl) and n.extents and n.type == PART]
    words = sum(prod(int(e.text) for e in part.extents if isinstance(e, c.Literal)) for part in parts)
    if found or words > MANY_WORDS:
        return RESIDENT_THREADS // 2
    return RESIDENT_THREADS * 3 // 4 if kernel.ahead > FEW_AHEAD else RESIDENT_THREADS


def _declared(p: Parameter, dialect: Dialect, index: str) -> str:
    if p.array is None:
        return f"{index if index and p.type == 'long' else p.type} {p.name}"
    constant = "" if p.written else "const "
    if p.array.boxed and p.array.inner:
        return f"{dialect.pointer}{constant}{p.type} (*{dialect.restrict} {p.name}){brackets(p.array.inner)}"
    return f"{dialect.pointer}{constant}{p.type} *{dialect.restrict} {p.name}"


def _buffer(array: DeviceArray, own: Array | None, dialect: Dialect) -> dict[str, object]:
    """`own`: the region's array; None for the sums of a reduction's blocks."""
    assert array.elements is not None
    kind = dialect.host_half if array.type == HALF else array.type
    struct = own is not None and own.element.kind == "struct"  # which C knows by another name
    return {
        "name": array.name,
        "type": kind,
        "host": "void" if struct else kind,
        "size": own.element.size_bytes if own is not None and struct else f"sizeof({kind})",
        "elements": expression(array.elements),
        "copied_in": array.copied_in,
        "copied_out": array.copied_out,
        "scratch": array.scratch,
        "written": array.written,
    }


def _call(
    entry: str,
    sizes: tuple[Parameter, ...],
    values: tuple[Parameter, ...],
    buffers: tuple[DeviceArray, ...],
    program: Program,
    given: Mapping[str, c.Expr],
) -> tuple[c.Stmt, ...]:
    """`extern void f(int n, const float *A, float *B); f(n, (const float *)A, (float *)B);`"""
    lasts = tuple(Parameter(a.last, "long") for a in buffers if a.last)
    types: list[str] = [p.type for p in (*sizes, *values, *lasts)]
    arguments: list[c.Expr] = [given.get(p.name, c.Name(p.name)) for p in (*sizes, *values, *lasts)]
    for array in buffers:
        if array.scratch:
            continue
        kind = "void" if program.scop.arrays[array.key].element.kind == "struct" else array.type
        pointer = f"{'' if array.copied_out or array.written else 'const '}{kind} *"
        scalar = program.scop.arrays[array.key].rank == 0
        types.append(pointer)
        arguments.append(c.Cast(pointer, c.Unary("&", c.Name(array.name)) if scalar else c.Name(array.name)))
    head = f"extern void {entry}({', '.join(types) or 'void'})"
    return (c.ExprStmt(c.Name(head)), c.ExprStmt(c.Call(entry, tuple(arguments))))


def render_device_files(path: str, devices: list[tuple[str, ...]], target: str) -> dict[str, str]:
    """The other files of a GPU target, by what their names end in."""
    found: dict[str, str] = {}
    if not devices:  # a file all the same, which a Makefile may name
        nothing = f"/* polyc {__version__}: no loop of {Path(path).name} is a kernel; 'polyc explain' says why. */\n"
        return dict.fromkeys(ENDINGS[target], nothing)
    for position, (ending, template) in enumerate(zip(ENDINGS[target], TEMPLATES[target], strict=True)):
        regions = [texts[position] for texts in devices]
        mentioned = set(IDENTIFIER.findall("\n".join(regions)))
        macros = [macro for name, macro in MACROS.items() if name in mentioned]
        kernels = "".join(found.values())
        found[ending] = (
            environment()
            .get_template(template)
            .render(
                part="file",
                version=__version__,
                source=Path(path).name,
                macros=macros,
                regions=regions,
                double="double" in mentioned,
                fetch=bool({FETCH, FETCH_16, "__pipeline_commit"} & mentioned),
                fetch_pieces="polyc_fetch_pieces" in mentioned,
                fetch16=FETCH_16 in mentioned,
                load16=LOAD_16 in mentioned,
                store16=STORE_16 in mentioned,
                half="__half" in mentioned or "ushort" in mentioned,
                half_of_double="polyc_double_to_half" in mentioned,
                mma=MMA["tf32"] in mentioned,
                mma_half=MMA["half"] in mentioned,
                kernels=[f'"{_escaped(line)}\\n"' for line in kernels.splitlines()],
                runtime=opencl_runtime() if ending == ".opencl.c" else "",
            )
        )
    return found


def _escaped(line: str) -> str:
    return line.replace("\\", "\\\\").replace('"', '\\"').replace("??", '?""?')
