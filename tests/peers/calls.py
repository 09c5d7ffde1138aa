"""Call each function of C files with drawn arguments, as it is and through polyc, and compare what both leave behind.

python -m tests.peers.calls FILE ... [-I DIR] [-D NAME] [--mode compile|cc] [--flags WORDS] [--with FILE ...]

Called are the functions that polyc changed, and their callers.

Whole numbers are small, pointers lead to memory that ends where a page does, in each fourth call several to the same
one; structs are filled member by member. In each third trial a function is called twice, for what it keeps. Calls that
leave their memory, have no meaning in C, or depend on what was never set do not count: the original ends by a signal
there, with sanitizers or without, or -O0, -O1 and -O2 differ. It needs no main(), and no input, so that it is an oracle
for what the front end reads in somebody else's code.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from pycparser import c_ast
from pycparser.c_generator import CGenerator
from pycparser.c_parser import CParser

from polyc.errors import UserError
from polyc.frontend.c.ctype import Dim, Shape, Types
from polyc.frontend.c.parse import clean, needed_declarations, short
from polyc.frontend.text.chunks import Chunks, cut
from polyc.frontend.text.places import Places
from polyc.frontend.text.preprocess import preprocess
from polyc.frontend.text.source import load
from polyc.model.program import InputOptions

RUNTIME = Path(__file__).with_suffix(".c")
COUNTS = {"rows": (24, 6, 3, 2), "structs": (16, 3, 2, 1), "elements": (4096, 1024, 512, 64)}
"""Elements behind a pointer of each depth: to pointers, to structs, to numbers."""
PLAIN = (
    "-Dmain=polyc_t_main",
    "-ffp-contract=off",
    "-w",
    "-fkeep-static-functions",
    "-fno-toplevel-reorder",
    "-fno-ipa-cp",
    "-fno-ipa-sra",
    "-fno-ipa-ra",
)
SANITIZED = (
    "-fsanitize=address,undefined,float-cast-overflow",
    "-fno-sanitize=alignment,vptr",
    "-fno-sanitize-recover",
)
BUILDS = {"O0": ("-O0",), "O1": ("-O1",), "O2": ("-O2",), "sanitized": ("-O1", *SANITIZED)}
SECONDS = 240


@dataclass
class Fills:
    """C functions that fill objects of a type, each printed once."""

    types: Types
    made: dict[str, str] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)

    def fill(self, place: str, shape: Shape, depth: str, is_datum: int, level: int = 0) -> str:
        """The statement that fills an object."""
        if shape.dims and shape.dims[0].pointer:
            return "" if shape.is_function else self.pointer(place, shape, depth, level)
        if shape.dims:
            k = f"k{level}"
            inner = Shape(shape.element, shape.dims[1:], shape.node, is_function=shape.is_function)
            body = self.fill(f"({place})[{k}]", inner, depth, 1, level + 1)
            return f"for (unsigned long {k} = 0; {k} < sizeof({place}) / sizeof(({place})[0]); {k}++) {{ {body} }}"
        kind = shape.element.kind
        if kind == "int":
            return f"polyc_t_int((void *)&({place}), sizeof({place}), {is_datum});"
        if kind == "float":
            return f"polyc_t_real((void *)&({place}), sizeof({place}));"
        if kind == "struct" and isinstance(shape.node, c_ast.Struct) and shape.node.decls:
            if shape.element.text.endswith(" None"):
                return " ".join(self.members(f"({place}).", shape.node, depth))
            return f"{self.struct(shape.element.text, shape.node)}((void *)&({place}), {depth});"
        return ""

    def pointer(self, place: str, shape: Shape, depth: str, level: int) -> str:
        inner = Shape(shape.element, shape.dims[1:], shape.node, is_function=shape.is_function)
        first = not (inner.dims and inner.dims[0].pointer)
        if first and inner.element.kind in ("struct", "other") and not (inner.node is not None and inner.node.decls):
            if inner.element.text != "void":
                return ""
            return f"*(void **)&({place}) = polyc_t_block(8, 1024, {depth});"
        kind = "rows" if inner.dims else "structs" if inner.element.kind == "struct" else "elements"
        count = f"polyc_t_{kind}[{depth}]"
        k = f"k{level}"
        body = self.fill(f"(({self.cast(place)})[{k}])", inner, f"{depth} + 1", 1, level + 1)
        block = f"polyc_t_block(sizeof(*({place})), {count}, {depth})"
        return (
            f"if (polyc_t_deeper({depth})) {{ *(void **)&({place}) = {block}; "
            f"for (unsigned long {k} = 0; {k} < {count}; {k}++) {{ {body} }} }}"
        )

    def cast(self, place: str) -> str:
        return f"(__typeof__(&*({place})))({place})"

    def struct(self, spelled: str, node: c_ast.Struct) -> str:
        if spelled not in self.made:
            name = self.made[spelled] = f"polyc_t_fill{len(self.made)}"
            lines = self.members("one->", node, "depth")
            head = f"static void {name}({spelled} *one, int depth)"
            self.texts.insert(0, f"{head};")
            self.texts.append("\n    ".join([f"{head}\n{{", *(line for line in lines if line)]) + "\n}")
        return self.made[spelled]

    def members(self, prefix: str, node: c_ast.Struct, depth: str) -> list[str]:
        items = [one for one in node.decls if isinstance(one, c_ast.Decl) and one.name and one.bitsize is None]
        return [self.fill(f"{prefix}{one.name}", self.types.shape(one.type), depth, 0) for one in items]


def parsed(chunks: Chunks, number: int, fills: Fills) -> list[c_ast.Node]:
    """A declaration, or a function's head, after its types are known; none where it cannot be parsed."""
    text = chunks.text_of(number)
    if chunks.items[number].is_function:
        text = text[: text.index("{")] + ";"
    before = [clean(short(chunks.text_of(k))) for k in needed_declarations(chunks, number)]
    lines = ["typedef int __builtin_va_list;", *before, "int polyc_t_mark;", clean(text)]
    try:
        tree = CParser().parse("\n".join(lines), "")
    except Exception:  # what pycparser does not know
        return []
    for one in tree.ext:
        fills.types.add_all(one)
    mark = next(k for k, one in enumerate(tree.ext) if getattr(one, "name", "") == "polyc_t_mark")
    return list(tree.ext[mark + 1 :])


