"""gcc -O0 of the original against what polyc printed: many programs in one build, crashes told apart.

The result is built with gcc -O2 and OpenMP, and once more in one of the ways of BUILDS, in turn: with clang, with
AddressSanitizer and UBSan of either compiler, with ThreadSanitizer and the threads of `threads.c` in place of libgomp,
whose locks ThreadSanitizer cannot see. Two more ways are for a GPU's targets, and stand alone: `cuda`, in the shim with
all of its checks, and `opencl` (see gpu.py).
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass, field, replace
from pathlib import Path

from polyc.runtime.process.build import BuildError
from tests.fuzz import gpu, helpers
from tests.fuzz.builds import ENVIRONMENT, UNHEARD, Build, Compiler, compiler, usable
from tests.fuzz.emit import pair_tag, view_tag
from tests.fuzz.layout import Layout
from tests.fuzz.model import Array, Program, reads_after
from tests.fuzz.places import homes

FOLDER = Path(__file__).parent
Told = subprocess.CompletedProcess[str]
LETTERS = {
    "double": "d",
    "float": "f",
    "int": "i",
    "unsigned": "u",
    "short": "s",
    "unsigned char": "b",
    "long": "l",
}


@dataclass(frozen=True, slots=True)
class Pair:
    """A program, and what polyc made of its text."""

    number: int
    program: Program
    layout: Layout
    original: str
    result: str
    function: str = "kernel"
    kernels: tuple[tuple[str, ...], ...] = ()
    """The text for a GPU of each region that has some."""


@dataclass(slots=True)
class Verdict:
    """What is wrong with one program; nothing, if there are no faults."""

    faults: list[tuple[str, str]] = field(default_factory=list)
    """Kind and detail."""
    finite: bool = True
    of_compiler: bool = False
    """Whether the original, built as the result is, gives the values that are wrong: the C compiler has a bug."""


def judge(pairs: list[Pair], name: str, folder: Path) -> dict[int, Verdict]:
    """Build all pairs together, run them, and say what is wrong with each, and is not the C compiler's."""
    verdicts = differences(pairs, name, folder)
    for pair in pairs:
        verdict = verdicts[pair.number]
        wrong = wrong_values(verdict)
        if wrong and not pair.kernels:
            twin = replace(pair, result=pair.original)
            if wrong_values(differences([twin], name, folder)[pair.number]) == wrong:
                verdict.of_compiler = True
                verdict.faults = [fault for fault in verdict.faults if fault not in wrong]
    return verdicts


def wrong_values(verdict: Verdict) -> list[tuple[str, str]]:
    return [fault for fault in verdict.faults if fault[0] == "wrong-result"]


def differences(pairs: list[Pair], name: str, folder: Path) -> dict[int, Verdict]:
    """What the built and run pairs show."""
    verdicts = {pair.number: Verdict() for pair in pairs}
    build = usable(name)
    try:
        pairs = built(pairs, build, folder, verdicts)
        if pairs:
            run_all(pairs, build, folder, verdicts)
    except BuildError as error:
        # Kernels are built together: what is wrong with them is known of each alone.
        if len(pairs) > 1:
            return {pair.number: differences([pair], name, folder)[pair.number] for pair in pairs}
        verdicts[pairs[0].number].faults.append(("not-compilable", str(error)[:6000]))
    return verdicts


