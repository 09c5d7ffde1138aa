"""What `polyc explain` prints by default: short, for a person who wants to know what became of the loops."""

from __future__ import annotations

import math
from collections.abc import Iterable

from polyc.explain import relations as r
from polyc.explain.nests import Nest, nests
from polyc.explain.tree_text import render_tree
from polyc.model.program import Buffer, Compiled, ExtensionSchedule, Group, Program, Remark, Snapshot

WIDTH = 110


def render(compiled: Compiled, snapshots: tuple[Snapshot, ...], dependences: bool = False) -> str:
    """One region: its nests, groups, buffers, decisions, and the trees of the snapshots."""
    program = compiled.program
    scop = program.scop
    state = "verified" if compiled.verified else "NOT verified"
    lines = [f"{scop.span.file}:{scop.span.line}: region in {scop.function}(), {state}", ""]
    lines += nest_lines(compiled, program)
    for number, group in enumerate(program.groups, 1):
        lines += ["", *group_lines(number, group, program)]
    if program.buffers:
        lines += ["", "  buffers", *(f"    {buffer_text(one, program)}" for one in program.buffers.values())]
    if program.remarks:
        lines += ["", "  decisions", *(line for one in program.remarks for line in remark_lines(one))]
    if dependences:
        lines += ["", *dependence_lines(program)]
    for snapshot in snapshots:
        lines += ["", f"  tree {snapshot.name}"]
        lines += [f"    {line}".rstrip() for line in render_tree(snapshot.tree).splitlines()]
    return "\n".join(lines) + "\n"


def nest_lines(compiled: Compiled, program: Program) -> list[str]:
    """A line a nest, `line 18  S1, S2   tiled 32 x 32, parallel`, and below it why something was not done."""
    found = nests(compiled)
    if not found:
        return ["  no loop nest"]
    rows = [(f"line {nest.line}", listed(nest.statements), done(nest, program)) for nest in found]
    first, second = (max(len(row[k]) for row in rows) for k in (0, 1))
    lines: list[str] = []
    for nest, (where, names, what) in zip(found, rows, strict=True):
        lines.append(f"  {where:<{first}}  {names:<{second}}  {what}")
        for missing in missing_facts(nest):
            reason = nest.why_not(missing)
            if reason is not None:
                lines.append(f"  {'':<{first}}  {'':<{second}}  not {missing}: {reason.message} [{reason.code}]")
    return lines


def missing_facts(nest: Nest) -> list[str]:
    facts = {"tiled": nest.tiled, "fused": nest.fused, "parallel": nest.parallel}
    return [name for name, holds in facts.items() if not holds]


def done(nest: Nest, program: Program) -> str:
    """`fused into group 1, tiled 32 x 32, parallel`, or `as it was`."""
    group = program.groups[nest.group] if nest.group is not None else None
    words = []
    if group is not None and nest.fused:
        inside = set(nest.statements) <= set(group.fused)
        words.append(f"fused into {'the tiles of ' if inside else ''}group {(nest.group or 0) + 1}")
    if nest.tiled:
        words.append(f"tiled {sizes(group.tile_sizes)}" if group and group.tile_sizes else "tiled")
    if nest.parallel:
        words.append("parallel")
    return ", ".join(words) or "as it was"


def group_lines(number: int, group: Group, program: Program) -> list[str]:
    """What one tile loop nest holds, with the relations of the paper."""
    names = r.dim_names(program.scop.domain)
    lines = [f"  group {number}: {listed(group.outputs or group.statements)}"]
    lines[0] += f", with {listed(group.fused)} in its tiles" if group.fused else ""
    facts = [f"tiles {sizes(group.tile_sizes)}" if group.tile_sizes else "not tiled"]
    facts.append("parallel" if group.parallel else "not parallel")
    if group.fused:
        facts.append(f"{percent(group.recomputation)} recomputed")
    lines.append("    " + ", ".join(facts))
    for relation in group.footprints:
        lines += relation_lines("footprint (13)", r.map_text(relation, names))
    for extension in group.extensions:
        label = f"extension schedule ({paper_number(extension, group, program)})"
        lines += relation_lines(label, r.map_text(extension.relation, names))
    return lines


def paper_number(extension: ExtensionSchedule, group: Group, program: Program) -> int:
    """(15) for a producer of one statement; (17) where statements of one nest are taken together by (16)."""
    from polyc.explain.nests import original_nests

    home = next((set(s) for _, s in original_nests(program.scop) if extension.statement in s), set())
    return 17 if len(home & set(group.fused)) > 1 else 15


def relation_lines(label: str, text: str) -> list[str]:
    """A relation with its label; conditions go to lines of their own where it is long."""
    head, _, conditions = text.partition(" : ")
    line = f"    {label}: {{ {text} }}"
    if len(line) <= WIDTH or not conditions:
        return [line]
    return [
        f"    {label}: {{ {head} :",
        *(f"        {one}" for one in folded(conditions, WIDTH - 10)),
        "    }",
    ]


def folded(conditions: str, width: int) -> list[str]:
    """Break at `and` and `or`."""
    lines = [""]
    for word in conditions.replace(" and ", "\0and ").replace(" or ", "\0or ").split("\0"):
        if lines[-1] and len(lines[-1]) + len(word) + 1 > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def buffer_text(buffer: Buffer, program: Program) -> str:
    """`A_tile[34][34]: a tile of A, 9248 bytes`."""
    extents = "".join(f"[{size}]" for size in buffer.extents)
    what = "a tile of" if buffer.storage == "tile" else "a private copy of" if buffer.storage == "private" else "of"
    array = program.scop.arrays.get(buffer.array)
    size_bytes = math.prod(buffer.extents) * array.element.size_bytes if array else 0
    return f"{buffer.name}{extents}: {what} {buffer.array}" + (f", {size_bytes} bytes" if size_bytes else "")


def remark_lines(remark: Remark) -> list[str]:
    """`line 12  not-fused (tiling): message; key 3, other 4`."""
    where = f"line {remark.span.line}" if remark.span else "whole file"
    about = f" {listed(remark.statements)}:" if remark.statements else ""
    numbers = ", ".join(f"{key.replace('_', ' ')} {shown(value)}" for key, value in remark.data.items())
    line = f"    {where}:{about} {remark.message} [{remark.code}, {remark.stage}]"
    return [line, *([f"      {numbers}"] if numbers else [])]


def shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, (list, tuple)):
        return "(" + ", ".join(shown(item) for item in value) + ")"
    return str(value)


def dependence_lines(program: Program) -> list[str]:
    """Flow by array, and what orders the rest."""
    found = program.dependences
    lines = ["  dependences"]
    for array, relation in sorted(found.flow_by_array.items()):
        lines += [line for text in r.union_map_text(relation) for line in relation_lines(f"flow of {array}", text)]
    for kind, relation in (("anti or output", found.false), ("of a private array", found.private_false)):
        lines += [line for text in r.union_map_text(relation) for line in relation_lines(kind, text)]
    return lines


def sizes(values: tuple[int, ...]) -> str:
    return " x ".join(map(str, values))


def percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def listed(names: Iterable[str]) -> str:
    return ", ".join(names)
