"""One input of the fuzzer: a program and options, what polyc makes of them, and what is wrong with that."""

from __future__ import annotations

import ctypes
import gc
import re
import signal
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from polyc.cli.options import enough
from polyc.codegen import render_file
from polyc.errors import UserError
from polyc.frontend import read
from polyc.model.program import Compiled, InputOptions, Options
from polyc.model.tree import Band, Node, child_nodes
from polyc.pipeline import compile_region
from tests.fuzz import gpu
from tests.fuzz.builds import IN_TURN, usable
from tests.fuzz.choose import Chooser, RandomChooser
from tests.fuzz.crossing import EVERY, FUSIONS, draw_crossing
from tests.fuzz.draw import draw_options, draw_program
from tests.fuzz.emit import text_of
from tests.fuzz.layout import lay_out
from tests.fuzz.model import Program
from tests.fuzz.oracle import Pair, judge, leaves_rows
from tests.fuzz.traits import traits
from tests.limits import more_memory_at_most

LIMIT_SECONDS = 60
"""Of the processor, so that other work on the machine makes no hang."""
LIMIT_BYTES = 2 << 30
BUILDS = IN_TURN
GUARDS = ("where that does not hold: as it was written", "polyc_apart(", "__builtin_malloc")
"""Words of what polyc prints for a question at run time."""
NUMBERED = re.compile(r"\b[A-Za-z]+\d+\b|\b\d+\b")
"""Names that a program's statements, arrays and variables get."""
LINES = re.compile(r"^#line [^\n]*$", re.MULTILINE)
UNPROVED = ("verification-failed", "not-printed", "pass-failed")
"""Remarks that say that polyc was at fault, though it found it out itself."""


@dataclass(frozen=True, slots=True)
class Case:
    name: str
    program: Program
    options: Options
    inputs: InputOptions
    build: str

    def __repr__(self) -> str:
        return f"{self.name}, built for {self.build}"


@dataclass(slots=True)
class Outcome:
    """What came of a case; goes from a worker to the summary."""

    name: str
    faults: list[tuple[str, str]] = field(default_factory=list)
    seconds: float = 0.0
    peak_bytes: int = 0
    regions: int = 0
    remarks: Counter[str] = field(default_factory=Counter)
    features: Counter[str] = field(default_factory=Counter)
    """What the program is, and what polyc did to it."""


FRESH = 10_000
"""The first of the seeds of long runs."""


def drawn_case(
    chooser: Chooser, name: str, build: str, draw: Callable[[Chooser, bool], Program] = draw_program, wide: bool = False
) -> Case:
    program = draw(chooser, wide)
    return Case(name, called_once(program), *draw_options(chooser, program), build)


def called_once(program: Program) -> Program:
    """The program with one call of its region, where something is promised not to be needed afterwards: the next call
    would read it, so that the promise is wrong."""
    promised = program.live_out
    if promised is None:
        return program
    program = replace(program, runs=tuple(replace(run, calls=1) for run in program.runs))
    kept = all(a.kind != "static" or a.name in promised for a in program.arrays)
    return program if kept else replace(program, runs=program.runs[:1])