def built(pairs: list[Pair], build: Build, folder: Path, verdicts: dict[int, Verdict]) -> list[Pair]:
    """Compile and link; pairs that do not compile get a fault and are left out. Raises BuildError for kernels."""
    roles = {"original": build.original, "result": build.result}
    if build.other is not None:
        roles["other"] = build.other
    if any(leaves_rows(pair.program) for pair in pairs):
        roles = {role: lenient(by) for role, by in roles.items()}
    while pairs:
        (folder / "table.c").write_text(table(pairs, len(roles) - 1))
        done: dict[str, Told] = {}
        broken: set[int] = set()
        for role, kind in zip(roles, ("generator-invalid", "not-compilable", "not-compilable"), strict=False):
            (folder / f"{role}.c").write_text("".join(unit(pair, role, build.name) for pair in pairs))
            done[role] = compiler(folder, roles[role], "-c", f"{role}.c")
            broken |= errors(done[role], kind, verdicts)
        if not broken:
            break
        pairs = [pair for pair in pairs if pair.number not in broken]
    if not pairs:
        return []
    known = {(number, family(flag)) for number, flag, _ in warnings(done["original"])}
    for role in list(roles)[1:]:
        for number, flag, line in warnings(done[role]):
            if (number, family(flag)) not in known and not original_warns(pairs, number, flag, roles[role], folder):
                verdicts[number].faults.append(("warning", f"{flag}: {line} ({roles[role].cc})"))
                known.add((number, family(flag)))
    if build.name in gpu.BUILDS:
        texts = [kernels for pair in pairs for kernels in pair.kernels]
        gpu.link(build.name, texts, ["table.c", str(FOLDER / "driver.c")], run_gcc, folder)
        return pairs
    sources: list[str | Path] = [
        "table.c",
        FOLDER / "driver.c",
        *([FOLDER / "threads.c"] if build.name == "thread" else []),
    ]
    objects: list[str] = [f"{role}.o" for role in roles]
    linked = replace(build.original, cc=build.linker[0], flags=("-O1",))
    told = compiler(folder, linked, f"-I{FOLDER}", *sources, *objects, *build.linker[1:], "-lm", "-o", "batch")
    if told.returncode:
        raise RuntimeError(f"the batch cannot be linked: {told.stderr[-3000:]}")
    return pairs


def leaves_rows(program: Program) -> bool:
    """Whether a run may reach from a row into the next one, which C forbids."""
    return any(array.narrow and array.nested for array in program.arrays)


def lenient(by: Compiler) -> Compiler:
    return replace(by, flags=(*by.flags, "-fno-aggressive-loop-optimizations")) if by.cc == "gcc" else by


def run_gcc(folder: Path, *flags: str | Path) -> Told:
    return compiler(folder, Compiler("gcc", ()), *flags)


def errors(done: Told, kind: str, verdicts: dict[int, Verdict]) -> set[int]:
    if done.returncode == 0:
        return set()
    found: dict[int, str] = {}
    for line in done.stderr.splitlines():
        match = re.match(r"p(\d+)\.c:\d+.* error: (.*)", line)
        if match:
            found.setdefault(int(match[1]), match[2])
    if not found:
        raise RuntimeError(f"the C compiler failed: {done.stderr[-3000:]}")
    for number, message in found.items():
        verdicts[number].faults.append((kind, message))
    return set(found)


def warnings(done: Told) -> list[tuple[int, str, str]]:
    """Program, flag, and the line."""
    pattern = re.compile(r"p(\d+)\.c:\d+.* warning: (.*) \[(-W[^\]]*)\]")
    found = [m for line in done.stderr.splitlines() if (m := pattern.match(line))]
    return [(int(m[1]), m[3], m[2]) for m in found if m[3] not in UNHEARD]


def family(flag: str) -> str:
    """A variable that is unused may become one that is set and not used."""
    return "-Wunused" if flag.startswith("-Wunused") else flag


def original_warns(pairs: list[Pair], number: int, flag: str, by: Compiler, folder: Path) -> bool:
    """Whether the original gets the warning as well where it is built as the result is.

    Its macros are tried expanded too: so polyc prints what it leaves as it was written. Compilers say less of macros.
    """
    pair = next(pair for pair in pairs if pair.number == number)
    (folder / "again.c").write_text(unit(pair, "original"))
    done = compiler(folder, by, "-c", "again.c")
    compiler(folder, by, "-E", "again.c", "-o", "again.i")
    expanded = compiler(folder, by, "-c", "again.i")
    return any(family(found) == family(flag) for _, found, _ in (*warnings(done), *warnings(expanded)))


