"""What tensor cores run: whole fragments, by whole warps, where the user permits it.

A mark `mma` says that the 32 threads of a warp run all instances below it together, a fragment at a time: 16 x 8 sums
of k products each. The hardware does this if what it multiplies has the form of a matrix product.
math: below the mark let p be the values of all loops around a fragment: those above the mark without the lanes, and
      those below that count fragments. With the lane (g, t), the digits h, r of the sums that a lane has, and k:
      i = 8 h + g, j = 2 t + r, and
        (1) (p, i, j, k) is a one-to-one function of the instances, and for each p that occurs all of
            0 <= i < 16, 0 <= j < 8, 0 <= k < depth occur: nobody is missing in a warp, and nothing is added that no
            instance asks for;
        (2) one operand's cell is a function of (p, i, k), the other's of (p, j, k), that of the sum of (p, i, j);
        (3) the statement is `X += a * b` of these three and nothing else, X in registers (`padding.py` shows which), a
            and b in shared memory, that nobody writes below the mark;
        (4) the user permits what it does to the values.
      What it adds is then, for each sum, the products of its instances. Warps are whole: `mapped.py` shows that blocks
      have rows of 32 lanes.
Sums whose length is no multiple of a fragment's depth run some instances outside of their domain (`neutral`):
        (5) where these add to a sum that an instance of the domain reads, both factors come from cells that a copy
            filled with zero before, and into which no instance of a domain writes.
"""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from polyc.analysis.expand import Expanded, expand
from polyc.analysis.order import Run
from polyc.model.fault import Fault
from polyc.model.fragments import FRAGMENTS, TF32, Fragment, factors
from polyc.model.program import Program
from polyc.model.scop import Access, AccessKind
from polyc.model.tree import WARP_AXES, Mark, Member, Role, walk
from polyc.poly import empty_set, out_name, sets
from polyc.verify.flow.filled import Made, filled

KIND = "fragments"
Accesses = tuple[tuple[Access, isl.Map], ...]


def fragment_faults(program: Program) -> list[Fault]:
    """What is wrong with what tensor cores run; `program` with all that its tiles run outside of the domains."""
    if not any(isinstance(node, Mark) and node.kind == "mma" for node in walk(program.tree.child)):
        return []
    faults: list[Fault] = []
    for run, accesses in expand(program).per_run:
        marks = [(m, k) for m, k in zip(run.path.marks, run.path.mark_steps, strict=True) if m.kind == "mma"]
        kernels = [m for m in run.path.marks if m.kind == "kernel"]
        if not marks or not kernels:
            continue
        if len(marks) > 1:
            faults.append(Fault(KIND, f"{run.statement} is in {len(marks)} fragments", ""))
            continue
        faults += _form_faults(program, run, *marks[0], accesses)
    return faults


def _form_faults(program: Program, run: Run, mark: Mark, start: int, accesses: Accesses) -> Iterator[Fault]:
    name, fragment = run.statement, FRAGMENTS.get(mark.text)
    if fragment is None or mark.sizes != fragment.sizes:
        yield Fault(KIND, f"{name} is multiplied in fragments that no tensor core has", mark.text)
        return
    if not _permitted(program, name, fragment):
        yield Fault(KIND, f"{name} runs on tensor cores, which nobody permitted", "")
    if program.padded.get(name, "free") not in ("free", "neutral"):
        yield Fault(KIND, f"a part of the fragments of {name} is left out", "")
    found = _place(run, start)
    if found is None:
        yield Fault(KIND, f"{name} has not the lanes and loops of a fragment", "")
        return
    place, count = found
    there = place.range()
    box = " and ".join(f"0 <= {v} < {e}" for v, e in zip("ijk", fragment.sizes, strict=True))
    outer = "".join(f"p{k}, " for k in range(count))
    whole = isl.Set.read_from_str(there.get_ctx(), f"{{ [{outer}i, j, k] : {box} }}")
    every = there.project_out(isl.dim_type.set, count, 3).add_dims(isl.dim_type.set, 3).intersect(whole)
    if not place.is_injective() or not every.is_equal(there):
        yield Fault(KIND, f"{name} runs a part of a fragment", str(every.subtract(there).sample_point()))
    yield from _operand_faults(program, run, mark, accesses, place, count)


def _permitted(program: Program, name: str, fragment: Fragment) -> bool:
    """Rounded floats, or halves that are added up as floats; both in another order."""
    statement, arrays, options = program.statements[name], program.scop.arrays, program.options
    refs = {r.ref for r in factors(statement.body) or ()}
    operands = {arrays[a.array].element for a in statement.accesses if a.ref in refs}
    sums = {arrays[a.array].element.text for a in statement.accesses if a.ref not in refs}
    if fragment is TF32:
        return options.allow_tf32 and {one.text for one in operands} == sums == {"float"}
    halves = all(one.kind == "float" and one.size_bytes == 2 for one in operands)
    return (options.allow_tf32 or options.reassociate) and halves and sums == {"float"}