def declared(chunks: Chunks, number: int, fills: Fills) -> c_ast.Decl | None:
    """A function's declaration."""
    found = [one for one in parsed(chunks, number, fills) if isinstance(one, c_ast.Decl)]
    return found[-1] if found and isinstance(found[-1].type, c_ast.FuncDecl) else None


def globals_of(chunks: Chunks, number: int, fills: Fills) -> list[tuple[str, str]]:
    """The variables of a declaration, each with the statement that fills it."""
    found: list[tuple[str, str]] = []
    for one in parsed(chunks, number, fills):
        if not isinstance(one, c_ast.Decl) or not one.name or {"extern", "typedef"} & set(one.storage):
            continue
        inner = one.type
        while isinstance(inner, c_ast.ArrayDecl):
            inner = inner.type
        if isinstance(inner, c_ast.FuncDecl) or {"const", "volatile"} & {*one.quals, *getattr(inner, "quals", ())}:
            continue
        found.append((one.name, fills.fill(f"T_{one.name}", fills.types.shape(one.type), "1", 1)))
    return found


def call(decl: c_ast.Decl, fills: Fills) -> str | None:
    """The block that draws arguments, calls the function, and shows what it returns."""
    arguments = decl.type.args.params if decl.type.args else []
    lines: list[str] = []
    names: list[str] = []
    for k, one in enumerate(arguments):
        if not isinstance(one, (c_ast.Decl, c_ast.Typename)):
            return None
        shape = fills.types.shape(one.type)
        if not shape.dims and shape.element.text == "void":
            continue
        if shape.dims and not shape.dims[0].pointer:
            shape = Shape(shape.element, (Dim(None, True), *shape.dims[1:]), shape.node, is_function=shape.is_function)
        name = one.name or f"polyc_t_x{k}"
        lines.append(f"{variable(one, name)}; __builtin_memset((void *)&{name}, 0, sizeof {name});")
        lines.append(fills.fill(name, shape, "0", 0))
        names.append(name)
    result = fills.types.shape(decl.type.type)
    called = f"T_{decl.name}({', '.join(names)})"
    if result.dims or result.element.text != "void":
        called = f"static __typeof__({called}) result; result = {called}; polyc_t_seen((void *)&result, sizeof result)"
    called = f"for (int polyc_t_k = 0; polyc_t_k < polyc_t_calls; polyc_t_k++) {{ {called}; }}"
    return "\n        ".join(line for line in (*lines, called) if line)


def variable(argument: c_ast.Node, name: str) -> str:
    """The declaration of a variable of an argument's type; that of an array is a pointer to its rows."""
    type_ = argument.type
    if isinstance(type_, c_ast.ArrayDecl):
        type_ = c_ast.PtrDecl([], type_.type)
    inner = type_
    while not isinstance(inner, c_ast.TypeDecl):
        inner = inner.type
    inner.declname = name
    return str(CGenerator().visit(c_ast.Decl(name, [], [], [], [], type_, None, None)))


def with_callers(names: set[str], chunks: Chunks) -> set[str]:
    """Functions of a file, and those that call them, which know what they pass: parts of one array, for two."""
    functions = {item.function_name: chunks.names_of(k) for k, item in enumerate(chunks.items) if item.is_function}
    found = set(names)
    while more := {name for name, mentioned in functions.items() if mentioned & found} - found:
        found |= more
    return found


