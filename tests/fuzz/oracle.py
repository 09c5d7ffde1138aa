"""gcc -O0 of the original against what polyc printed: many programs in one build, crashes told apart.

Three ways to build the result: `plain` with libgomp, `address` with AddressSanitizer and UBSan, `thread` with
ThreadSanitizer and the threads of `threads.c` in place of libgomp, whose locks ThreadSanitizer cannot see. Two more for
a GPU's targets: `cuda`, in the shim with all of its checks, and `opencl` (see gpu.py).
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from polyc.runtime.build import BuildError
from tests.fuzz import gpu
from tests.fuzz.emit import PURE, pair_tag
from tests.fuzz.layout import Layout, interval
from tests.fuzz.model import Array, Program, reads_after

FOLDER = Path(__file__).parent
COMMON = ("-std=c11", "-ffp-contract=off", "-g1")
WARNINGS = (
    *("-Wall", "-Wextra", "-Wno-unknown-pragmas", "-Wno-array-bounds", "-Wno-aggressive-loop-optimizations"),
    "-Wno-maybe-uninitialized",
)
"""gcc sees that a loop leaves an array of constant size for parameters with which the program is never run. And it
guesses that what loops with remainders write and read may not be written; whether it was, the values tell."""
ADDRESS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
BUILDS: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    # flags of the original, of the result, and of the linker
    "plain": (("-O0",), ("-O2", "-fopenmp"), ("-fopenmp",)),
    "address": (("-O0", *ADDRESS), ("-O1", "-fopenmp", *ADDRESS), ("-fopenmp", *ADDRESS)),
    "thread": (("-O0",), ("-O1", "-fopenmp", "-fsanitize=thread"), ("-fsanitize=thread", "-lpthread")),
    **dict.fromkeys(gpu.BUILDS, (("-O0",), ("-O2",), ())),
}
ENVIRONMENT = {
    "LC_ALL": "C",
    "OMP_NUM_THREADS": "3",
    "OMP_WAIT_POLICY": "passive",
    "OMP_STACKSIZE": "8M",
    "ASAN_OPTIONS": "detect_leaks=0",  # libgomp keeps its threads
    "TSAN_OPTIONS": "halt_on_error=1",
}
LETTERS = {
    "double": "d",
    "float": "f",
    "int": "i",
    "unsigned": "u",
    "short": "s",
    "unsigned char": "b",
    "long": "l",
}
LIMIT_SECONDS = 120


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


def judge(pairs: list[Pair], build: str, folder: Path) -> dict[int, Verdict]:
    """Build all pairs together, run them, and say what is wrong with each."""
    verdicts = {pair.number: Verdict() for pair in pairs}
    try:
        pairs = built(pairs, build, folder, verdicts)
        if pairs:
            run_all(pairs, build, folder, verdicts)
    except BuildError as error:
        # Kernels are built together: what is wrong with them is known of each alone.
        if len(pairs) > 1:
            return {pair.number: judge([pair], build, folder)[pair.number] for pair in pairs}
        verdicts[pairs[0].number].faults.append(("not-compilable", str(error)[:6000]))
    return verdicts


def built(pairs: list[Pair], build: str, folder: Path, verdicts: dict[int, Verdict]) -> list[Pair]:
    """Compile and link; pairs that do not compile get a fault and are left out. Raises BuildError for kernels."""
    before, after, linker = BUILDS[build]
    while pairs:
        (folder / "original.c").write_text("".join(unit(pair, "original") for pair in pairs))
        (folder / "result.c").write_text("".join(unit(pair, "result") for pair in pairs))
        (folder / "table.c").write_text(table(pairs))
        first = gcc(folder, *before, *COMMON, *WARNINGS, "-c", "original.c")
        second = gcc(folder, *after, *COMMON, *WARNINGS, "-c", "result.c")
        broken = errors(first, "generator-invalid", verdicts) | errors(second, "not-compilable", verdicts)
        if not broken:
            break
        pairs = [pair for pair in pairs if pair.number not in broken]
    if not pairs:
        return []
    known = {(number, family(flag)) for number, flag, _ in warnings(first)}
    for number, flag, line in warnings(second):
        if (number, family(flag)) not in known and not original_warns(pairs, number, flag, after, folder):
            verdicts[number].faults.append(("warning", f"{flag}: {line}"))
            known.add((number, family(flag)))
    threads: list[str | Path] = [FOLDER / "threads.c"] if build == "thread" else []
    if build in gpu.BUILDS:
        texts = [kernels for pair in pairs for kernels in pair.kernels]
        gpu.link(build, texts, ["table.c", str(FOLDER / "driver.c")], gcc, folder)
        return pairs
    sources: list[str | Path] = ["table.c", FOLDER / "driver.c", *threads]
    done = gcc(folder, "-O1", f"-I{FOLDER}", *sources, "original.o", "result.o", *linker, "-lm", "-o", "batch")
    if done.returncode:
        raise RuntimeError(f"the batch cannot be linked: {done.stderr[-3000:]}")
    return pairs


def gcc(folder: Path, *flags: str | Path) -> subprocess.CompletedProcess[str]:
    command = ["gcc", *map(str, flags)]
    return subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=LIMIT_SECONDS,
        env={**os.environ, **ENVIRONMENT},
    )


def errors(done: subprocess.CompletedProcess[str], kind: str, verdicts: dict[int, Verdict]) -> set[int]:
    if done.returncode == 0:
        return set()
    found: dict[int, str] = {}
    for line in done.stderr.splitlines():
        match = re.match(r"p(\d+)\.c:\d+.* error: (.*)", line)
        if match:
            found.setdefault(int(match[1]), match[2])
    if not found:
        raise RuntimeError(f"gcc failed: {done.stderr[-3000:]}")
    for number, message in found.items():
        verdicts[number].faults.append((kind, message))
    return set(found)


def warnings(done: subprocess.CompletedProcess[str]) -> list[tuple[int, str, str]]:
    """Program, flag, and the line."""
    pattern = re.compile(r"p(\d+)\.c:\d+.* warning: (.*) \[(-W[^\]]*)\]")
    return [(int(m[1]), m[3], m[2]) for line in done.stderr.splitlines() if (m := pattern.match(line))]


def family(flag: str) -> str:
    """A variable that is unused may become one that is set and not used."""
    return "-Wunused" if flag.startswith("-Wunused") else flag


def original_warns(pairs: list[Pair], number: int, flag: str, flags: tuple[str, ...], folder: Path) -> bool:
    """Whether the original gets the warning as well where it is built as the result is.

    Its macros are tried expanded too: so polyc prints what it leaves as it was written, and gcc says less of macros.
    """
    pair = next(pair for pair in pairs if pair.number == number)
    (folder / "again.c").write_text(unit(pair, "original"))
    done = gcc(folder, *flags, *COMMON, *WARNINGS, "-c", "again.c")
    gcc(folder, "-E", "again.c", "-o", "again.i")
    expanded = gcc(folder, *flags, *COMMON, *WARNINGS, "-c", "again.i")
    return any(family(found) == family(flag) for _, found, _ in (*warnings(done), *warnings(expanded)))


def unit(pair: Pair, role: str) -> str:
    """One form of a program with names of its own, and a function that calls it."""
    program = pair.program
    names = [pair.function, *PURE, *(array.name for array in program.arrays if array.kind == "global")]
    names += {pair_tag(array.type) for array in program.arrays if array.pair}
    prefix = f"p{pair.number}_{role}"
    head = "#include <math.h>\n#include <stdlib.h>\n#include <string.h>\n"
    head += "".join(f"#define {name} {prefix}_{name}\n" for name in names)
    text = pair.original if role == "original" else pair.result
    foot = "".join(f"#undef {name}\n" for name in (*names, *(("MIN", "MAX") if program.macro else ())))
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


def table(pairs: list[Pair]) -> str:
    """The driver's description of a batch."""
    text, rows = '#include "driver.h"\n', []
    for pair in pairs:
        program, name = pair.program, f"p{pair.number}"
        arrays = visible(program)
        counts = [c for run in program.runs for c in run_counts(pair, dict(run))]
        values = [value for run in program.runs for _, value in run]
        letters = "".join("x" if array.index else LETTERS[array.type] for array in arrays)
        compared = [program.live_out is None or array.name in program.live_out for array in arrays]
        names = [array.name for array in arrays]
        if reads_after(program):
            letters, compared, names = letters + "d", [*compared, True], [*names, "after"]
        quoted = ", ".join(f'"{word}"' for word in names) or "0"
        text += (
            f"static const long {name}_values[] = {{ {numbers(values)} }};\n"
            f"static const long {name}_counts[] = {{ {numbers(counts)} }};\n"
            f"static const char {name}_compared[] = {{ {numbers([int(c) for c in compared])} }};\n"
            f"static const char *const {name}_names[] = {{ {quoted} }};\n"
            f"void {name}_original_call(const long *, void **);\nvoid {name}_result_call(const long *, void **);\n"
        )
        rows.append(
            f"    {{ {pair.number}, {len(program.types)}, {len(names)}, {len(program.runs)}, {name}_values, "
            f'{name}_counts, "{letters}", {name}_compared, {name}_names, {name}_original_call, {name}_result_call }},\n'
        )
    return f"{text}const struct program programs[] = {{\n{''.join(rows)}}};\nconst int program_count = {len(rows)};\n"


