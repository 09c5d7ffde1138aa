"""Which instances of the program the text runs: all of them, each once, and no others.

math: let t be an instance of the text, and g(t) the instance of the program's tree that its note claims: the
      statement's loop variables i, and below an extension node the tile o as well. With D the text's instances, and E
      the tree's,
        (1) { g(t) : t in D } = E,
        (2) t -> g(t) is injective.
      What the tree's steps are at g(t), the tree says; where the loops of the text are these, they stand for them.
"""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from polyc.analysis.expand import buffer_of
from polyc.analysis.expressions.reader import NotAffine, Reader, Value, agree, agree_plainly, substitution
from polyc.analysis.order import Run
from polyc.model.fault import Fault
from polyc.model.program import Program
from polyc.model.scop import AccessKind
from polyc.model.tree import Member, Step
from polyc.poly import affine_of, at_sizes, has_remainders, value_on
from polyc.records import dataclass
from polyc.reread.parts import NotComparable, Part, Refused


@dataclass(slots=True, eq=False)
class Image:
    """A part of the text as the tree's run that it claims to be."""

    part: Part
    run: Run
    domain: isl.Set
    """`[n] -> { [x0, x1, …] }`, the instances of the text."""
    instance: list[Value]
    """The statement's loop variables, then the values of inlined producers."""
    columns: list[int | Value]
    """For each step of the run's path: the position in a sequence, or the value of a band member."""

    @property
    def reader(self) -> Reader:
        """What reads expressions at the part's place."""
        return self.part.place.reader

    @property
    def loops(self) -> list[Value]:
        """The values of the band members, outermost first."""
        return [value for value in self.columns if not isinstance(value, int)]


def images_of(program: Program, every: Sequence[Run], parts: Sequence[Part]) -> list[Image]:
    """Each part with the run of the tree that it stands for, `every` of them. Raises NotComparable, Refused."""
    by_statement: dict[str, list[Run]] = {}
    for run in every:
        by_statement.setdefault(run.statement, []).append(run)
    found: list[Image] = []
    for part in parts:
        above = [member for member, _ in part.note.loops]
        same = [r for r in by_statement.get(part.statement, []) if _is_below(r, above)]
        if not same:
            raise Refused(f"{part.statement} stands below loops that the program does not have above it")
        images = [image_of(program, part, run) for run in same]
        if len(images) > 1:
            images = [image for image in images if _is_here(program, image)]
        if len(images) != 1:
            raise NotComparable(f"it is not known which step of the program the text of {part.statement} is")
        found += images
    return found


def _is_below(run: Run, members: list[Member]) -> bool:
    mine = [step for step in run.path.steps if isinstance(step, Member)]
    return len(mine) == len(members) and all(a is b for a, b in zip(mine, members, strict=True))


def _is_here(program: Program, image: Image) -> bool:
    """Whether the run has instances of the part."""
    known = program.scop.known
    text = _values_of(image, at_sizes(image.domain, known))
    return not text.is_disjoint(at_sizes(_tree_set(program, image.run), known))


def image_of(program: Program, part: Part, run: Run) -> Image:
    """A part as one run. Raises NotComparable."""
    reader = part.place.reader
    statement = program.statements[run.statement]
    try:
        claimed = [None if value is None else reader.value(value) for _, value in part.note.loops]
        instance = [reader.value(value) for value in part.note.instance]
    except NotAffine as what:
        raise NotComparable(f"an instance of {run.statement} is not affine ({what})") from None
    loops = instance[: len(statement.loops)]
    space = run.contraction.get_space().range().align_params(reader.space.params())
    decided = substitution(reader, loops, space)
    columns: list[int | Value] = []
    outer = run.path.depth_of_extension if run.path.extension is not None else 0
    missing: list[tuple[int, int]] = []
    domain = at_sizes(part.place.domain, program.scop.known)
    depth = 0
    for step in run.path.steps:
        if isinstance(step, Step):
            columns.append(step.index)
            continue
        value = claimed[depth]
        if depth < outer:
            if value is None:
                missing.append((len(columns), depth))
                value = reader.constant(0)
        else:
            wanted = decided.of(value_on(step.schedule, space))
            if value is None or agree(wanted, value, domain) is not None:
                value = _by_outer_loops(part, wanted, columns)  # isl left the loop out, or counts from elsewhere
        columns.append(value)
        depth += 1
    image = Image(part, run, part.place.domain, instance, columns)
    if missing:
        _find(image, missing, outer)
    return image