def driver(file: Path, options: InputOptions, wanted: set[str]) -> tuple[str, list[str], list[str]]:
    """A text that calls the functions of a file that are wanted, their names, and those of the file's variables. Raises
    UserError."""
    pre = preprocess(str(file), options)
    chunks = cut(pre.text, Places(load(str(file)), pre))
    lines: list[str] = []
    names: list[str] = []
    apart: list[int] = []
    fills = Fills(Types())
    cases: list[str] = []
    variables: dict[str, str] = {}
    wanted = with_callers(wanted, chunks)
    for number, item in enumerate(chunks.items):
        if not item.is_function and pre.place(item.end - 1)[0] == pre.path and "{" not in item.header[:1]:
            variables |= globals_of(chunks, number, fills)
        start = re.compile(r"[^\s#][^\n]*$|\S", re.MULTILINE).search(chunks.text, item.start)
        if not item.is_function or item.function_name not in wanted.difference(names, ("main",)) or start is None:
            continue
        if pre.place(item.end - 1)[0] != pre.path:
            continue
        decl = declared(chunks, number, fills)
        body = None if decl is None else call(decl, fills)
        if decl is None or body is None:
            continue
        cases.append(f"    case {len(names)}: {{\n        {body}\n        break;\n    }}")
        names.append(item.function_name)
        apart.append(int(re.search(r"\b(?:__)?restrict(?:__)?\b", chunks.text_of(number).split("{")[0]) is not None))
    lines += [f'#define main polyc_t_main\n#include "{file.resolve()}"\n#undef main', PRELUDE]
    lines += [f"extern __typeof__({name}) T_{name};" for name in names]
    for kind, counts in COUNTS.items():
        lines.append(f"static const unsigned long polyc_t_{kind}[] = {{{', '.join(map(str, counts))}}};")
    lines += fills.texts
    listed = ", ".join(f'"{name}"' for name in names)
    lines.append(f"const int polyc_t_functions = {len(names)};")
    lines.append(f"const char *const polyc_t_names[] = {{{listed}}};")
    lines.append(f"const int polyc_t_apart[] = {{{', '.join(map(str, apart))}}};")
    lines += [f"extern __typeof__({name}) T_{name};" for name in variables]
    lines.append("void polyc_t_globals(int filled)\n{")
    for name, filling in variables.items():
        lines.append(f"    if (filled) {{ {filling} }}\n    polyc_t_seen((void *)&T_{name}, sizeof T_{name});")
    lines.append("}")
    lines.append("void polyc_t_call(int function)\n{\n    switch (function) {\n" + "\n".join(cases) + "\n    }\n}\n")
    return "\n".join(lines), names, list(variables)


PRELUDE = """extern int polyc_t_calls;
void *polyc_t_block(__SIZE_TYPE__, __SIZE_TYPE__, int);
int polyc_t_deeper(int);
void polyc_t_int(void *, __SIZE_TYPE__, int);
void polyc_t_real(void *, __SIZE_TYPE__);
void polyc_t_seen(void *, __SIZE_TYPE__);"""


@dataclass(frozen=True)
class Settings:
    options: InputOptions
    flags: tuple[str, ...]
    mode: str
    linked: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    polyc: tuple[str, ...] = (sys.executable, "-m", "polyc")


def differing(file: Path, settings: Settings, folder: Path) -> tuple[list[str], int]:
    """What differs, a line for each function, and how many calls were compared. Raises UserError, Failed."""
    result, polyc = folder / "result.c", settings.polyc
    given = [f"-I{one}" for one in settings.options.include_dirs] + [f"-D{one}" for one in settings.options.defines]
    given += settings.words
    told = run([*polyc, "compile", "--detect", "--allow-no-scop", "-v", *given, str(file), "-o", str(result)])
    text, names, variables = driver(
        file, settings.options, set(re.findall(r": region in (\w+)\(\)$", told, re.MULTILINE))
    )
    (folder / "driver.c").write_text(text, errors="surrogateescape")
    words = [*settings.flags, *(f"-I{one}" for one in (*settings.options.include_dirs, file.parent))]
    words += [f"-D{one}" for one in settings.options.defines]
    if not names:
        return [], 0
    run(["gcc", "-O1", "-w", "-c", str(RUNTIME), "-o", str(folder / "runtime.o")])
    run(["gcc", "-O0", "-w", *words, "-c", str(folder / "driver.c"), "-o", str(folder / "driver.o")])
    run(["objcopy", "--wildcard", "--keep-global-symbol=polyc_t_*", str(folder / "driver.o")])
    (folder / "names").write_text("".join(f"{name}\n" for name in (*names, *variables)))
    (folder / "renamed").write_text("".join(f"{name} T_{name}\n" for name in (*names, *variables)))
    found: dict[str, dict[tuple[int, int], str]] = {}
    for build, level in BUILDS.items():
        command = ["gcc", *PLAIN, *words, *level, "-c", str(file)]
        found[build] = called(folder, build, command, level if build == "sanitized" else (), settings)
    if settings.mode == "cc":
        command = [*polyc, "cc", "--cc", "gcc", *PLAIN, *words, "-O2", "-c", str(file)]
    else:
        command = ["gcc", *PLAIN, *words, "-O2", "-fopenmp", "-c", str(result)]
    after = called(folder, "polyc", command, (), settings)
    wrong: dict[int, list[int]] = {}
    compared = 0
    for key, value in found["O0"].items():
        same = all(one.get(key) == value for one in found.values())
        if same and not value.startswith(("signal", "exit")):
            compared += 1
            if after.get(key) != value:
                wrong.setdefault(key[0], []).append(key[1])
    lines = []
    for number, trials in wrong.items():
        ends = sorted({after.get((number, k), "nothing") for k in trials})
        what = ends[0] if ends[0].startswith(("signal", "exit")) else "another value"
        lines.append(f"{file}: {names[number]} ({number}): {what} in trials {', '.join(map(str, trials))}")
    return lines, compared