def _place(run: Run, start: int) -> tuple[isl.Map, int] | None:
    """`{ instance -> [p, i, j, k] }` and how many p there are."""
    lanes: dict[str, isl.Map] = {}
    around: list[isl.Map] = []
    for position, (column, step) in enumerate(zip(run.columns, run.path.steps, strict=True)):
        role = ""
        if position >= start:
            if not isinstance(step, Member) or step.role is not Role.REGISTER or step.mapped:
                return None
            role = {None: "k", (0, 1): "h", (1, 1): "r"}.get(step.digit, "")
        elif isinstance(step, Member) and step.mapped in WARP_AXES[2:]:
            role = "gt"[WARP_AXES[2:].index(step.mapped)]
        if not role:
            around.append(column)
        elif role in lanes:
            return None
        else:
            lanes[role] = column
    if set(lanes) != set("ghrtk"):
        return None
    parts = [*around, *(lanes[v] for v in "ghrtk")]
    place = parts[0]
    for part in parts[1:]:
        place = place.flat_range_product(part)
    names = [f"p{k}" for k in range(len(around))]
    outer = "".join(f"{n}, " for n in names)
    text = f"{{ [{outer}g, h, r, t, k] -> [{outer}8 h + g, 2 t + r, k] }}"
    place = place.apply_range(isl.Map.read_from_str(place.get_ctx(), text))
    return place.intersect_domain(run.instances), len(around)


def _operand_faults(
    program: Program, run: Run, mark: Mark, accesses: Accesses, place: isl.Map, count: int
) -> Iterator[Fault]:
    """(2) and (3)."""
    name = run.statement
    refs = factors(program.statements[name].body)
    written = [(a, m) for a, m in accesses if a.kind is not AccessKind.READ]
    reads = {a.ref: (a, m) for a, m in accesses if a.kind is AccessKind.READ}
    two = mark.names[1:]
    known = refs is not None and len(two) == 2 and {r.ref for r in refs} == set(two) and mark.names[0] == name
    if not known or len(written) != 1 or any(ref not in reads for ref in two):
        yield Fault(KIND, f"{name} is no sum of products", "")
        return
    sums, relation = written[0]
    others = [(a, m) for a, m in accesses if a.kind is AccessKind.READ and a.ref not in two]
    if any(a.array != sums.array or not m.is_equal(relation) for a, m in others):
        yield Fault(KIND, f"{name} reads more than its factors", "")
    storages = [("register", relation), *(("tile", reads[ref][1]) for ref in two)]
    # Which of i, j, k a cell has nothing to do with.
    for (storage, cells), left_out in zip(storages, (2, 1, 0), strict=True):
        buffer = program.buffers.get(out_name(cells))
        if buffer is None or buffer.storage != storage:
            yield Fault(KIND, f"{name} multiplies what is not in {storage} memory", out_name(cells))
        function = place.reverse().apply_range(cells).project_out(isl.dim_type.in_, count + left_out, 1)
        if not function.is_single_valued():
            yield Fault(KIND, f"{name} is no product of rows and columns", out_name(cells))


# --- products of zeros -----------------------------------------------------------------------------------------------


def neutral_instances(program: Program, whole: Expanded) -> isl.UnionSet:
    """What `neutral` statements run."""
    found = empty_set(program.scop.domain)
    for run in whole.runs:
        if program.padded.get(run.statement) == "neutral":
            found = found.union(isl.UnionSet.from_set(run.instances))
    return found


def neutral_faults(program: Program, whole: Expanded, inside: Expanded, outside: isl.UnionSet) -> Iterator[Fault]:
    """Check (5). `whole`, `inside`: the program with and without `outside`, what it runs outside of the domains."""
    for run, accesses in whole.per_run:
        if program.padded.get(run.statement) == "neutral":
            yield from _neutral_faults(program, whole, inside, outside, run, accesses)


def _neutral_faults(
    program: Program, whole: Expanded, inside: Expanded, outside: isl.UnionSet, run: Run, accesses: Accesses
) -> Iterator[Fault]:
    name, refs = run.statement, factors(program.statements[run.statement].body)
    written = [m for a, m in accesses if a.kind is not AccessKind.READ]
    if refs is None or len(written) != 1:
        yield Fault(KIND, f"{name} is no sum of products, and runs outside of its domain", "")
        return
    known = program.scop.known
    matter = isl.UnionMap.from_map(written[0]).intersect_range(inside.accesses.reads.range()).domain()
    for added in sets(isl.UnionSet.from_set(run.instances).intersect(outside).intersect(matter)):
        for ref in refs:
            (cells,) = [m for a, m in accesses if a.ref == ref.ref and a.kind is AccessKind.READ]
            cells = cells.intersect_domain(added.intersect_params(known))
            zeros: list[tuple[Run, isl.Map]] = []
            values = inside.accesses.writes.union(inside.accesses.may_writes).range()
            for other, theirs in whole.per_run:
                for a, m in theirs:
                    if a.kind is AccessKind.READ or out_name(m) != out_name(cells):
                        continue
                    if program.padded.get(other.statement) == "zero":
                        zero = isl.UnionMap.from_map(m).intersect_domain(outside)
                        zeros += [(other, isl.Map.from_union_map(zero))] if not zero.is_empty() else []
            filled_with = isl.UnionSet.from_set(cells.range())
            if not filled_with.intersect(values).is_empty() or not filled(run, cells, Made(zeros)):
                yield Fault(KIND, f"{name} adds what is not zero outside of its domain", str(added.sample_point()))