def _by_outer_loops(part: Part, value: Value, before: Sequence[int | Value]) -> Value:
    """The value of a loop that isl left out, by the loops around it: of a tile `i - i % 8` of loops that stay in it."""
    reader = part.place.reader
    depth = reader.space.dim(isl.dim_type.set)
    loops = [d for d in range(depth) if any(agree_plainly(v, reader.loop(d)) for v in before if not isinstance(v, int))]
    outer = max(loops, default=-1) + 1
    if not value.involves_dims(isl.dim_type.in_, outer, depth - outer):
        return value
    relation = substitution(reader, [value]).relation().intersect_domain(part.place.domain)
    relation = relation.project_out(isl.dim_type.in_, outer, depth - outer)
    if not relation.is_single_valued():
        return value
    found = affine_of(isl.PwMultiAff.from_map(relation).get_pw_aff(0))
    if found is None:
        return value
    return found.insert_dims(isl.dim_type.in_, outer, depth - outer)


def _find(image: Image, missing: list[tuple[int, int]], outer: int) -> None:
    """The values of tile loops that isl left out, which are those of the tree: there is one for each instance."""
    run, reader = image.run, image.reader
    lost = {depth for _, depth in missing}
    tree = run.instances.unwrap().reset_tuple_id(isl.dim_type.in_).reset_tuple_id(isl.dim_type.out).wrap().flatten()
    kept = [d for d in range(outer) if d not in lost]
    values = [image.loops[d] for d in kept] + image.instance[: tree.dim(isl.dim_type.set) - outer]
    every = isl.Map.identity(tree.get_space().map_from_set()).intersect_domain(tree)
    for d in sorted(lost, reverse=True):
        every = every.project_out(isl.dim_type.out, d, 1)
    here = substitution(reader, values).relation().intersect_domain(image.domain)
    back = here.apply_range(every.reverse())
    for column, depth in missing:
        one = back.project_out(isl.dim_type.out, depth + 1, back.dim(isl.dim_type.out) - depth - 1)
        one = one.project_out(isl.dim_type.out, 0, depth)
        if not one.is_single_valued():
            raise NotComparable(f"it is not known in which tile the text of {run.statement} runs")
        found = isl.PwMultiAff.from_map(one).get_pw_aff(0)
        image.columns[column] = affine_of(found) or found


# --- (1) and (2)


def instance_faults(program: Program, every: Sequence[Run], images: Sequence[Image]) -> list[Fault]:
    """Instances that the text leaves out, runs twice, or runs though the tree has no such."""
    by_run: dict[Run, list[Image]] = {run: [] for run in every}
    for image in images:
        by_run[image.run].append(image)
    return [fault for run, mine in by_run.items() for fault in _run_faults(program, every, run, mine)]


def _run_faults(program: Program, runs: Sequence[Run], run: Run, images: list[Image]) -> list[Fault]:
    name, known = run.statement, program.scop.known
    if not images:
        lost = at_sizes(ran(program, run), known)
        if lost.is_empty():
            return []
        return [Fault("text", f"the text leaves out instances of {name}", str(lost.sample_point()))]
    tree = at_sizes(_tree_set(program, run), known)
    faults: list[Fault] = []
    sets: list[isl.Set] = []
    for image in images:
        relation = substitution(image.reader, _values(image)).relation()
        here = at_sizes(image.domain, known)
        text = here.apply(relation)
        if not text.is_subset(tree):
            wrong = text.subtract(tree)
            if not _are_dead(program, runs, run, wrong):
                return [Fault("text", f"the text runs an instance of {name} that is none", str(wrong.sample_point()))]
        if not _injective(image) and not relation.intersect_domain(here).is_injective():
            faults.append(Fault("text", f"the text runs an instance of {name} twice", ""))
        sets.append(text)
    for k, one in enumerate(sets):
        for j, other in enumerate(sets[:k]):
            if not _constant_apart(images[k], images[j]) and not one.is_disjoint(other):
                twice = str(one.intersect(other).sample_point())
                faults.append(Fault("text", f"the text runs an instance of {name} twice", twice))
    lost = _left_out(program, run, images, tree, sets)
    if not lost.is_empty():
        faults.append(Fault("text", f"the text leaves out instances of {name}", str(lost.sample_point())))
    return faults