class Failed(Exception):
    """A command that failed."""


def run(command: list[str], **more: str) -> str:
    environment = {**os.environ, "OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive", "POLYC_CACHE": "off", **more}
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False, env=environment
        )
    except subprocess.TimeoutExpired:
        raise Failed(f"{shlex.join(command)[:200]}: takes too long") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace")
        raise Failed(f"{shlex.join(command)[:200]} ends with {done.returncode}: {said[-3000:]}")
    return (done.stdout + done.stderr).decode("utf-8", "replace")


def called(
    folder: Path, build: str, command: list[str], link: tuple[str, ...], settings: Settings
) -> dict[tuple[int, int], str]:
    """What the calls of one build leave behind: function and trial -> a hash, or how it ended."""
    part, program = folder / f"{build}.o", folder / build
    run([*command, "-o", str(part)])
    run(["objcopy", f"--globalize-symbols={folder / 'names'}", str(part)])
    run(["objcopy", f"--redefine-syms={folder / 'renamed'}", str(part)])
    words = ["gcc", *link, str(part), str(folder / "driver.o"), str(folder / "runtime.o"), *settings.linked]
    words += ["-Wl,--allow-multiple-definition", "-fopenmp", "-lm", "-o", str(program)]
    stubs, missing = folder / "stubs.c", set[str]()
    linked = False
    while not linked:
        stubs.write_text("".join(f"char {name}[65536];\n" for name in sorted(missing)))
        try:
            run([*words, str(stubs), "-w"])
            linked = True
        except Failed as reason:
            more = set(re.findall(r"undefined reference to `(\w+)'", str(reason))) - missing
            if not more:
                raise
            missing |= more
    found: dict[tuple[int, int], str] = {}
    for line in run([str(program), "10" if build == "polyc" else "1"], ASAN_OPTIONS="detect_leaks=0").splitlines():
        function, trial, value = line.split()
        found[int(function), int(trial)] = value
    return found


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.peers.calls", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("-I", "--include", dest="include", action="append", default=[], metavar="DIR")
    parser.add_argument("-D", "--define", dest="define", action="append", default=[], metavar="NAME")
    parser.add_argument("--mode", choices=("compile", "cc"), default="compile")
    parser.add_argument("--flags", default="", help="words for the compiler")
    parser.add_argument("--options", default="", help="words for polyc compile")
    parser.add_argument("--with", dest="linked", action="append", default=[], metavar="FILE", help="link with it")
    parser.add_argument("--keep", type=Path, help="leave the programs in this folder")
    given = parser.parse_args(words)
    options = InputOptions(
        include_dirs=tuple(given.include), defines=tuple(given.define), detect=True, allow_no_scop=True
    )
    settings = Settings(
        options, tuple(shlex.split(given.flags)), given.mode, tuple(given.linked), tuple(shlex.split(given.options))
    )
    bad = total = 0
    for file in given.files:
        with tempfile.TemporaryDirectory(prefix="polyc-calls-") as temporary:
            folder = given.keep or Path(temporary)
            folder.mkdir(exist_ok=True)
            try:
                lines, compared = differing(file, settings, folder)
            except (UserError, Failed, UnicodeError) as reason:
                print(f"{file}: not called: {' '.join(str(reason).split())[-300:]}", flush=True)
                continue
        bad += len(lines)
        total += compared
        print("\n".join([*lines, f"{file}: {compared} calls compared"]), flush=True)
    print(f"{total} calls compared, {bad} functions differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
