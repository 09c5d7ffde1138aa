"""What became of each loop nest of a region: tiled, fused, parallel, and why not."""

from __future__ import annotations

from collections.abc import Iterable

import islpy as isl

from polyc.analysis.loop_facts import Facts, is_fused, loop_facts, original_nests
from polyc.fallback import ALL, NOT_MAPPED
from polyc.model import relations as r
from polyc.model.program import Compiled, Program, Remark
from polyc.model.scop import Scop
from polyc.model.tree import Band, walk
from polyc.records import dataclass, field

GIVEN_UP = ("budget", "not-printed", "verification-failed", NOT_MAPPED)
LAST_STAGES = ("dependences", "verify", "text", "codegen")
"""Stages after which a program may be given up: what passes did is not in what was printed."""


@dataclass(frozen=True, slots=True)
class Part:
    """Statements of a nest with the same fate."""

    statements: tuple[str, ...]
    group: int | None
    """Position in `Program.groups` of the group that they belong to, if any."""
    inside: int | None
    """Position of the group in whose tiles they run as producers."""
    tiled: bool
    parallel: bool
    vector: bool


@dataclass(frozen=True, slots=True)
class Nest:
    """An outermost loop of the original program with all that is in it."""

    line: int
    statements: tuple[str, ...]
    parts: tuple[Part, ...]
    fused: bool
    """A group holds statements of this nest and of another one."""

    @property
    def tiled(self) -> bool:
        return any(part.tiled for part in self.parts)

    @property
    def parallel(self) -> bool:
        return any(part.parallel for part in self.parts)


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something was not done."""

    code: str
    message: str


def nests(compiled: Compiled) -> list[Nest]:
    """The nests of a region in source order."""
    program = compiled.program
    facts = loop_facts(program)
    answer = []
    for line, names in original_nests(program.scop):
        fused = is_fused(program, names, set(compiled.initial.scop.statements))
        answer.append(Nest(line, names, parts_of(names, program, facts), fused))
    return answer


def parts_of(names: tuple[str, ...], program: Program, facts: dict[str, Facts]) -> tuple[Part, ...]:
    """Split the statements of a nest where their fates differ, in source order."""
    found: dict[tuple[object, ...], list[str]] = {}
    for name in names:
        fact = facts.get(name, Facts())
        key = (*homes(name, program), fact.tiled, fact.parallel, fact.vector)
        found.setdefault(key, []).append(name)
    return tuple(Part(tuple(members), *key) for key, members in found.items())  # type: ignore[arg-type]


def homes(name: str, program: Program) -> tuple[int | None, int | None]:
    """The group that a statement belongs to, and the one in whose tiles it runs."""
    own = [k for k, g in enumerate(program.groups) if name not in g.fused and name in (*g.statements, *g.outputs)]
    inside = [k for k, g in enumerate(program.groups) if name in g.fused]
    return (own[0] if own else None), (inside[0] if inside else None)


def labelled_nests(scop: Scop) -> list[tuple[int, tuple[str, ...]]]:
    """The same with the line of the outermost loop: with the function's name, the label of a nest, `conv:18`."""
    first: dict[str, int] = {}
    for node in walk(scop.tree.child):
        if isinstance(node, Band):
            for name in tuple_names(r.sets_of(node.members[0].schedule.domain())):
                first.setdefault(name, node.members[0].line)
    return [
        (min((first[name] for name in names if first.get(name)), default=line), names)
        for line, names in original_nests(scop)
    ]


def label(scop: Scop, statement: str) -> str:
    """The label of the nest that a statement is in."""
    lines = [line for line, names in labelled_nests(scop) if statement in names]
    return f"{scop.function}:{lines[0] if lines else scop.statements[statement].span.line}"


def tuple_names(pieces: Iterable[isl.Set]) -> set[str]:
    return {r.tuple_name(piece, r.SET) for piece in pieces}


def is_taken_back(remark: Remark, what: str, statements: tuple[str, ...]) -> bool:
    """Whether a remark says that the passes were left out that would have, or had, `tiled`, `fused` or made `parallel`
    one of some statements."""
    if remark.code not in GIVEN_UP or remark.stage not in LAST_STAGES:
        return False
    whole = remark.stage == "dependences" or remark.data.get("left_out") == ALL
    lost = remark.data.get("lost", {}).get(what, ())
    return bool(set(lost) & set(statements)) or (whole and what != "fused")


@dataclass(slots=True)
class Reasons:
    """Answers why statements are not tiled, fused or parallel: a pass's remark, or what the tree shows."""

    program: Program
    facts: dict[str, Facts] = field(init=False)

    def __post_init__(self) -> None:
        self.facts = loop_facts(self.program)

    def why_not(self, what: str, statements: tuple[str, ...]) -> Reason | None:
        if what == "tiled" and self.program.options.tile_sizes is None:
            return Reason("tiling-off", "--tile-sizes none")
        if what == "parallel" and self.program.options.target == "c":
            return Reason("target-c", self.program.options.one_thread or "--target c prints no parallel loops")
        wishes = [self.program.scop.wishes[name] for name in statements if name in self.program.scop.wishes]
        if what == "parallel" and any(not wish.parallel for wish in wishes):
            return Reason("asked", "parallel(no) asks for that")
        given_up = [m for m in self.program.remarks if is_taken_back(m, what, statements)]
        told = [m for m in self.program.remarks if m.code == f"not-{what}" and set(m.statements) & set(statements)]
        if given_up or told:
            told = given_up or told
            return Reason(str(told[-1].data.get("reason", told[-1].code)), told[-1].message)
        found = [self.facts[name] for name in statements if name in self.facts]
        if not found or not any(fact.loops for fact in found):
            return None
        if what == "tiled":
            codes = {m.code for m in self.program.remarks if set(m.statements) & set(statements)}
            if "straightened" in codes:
                return Reason("straightened", "its order was chosen for consecutive memory, and has no tiles")
            if "coalesced" in codes:
                return Reason("coalesced", "several of its loops share an index")
            if "reduction" in codes and self.program.options.gpu:
                return Reason("reduction", "all threads of a block combine what goes into one result")
            return self.not_tiled(found)
        if what != "parallel":
            return None
        small = {s for m in self.program.remarks if m.code == "small-region" for s in m.statements}
        if small & set(statements):
            return Reason("small-region", "threads would take longer to start than they save")
        scatters = [m for m in self.program.remarks if m.code == "sequential-scatter"]
        for remark in scatters:
            if set(remark.statements) & set(statements):
                return Reason(remark.code, remark.message)
        return self.not_parallel(found)

    def not_tiled(self, found: list[Facts]) -> Reason | None:
        if max(fact.widest_band for fact in found) < 2:
            return Reason("no-band", "no two of its loops can be interchanged")
        if not any(fact.parallel for fact in found):
            return Reason("carried-dependence", "each of its loops carries a dependence")
        return None

    def not_parallel(self, found: list[Facts]) -> Reason | None:
        if any(fact.vector for fact in found):
            return Reason("vector-only", "only its innermost loop carries no dependence; it runs in vectors")
        return Reason("carried-dependence", "each of its loops carries a dependence")