def unit(pair: Pair, role: str, build: str = "") -> str:
    """One form of a program with names of its own, and a function that calls it."""
    program = pair.program
    names = [pair.function, *helpers.TEXTS, *(array.name for array in program.arrays if array.kind == "global")]
    names += {pair_tag(array.type) for array in program.arrays if array.pair}
    names += {view_tag(array.type) for array in program.arrays if program.views and array.flat}
    names += [f"{array.name}_length" for array in program.arrays if array.kind == "fresh"]
    names += [f"{pair.function}_by"] if program.called else []
    prefix = f"p{pair.number}_{role}"
    head = "#include <math.h>\n#include <stdlib.h>\n#include <string.h>\n"
    head += "".join(f"#define {name} {prefix}_{name}\n" for name in names)
    foot = "".join(f"#undef {name}\n" for name in (*names, *(("MIN", "MAX") if program.macro else ())))
    if role != "original" and build not in gpu.BUILDS:
        head += "void *fuzz_malloc(size_t);\n#define __builtin_malloc fuzz_malloc\n"
        foot += "#undef __builtin_malloc\n"
    text = pair.original if role == "original" else pair.result
    # Of a function that a macro names, gcc gives the place of the macro.
    return f'#line 1 "p{pair.number}.c"\n{head}#line 1 "p{pair.number}.c"\n{text}\n{caller(pair, prefix)}{foot}'


def caller(pair: Pair, prefix: str) -> str:
    program = pair.program
    before, after, arguments = "", "", []
    for position, (_, type_) in enumerate(program.types):
        arguments.append(f"({type_})values[{position}]")
    for position, array in enumerate(visible(program)):
        if array.kind == "argument":
            arguments.append(f"data[{position}]")
        elif array.kind == "global":
            name, size = f"{'&' if array.rank == 0 else ''}{array.name}", f"sizeof {array.name}"
            before += f"    memcpy({name}, data[{position}], {size});\n"
            after += f"    memcpy(data[{position}], {name}, {size});\n"
    if reads_after(program):
        arguments.append(f"data[{len(visible(program))}]")
    return (
        f"void {prefix}_call(const long *values, void **data);\n"
        f"void {prefix}_call(const long *values, void **data)\n{{\n    (void)values, (void)data;\n"
        f"{before}    {pair.function}({', '.join(arguments)});\n{after}}}\n"
    )


def visible(program: Program) -> list[Array]:
    """Arrays whose values come from outside the function."""
    return [array for array in program.arrays if array.kind in ("argument", "global")]


def table(pairs: list[Pair], results: int) -> str:
    """The driver's description of a batch."""
    text, rows = '#include "driver.h"\n', []
    for pair in pairs:
        program, name = pair.program, f"p{pair.number}"
        arrays = visible(program)
        counts = [run_counts(pair, run) for run in range(len(program.runs))]
        places = [run_places(pair, run) for run in range(len(program.runs))]
        longs = {
            "values": [value for run in program.runs for _, value in run.sizes],
            "counts": [count for run in counts for count in run],
            "homes": [home for run in places for home, _ in run],
            "starts": [start for run in places for _, start in run],
            "calls": [run.calls for run in program.runs],
            "starved": [int(run.starved) for run in program.runs],
        }
        letters = "".join("x" if array.index else LETTERS[array.type] for array in arrays)
        compared = [program.live_out is None or array.name in program.live_out for array in arrays]
        names = [array.name for array in arrays]
        if reads_after(program):
            letters, compared, names = letters + "d", [*compared, True], [*names, "after"]
        quoted = ", ".join(f'"{word}"' for word in names) or "0"
        text += "".join(
            f"static const long {name}_{what}[] = {{ {numbers(found)} }};\n" for what, found in longs.items()
        )
        # Of kernels there is one result.
        calls = [f"{name}_{role}_call" for role in ("original", "result", "other")[: 1 + results]]
        text += (
            f"static const char {name}_compared[] = {{ {numbers([int(c) for c in compared])} }};\n"
            f"static const char *const {name}_names[] = {{ {quoted} }};\n"
            + "".join(f"void {call}(const long *, void **);\n" for call in calls)
        )
        sizes = f"{pair.number}, {len(program.types)}, {len(names)}, {len(program.runs)}, {results}"
        rows.append(
            f"    {{ {sizes}, {', '.join(f'{name}_{what}' for what in longs)}, "
            f'"{letters}", {name}_compared, {name}_names, {calls[0]}, {{ {", ".join(calls[1:])} }} }},\n'
        )
    return f"{text}const struct program programs[] = {{\n{''.join(rows)}}};\nconst int program_count = {len(rows)};\n"