def numbered_case(seed: int, number: int, batch: int, targets: str = "cpu") -> Case:
    """The case of a seed and number, always the same. For a GPU it is that of the CPU with another target.

    Seeds below FRESH are those of the tests: what is drawn only since then is drawn for others.
    """
    wide = seed >= FRESH
    name, build = f"{seed}:{number}", build_of(number // batch, targets)
    turn, place = divmod(number, EVERY)
    if place < EVERY - 1:
        return as_built(drawn_case(RandomChooser(name), name, "", wide=wide), build)
    case = drawn_case(RandomChooser(name), name, "", draw_crossing, wide)
    return as_built(replace(case, options=replace(case.options, fuse=FUSIONS[turn % len(FUSIONS)])), build)


def build_of(batch: int, targets: str = "cpu") -> str:
    return gpu.build_of(batch, BUILDS[batch % len(BUILDS)], targets)


def as_built(case: Case, build: str) -> Case:
    """The case in a batch that is built so; one for a GPU has its target."""
    program = case.program
    if "address" in build and leaves_rows(program):  # C forbids it, and the sanitizers say so
        program = replace(program, runs=program.runs[:1])
    return replace(case, program=program, build=build, options=gpu.options_of(case.options, build))


def source_text(case: Case, function: str = "kernel") -> str:
    return text_of(case.program, lay_out(case.program), function)


def inputs_of(case: Case) -> InputOptions:
    live_out = case.program.live_out if case.program.by_option else None
    return replace(case.inputs, live_out=live_out)


def command(case: Case) -> str:
    """The command line that compiles the case."""
    options, words = case.options, ["polyc compile" + " --detect" * case.inputs.detect]
    words.append(f"--target {options.target} --fuse {options.fuse}")
    sizes = options.tile_sizes
    words.append(f"--tile-sizes {','.join(map(str, sizes)) if isinstance(sizes, tuple) else sizes or 'none'}")
    if options.threads != Options().threads:
        words.append(f"--threads {options.threads}")
    if options.max_recompute is not None:
        words.append(f"--max-recompute {options.max_recompute:g}")
    if options.reassociate:
        words.append("--reassociate")
    if options.strips:
        words.append(f"--strips {options.strips}")
    if options.machine != Options().machine:
        words.append(f"--machine {options.machine}")
    if options.budget != Options().budget:
        words.append(f"--budget {options.budget}")
    words += [f"--param {name}={value}" for name, value in case.inputs.params]
    words += [f"--assume '{condition}'" for condition in case.inputs.assume]
    if case.program.by_option and case.program.live_out:
        words.append(f"--live-out {','.join(case.program.live_out)}")
    return " ".join(words)


def check(cases: list[Case], folder: Path, tell: Callable[[int], None] = lambda number: None) -> list[Outcome]:
    """Compile all, build and run all results together. `tell` hears which case comes next."""
    outcomes, pairs = {}, []
    for number, case in enumerate(cases):
        tell(number)
        outcome = outcomes[number] = Outcome(case.name)
        # Kernels have the function's name, and all kernels of a batch are one text.
        function = f"kernel{number}" if case.options.gpu else "kernel"
        result = compiled(case, folder, outcome, function)
        if result is not None:
            original = source_text(case, function)
            pairs.append(Pair(number, case.program, lay_out(case.program), original, result[0], function, result[1]))
    if pairs:
        for number, verdict in judge(pairs, cases[0].build, folder).items():
            outcomes[number].faults += verdict.faults
            outcomes[number].features["finite values"] += verdict.finite
            outcomes[number].features["left out: the C compiler has a bug"] += verdict.of_compiler
    for outcome in outcomes.values():
        outcome.faults.sort(key=lambda fault: fault[0] in UNPROVED)  # what polyc did not see comes first
    return list(outcomes.values())


def compiled(
    case: Case, folder: Path, outcome: Outcome, function: str
) -> tuple[str, tuple[tuple[str, ...], ...]] | None:
    """The text that polyc prints, and that of kernels; what goes wrong is noted in the outcome."""
    file = folder / "case.c"
    included = case.program.included and not case.options.gpu
    (folder / "case.inc" if included else file).write_text(source_text(case, function))
    if included:
        file.write_text('#include "case.inc"\n')
    reset_peak()
    start = time.process_time()
    try:
        with limited():
            given = replace(inputs_of(case), budget=enough(case.options.budget), expands=included)
            source = read(str(file), given)
            regions = [compile_region(region, case.options) for region in source.regions]
            text = render_file(source, regions)
            if included:  # messages are told apart by the names of files
                text = LINES.sub("", text)
    except UserError as error:
        outcome.faults.append(("refused", "; ".join(d.message for d in error.diagnostics)))
        return None
    except Exception:
        outcome.faults.append(("internal-error", traceback.format_exc()))
        return None
    finally:
        outcome.seconds = time.process_time() - start
        outcome.peak_bytes = peak_bytes()
    if outcome.peak_bytes > LIMIT_BYTES:
        outcome.faults.append(("memory", f"{outcome.peak_bytes >> 20} MiB"))
    for region in regions:
        remarks = [remark_name(r.code, r.stage, r.message) for r in region.program.remarks]
        outcome.remarks.update(remarks)
        outcome.faults += [(name.partition(":")[0], name) for name in remarks if name.startswith(UNPROVED)]
        outcome.features.update(features(region))
    outcome.regions = len(regions)
    outcome.features.update([f"{r} on a GPU" for r in kernel_features(regions) if case.options.gpu])
    outcome.features.update([f"built for {case.build}", f"fuse {case.options.fuse}"])
    outcome.features.update(traits(case.program))
    outcome.features.update(word for word in GUARDS if word in text)
    if left_out := usable(case.build).left_out:
        outcome.features[f"left out: {left_out}"] += 1
    return text, tuple(region.device for region in regions if region.device)


def kernel_features(regions: list[Compiled]) -> list[str]:
    return ["regions" if region.device else "regions not" for region in regions]


def remark_name(code: str, stage: str, message: str) -> str:
    if code in ("budget", "schedule-budget"):
        return f"{code} ({stage})"
    if code in (*UNPROVED, "text-not-checked"):
        return f"{code}: {NUMBERED.sub('X', message)}"
    return code


def features(region: Compiled) -> list[str]:
    """What became of a region."""
    program = region.program
    found = [f"verified {region.verified}"]
    if any(group.fused for group in program.groups):
        found.append("fused into tiles")
    if any(group.tile_sizes for group in program.groups):
        found.append("tiled")
    if any(buffer.storage == "tile" for buffer in program.buffers.values()):
        found.append("tile buffers")
    if any(buffer.storage == "private" for buffer in program.buffers.values()):
        found.append("private copies")
    if any(buffer.window is not None for buffer in program.buffers.values()):
        found.append("circular buffers")
    if any(isinstance(node, Band) and any(m.lookups for m in node.members) for node in tree_nodes(program.tree.child)):
        found.append("lookups")
    if any(isinstance(node, Band) and any(m.parallel for m in node.members) for node in tree_nodes(program.tree.child)):
        found.append("parallel")
    return found


def tree_nodes(node: Node) -> Iterator[Node]:
    yield node
    for child in child_nodes(node):
        yield from tree_nodes(child)


_limit_seconds = LIMIT_SECONDS


def set_limit(seconds: int) -> None:
    """Processor seconds that a compile may take in this process; less than usual where a hang is being minimised."""
    global _limit_seconds
    _limit_seconds = seconds


@contextmanager
def limited() -> Iterator[None]:
    """End this process when polyc takes too long: isl's loops can only be ended so. Memory fails to be allocated."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, _limit_seconds)
    try:
        with more_memory_at_most(2 * LIMIT_BYTES):
            yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def reset_peak() -> None:
    """Give freed memory back, so that the peak is this compile's own."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")


def peak_bytes() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024
    return 0