def numbers(values: list[int]) -> str:
    return ", ".join(map(str, values)) or "0"


def run_counts(pair: Pair, run: dict[str, int]) -> list[int]:
    """Elements of each visible array at the sizes of a run."""
    ranges = {name: (value, value) for name, value in run.items()}
    found = []
    for array in visible(pair.program):
        count = 1
        for extent in pair.layout.extents[array.name]:
            count *= interval(extent, ranges)[1]
        found.append(count * 2 if array.pair else count)
    return [*found, 1] if reads_after(pair.program) else found


def run_all(pairs: list[Pair], build: str, folder: Path, verdicts: dict[int, Verdict]) -> None:
    """Run the batch; where a program ends it, go on with the next one. Raises BuildError for OpenCL's kernels."""
    added = gpu.environment(build, folder)
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
        found = gpu.told(build, folder, done.stderr) if build in gpu.BUILDS and kind == "crash" else None
        verdicts[number].faults.append(found or (kind, done.stderr[:6000] or f"exit status {done.returncode}"))
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


def ended(done: subprocess.CompletedProcess[str]) -> str:
    """The kind of a fault that ended the result's run."""
    if "ThreadSanitizer" in done.stderr:
        return "data-race" if "data race" in done.stderr else "thread-sanitizer"
    if "AddressSanitizer" in done.stderr:
        return "address-sanitizer"
    if "runtime error" in done.stderr:
        return "undefined-behaviour"
    return "hang" if done.returncode == -14 else "crash"