def numbers(values: list[int]) -> str:
    return ", ".join(map(str, values)) or "0"


def run_counts(pair: Pair, run: int) -> list[int]:
    """Numbers in each visible array at the sizes of a run."""
    found = [pair.layout.counts[a.name][run] * (2 if a.pair else 1) for a in visible(pair.program)]
    return [*found, 1] if reads_after(pair.program) else found


def run_places(pair: Pair, run: int) -> list[tuple[int, int]]:
    """The block of each visible array in a run, and its first element there."""
    arrays = visible(pair.program)
    found = homes(arrays, run_counts(pair, run)[: len(arrays)], pair.program.runs[run])
    return [*found, (len(arrays), 0)] if reads_after(pair.program) else found


def run_all(pairs: list[Pair], build: Build, folder: Path, verdicts: dict[int, Verdict]) -> None:
    """Run the batch; where a program ends it, go on with the next one. Raises BuildError for OpenCL's kernels."""
    added = gpu.environment(build.name, folder)
    position = 0
    while position < len(pairs):
        done = subprocess.run(
            ["./batch", str(position)],
            cwd=folder,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=60 * len(pairs) + gpu.LIMIT_SECONDS,
            env={**os.environ, **ENVIRONMENT, **added},
        )
        last = note(done.stdout, verdicts)
        if done.returncode == 0:
            return
        if last is None:
            raise RuntimeError(
                f"the batch ended with {done.returncode} before its first program: {done.stderr[-2000:]}"
            )
        role, number = last
        if "clBuildProgram" in done.stderr:
            raise BuildError(done.stderr)
        kind = "generator-fault" if role == "original" else ended(done)
        on_gpu = build.name in gpu.BUILDS and kind == "crash"
        found = gpu.told(build.name, folder, done.stderr) if on_gpu else None
        verdicts[number].faults.append(found or (kind, done.stderr[:6000] or f"{role}: exit status {done.returncode}"))
        position = next(k for k, pair in enumerate(pairs) if pair.number == number) + 1


def note(output: str, verdicts: dict[int, Verdict]) -> tuple[str, int] | None:
    """Write down what the driver said; answer what ran last."""
    last = None
    for line in output.splitlines():
        word, number, *rest = line.split(" ", 2)
        verdict = verdicts[int(number)]
        if word == "differs":
            verdict.faults.append(("wrong-result", rest[0]))
        elif word == "done":
            verdict.finite = rest[0].endswith("1")
        else:
            last = word, int(number)
    return last


def ended(done: Told) -> str:
    """The kind of a fault that ended the result's run."""
    if "ThreadSanitizer" in done.stderr:
        return "data-race" if "data race" in done.stderr else "thread-sanitizer"
    if "AddressSanitizer" in done.stderr:
        return "address-sanitizer"
    if "runtime error" in done.stderr:
        return "undefined-behaviour"
    return "hang" if done.returncode == -14 else "crash"