def _left_out(program: Program, run: Run, images: list[Image], tree: isl.Set, sets: list[isl.Set]) -> isl.Set:
    """Some of the instances that the tree has and the text has not; empty where there are none.

    Which x is run is hard to say of the text where its loops go over tiles: for some value of these. So x is compared
    together with the values f(x) of the band members, which the tree knows as well as the loops of the text.

    math: T = { x } of the tree, and t -> (x(t), v(t)) the text's instances with the values that they claim. Then
          { (x, f(x)) : x in T } within { (x(t), v(t)) } implies T within { x(t) }, whatever v is.
    """
    if any(has_remainders(one) for one in sets):
        values = run.prefix(len([step for step in run.path.steps if isinstance(step, Member)]))
        wanted = at_sizes(
            values.intersect_domain(ran(program, run)).wrap().flatten().reset_tuple_id(), program.scop.known
        )
        if tree.is_subset(wanted.project_out(isl.dim_type.set, tree.n_dim(), wanted.n_dim() - tree.n_dim())):
            found = [_with_loops(image, program.scop.known) for image in images]
            if wanted.is_subset(_together(found)):
                return isl.Set.empty(tree.get_space())
            point = isl.Set.from_point(wanted.subtract(_together(found)).sample_point())
            point = point.project_out(isl.dim_type.set, tree.n_dim(), point.n_dim() - tree.n_dim())
            if not point.is_subset(_together(sets)):
                return point
    every = _together(sets)
    return isl.Set.empty(tree.get_space()) if tree.is_subset(every) else tree.subtract(every)


def _together(sets: Sequence[isl.Set]) -> isl.Set:
    every = sets[0]
    for one in sets[1:]:
        every = every.union(one)
    return every


def _with_loops(image: Image, known: isl.Set) -> isl.Set:
    """`{ [o, i, v] }`: the text's instances with the values of all band members."""
    return at_sizes(image.domain, known).apply(substitution(image.reader, [*_values(image), *image.loops]).relation())


def _are_dead(program: Program, runs: Sequence[Run], run: Run, extra: isl.Set) -> bool:
    """Whether instances that the tree does not have only fill buffers of tiles in which nobody reads these.

    isl adds what an extension node has wherever the loops above it may have an iteration. It can say so of more than
    there are, where a tile is empty for reasons that take variables of their own.

    extra: `{ [o, i, …] }`
    """
    statement = program.statements[run.statement]
    outer = run.path.depth_of_extension if run.path.extension is not None else 0
    count = statement.domain.dim(isl.dim_type.set)
    last = extra.dim(isl.dim_type.set) - outer - count
    instances = extra.project_out(isl.dim_type.set, outer + count, last).project_out(isl.dim_type.set, 0, outer)
    guarded = program.padded.get(run.statement, "guarded") == "guarded"
    if guarded and not instances.is_subset(statement.domain.reset_tuple_id()):
        return False
    for access in statement.accesses:
        if access.kind is AccessKind.READ:
            continue
        buffer = buffer_of(program, run, access)
        if buffer is None or buffer.depth > outer:
            return False
        lives = extra.project_out(isl.dim_type.set, buffer.depth, extra.dim(isl.dim_type.set) - buffer.depth)
        for other in runs:
            reads = (a for a in program.statements[other.statement].accesses if a.kind is AccessKind.READ)
            if not any(buffer_of(program, other, a) is buffer for a in reads):
                continue
            if not at_sizes(other.prefix(buffer.depth).range(), program.scop.known).is_disjoint(lives):
                return False
    return True


def ran(program: Program, run: Run) -> isl.Set:
    """What a run has to execute: borders of whole tiles only where they are not left out by conditions."""
    if program.padded.get(run.statement) != "guarded":
        return run.instances
    domain = program.statements[run.statement].domain
    return run.contraction.intersect_range(domain).domain().intersect(run.instances)


def _values(image: Image) -> list[Value]:
    """The tile of an extension node, and the statement's loop variables."""
    run = image.run
    outer = run.path.depth_of_extension if run.path.extension is not None else 0
    return [*image.loops[:outer], *image.instance[: run.contraction.dim(isl.dim_type.out)]]


def _tree_set(program: Program, run: Run) -> isl.Set:
    """`{ [o, i] }`."""
    return ran(program, run).flatten().reset_tuple_id()


def _values_of(image: Image, domain: isl.Set) -> isl.Set:
    """`{ [o, i] }`, of some instances of the text."""
    return domain.apply(substitution(image.reader, _values(image)).relation())


def _injective(image: Image) -> bool:
    """Whether each loop of the text is a value of the instance, or of a band member that it decides, by itself."""
    depth = len(image.part.place.loops)
    values = [v for v in (*image.instance, *image.columns) if isinstance(v, isl.Aff)]
    return all(any(agree_plainly(value, image.reader.loop(d)) for value in values) for d in range(depth))


def _constant_apart(one: Image, two: Image) -> bool:
    """Whether some value is one constant in one part, and another in the other."""
    pairs = zip([*one.columns, *one.instance], [*two.columns, *two.instance], strict=False)
    return any(
        isinstance(a, isl.Aff)
        and isinstance(b, isl.Aff)
        and a.is_cst()
        and b.is_cst()
        and not a.get_constant_val().eq(b.get_constant_val())
        for a, b in pairs
    )
