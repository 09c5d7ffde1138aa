"""What `polyc explain --all-passes` prints: all that is known of a region, for a person."""

from __future__ import annotations

from collections.abc import Iterable

import islpy as isl

from polyc.analysis.loop_facts import original_nests
from polyc.explain.facts.nests import Part, Reason, Reasons, label, nests
from polyc.explain.facts.values import again, buffer_bytes, extent, figures
from polyc.model import relations as r
from polyc.model.program import Buffer, Compiled, ExtensionSchedule, Group, Program, Remark, Snapshot
from polyc.model.tree import Band, Extension, Node, child_nodes
from polyc.model.tree_text import band_value_name, distinct, render_tree
from polyc.nests.tiling import told_sizes

WIDTH = 110


def render(compiled: Compiled, snapshots: tuple[Snapshot, ...], dependences: bool = False) -> str:
    """One region: its nests, groups, buffers, decisions, and the trees of the snapshots."""
    program = compiled.program
    scop = program.scop
    state = compiled.certificate.state
    lines = [f"{scop.span.file}:{scop.span.line}: region in {scop.function}(), {state}", ""]
    lines += nest_lines(compiled)
    for number, group in enumerate(program.groups, 1):
        if group.tile_sizes or len(group.statements) > 1:
            lines += ["", *group_lines(number, group, program)]
    if program.buffers:
        lines += ["", "  buffers", *(f"    {buffer_text(one, program)}" for one in program.buffers.values())]
    told = "\n".join(lines)
    decisions = [one for one in program.remarks if one.data or one.message not in told]
    if decisions:
        lines += ["", "  decisions", *(line for one in decisions for line in remark_lines(one))]
    if dependences:
        lines += ["", *dependence_lines(program)]
    before = ""
    for snapshot in snapshots:
        tree = render_tree(snapshot.tree)
        same = tree == before
        lines += ["", f"  tree {snapshot.name}" + (": as before" if same else "")]
        lines += [] if same else [f"    {line}" for line in tree.splitlines()]
        before = tree
    return "\n".join(lines) + "\n"


def nest_lines(compiled: Compiled) -> list[str]:
    """A line for each part of a nest, `conv:18  S1, S2  tiled 32 x 32, parallel`, and why more was not done.

    `conv:18` is the nest's label in a polyc.toml.
    """
    program = compiled.program
    rows: list[tuple[str, str, str]] = []
    reasons = Reasons(program)
    for nest in nests(compiled):
        for position, part in enumerate(nest.parts):
            rows.append(
                (
                    "" if position else label(compiled.initial.scop, nest.statements[0]),
                    listed(part.statements),
                    done(part, program),
                )
            )
            missing = {"tiled": part.tiled, "fused": nest.fused or part.inside is not None, "parallel": part.parallel}
            for what in (name for name, holds in missing.items() if not holds):
                reason = reasons.why_not(what, part.statements)
                rows += [("", "", f"  {because(what, reason)}")] if reason else []
    if not rows:
        return ["  no loop nest"]
    first, second = (max(len(row[k]) for row in rows) for k in (0, 1))
    return [f"  {where:<{first}}  {names:<{second}}  {what}" for where, names, what in rows]


def because(what: str, reason: Reason) -> str:
    told = reason.message if f"not {what}" in reason.message else f"not {what}: {reason.message}"
    return f"{told} [{reason.code}]"


def done(part: Part, program: Program) -> str:
    """`tiled 32 x 32, parallel (group 1)`, `in the tiles of group 1`, or `as it was`."""
    if part.inside is not None:
        return f"runs in the tiles of group {part.inside + 1}"
    words = []
    group = program.groups[part.group] if part.group is not None else None
    if part.tiled:
        words.append(f"tiled {sizes(group.tile_sizes)}" if group and group.tile_sizes else "tiled")
    words += ["parallel"] if part.parallel else ["vectorised"] if part.vector else []
    numbered = group is not None and (group.tile_sizes or len(group.statements) > 1)
    return (", ".join(words) or "as it was") + (f" (group {(part.group or 0) + 1})" if numbered else "")


def group_lines(number: int, group: Group, program: Program) -> list[str]:
    """What one tile loop nest holds, with the relations of the paper."""
    names = {**r.dim_names(program.scop.domain), "": ()}
    lines = [f"  group {number}: {listed(group.outputs or group.statements)}"]
    lines[0] += f", with {listed(group.fused)} in its tiles" if group.fused else ""
    facts = [f"tiles {sizes(group.tile_sizes)}" if group.tile_sizes else "not tiled"]
    facts.append("parallel" if group.parallel else "not parallel")
    if group.fused:
        facts.append(f"{again(group.recomputation)} recomputed")
    lines.append("    " + ", ".join(facts))
    bands = bands_above(program, group)
    for relation in group.footprints():
        named = {**names, "": bands.get(relation.dim(r.IN), ())}
        text = r.map_text(without_known(relation, program), named)
        lines += relation_lines("footprint (13)", text)
    for extension in group.extensions:
        named = {**names, "": bands.get(extension.relation.dim(r.IN), ())}
        text = r.map_text(without_known(extension.relation, program), named)
        lines += relation_lines(f"extension schedule ({paper_number(extension, group, program)})", text)
    return lines


def bands_above(program: Program, group: Group) -> dict[int, tuple[str, ...]]:
    """Names for the values of the bands above the group's extensions, by their number."""
    found: dict[int, tuple[str, ...]] = {}

    def descend(node: Node, outer: tuple[str, ...]) -> None:
        if isinstance(node, Extension):
            added = {r.tuple_name(s, r.SET) for s in r.sets_of(node.relation.range())}
            if added & set(group.fused):
                found.setdefault(len(outer), distinct(outer))
        below = (*outer, *(band_value_name(m) for m in node.members)) if isinstance(node, Band) else outer
        for child in child_nodes(node):
            descend(child, below)

    descend(program.tree.child, ())
    return found


def without_known(relation: isl.Map, program: Program) -> isl.Map:
    """The relation without what the context says, and without the domain of the statement that it leads to."""
    scop = program.scop
    name = r.tuple_name(relation, r.OUT)
    known = relation.domain().params().union(scop.context.params()).intersect(scop.context.params())
    if name in scop.statements:
        relation = relation.gist_range(scop.statements[name].domain)
    return relation.gist_params(known.intersect(scop.assumed.params())).coalesce()


def paper_number(extension: ExtensionSchedule, group: Group, program: Program) -> int:
    """(15) for a producer of one statement; (17) where statements of one nest are taken together by (16)."""
    home = next((set(s) for _, s in original_nests(program.scop) if extension.statement in s), set())
    return 17 if len(home & set(group.fused)) > 1 else 15


def relation_lines(label: str, text: str) -> list[str]:
    """A relation with its label, a line for each disjunct; conditions are folded where they are long."""
    lines: list[str] = []
    for part in r.top_level(text):
        head, _, conditions = part.partition(" : ")
        line = f"    {label}: {{ {part} }}"
        if len(line) <= WIDTH or not conditions:
            lines.append(line)
        else:
            folded = fold(conditions, WIDTH - 10)
            lines += [f"    {label}: {{ {head} :", *(f"        {one}" for one in folded)]
            lines[-1] += " }"
        label = " " * (len(label) - 2) + "or"
    return lines


def fold(conditions: str, width: int) -> list[str]:
    """Break at `and` and `or`."""
    lines = [""]
    for word in conditions.replace(" and ", "\0and ").replace(" or ", "\0or ").split("\0"):
        if lines[-1] and len(lines[-1]) + len(word) + 1 > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def buffer_text(buffer: Buffer, program: Program) -> str:
    """`A_tile[34][34]: a tile of A, 9248 bytes`."""
    extents = [extent(size) for size in buffer.extents]
    single = buffer.storage == "tile" and set(extents) <= {1}
    shape = "" if single else "".join(f"[{one}]" for one in extents)
    what = (
        "one value of"
        if single
        else "a tile of"
        if buffer.storage == "tile"
        else "a private copy of"
        if buffer.storage == "private"
        else "of"
    )
    bytes_ = buffer_bytes(buffer, program)
    return f"{buffer.name}{shape}: {what} {buffer.array}" + (f", {bytes_} bytes" if bytes_ else "")


def remark_lines(remark: Remark) -> list[str]:
    """`line 12: S0 runs in the tiles of S1 [fused, basteln]`, and its numbers."""
    where = f"line {remark.span.line}" if remark.span else "whole file"
    names = listed(remark.statements)
    about = f" {names}:" if names and not remark.message.startswith(names) else ""
    numbers = figures(remark)
    line = f"    {where}:{about} {remark.message} [{remark.code}, {remark.stage}]"
    lines = [line, *([f"      {numbers}"] if numbers else [])]
    witness = remark.dependence() if remark.dependence is not None else None
    return [*lines, *([f"      because {witness.text}"] if witness else [])]


def dependence_lines(program: Program) -> list[str]:
    """Flow by array, and what orders the rest."""
    found = program.dependences
    lines = ["  dependences"]
    kinds = [(f"flow of {array}", relation) for array, relation in sorted(found.flow_by_array.items())]
    kinds += [("anti or output", found.false), ("of a private array", found.private_false)]
    for kind, relation in kinds:
        lines += [line for text in r.union_map_text(relation) for line in relation_lines(kind, text)]
    return lines


def sizes(values: tuple[int, ...]) -> str:
    return told_sizes(values)


def listed(names: Iterable[str]) -> str:
    return ", ".join(names)
