"""The run in isl's own notation, to be read by isl again: sets, relations, schedule trees."""

from __future__ import annotations

import islpy as isl

from polyc.model import relations as r
from polyc.model.program import Compiled, Program, Snapshot
from polyc.model.tree import Band, Domain, Extension, Filter, Leaf, Mark, Member, Node, Sequence


def render(compiled: Compiled, snapshots: tuple[Snapshot, ...]) -> str:
    """Context, dependences, relations (13) and (15)/(17), and each snapshot's tree as a schedule."""
    program = compiled.program
    scop = program.scop
    lines = [
        f"# {scop.span.file}:{scop.span.line}: region in {scop.function}",
        f"context: {scop.context}",
        f"assumed: {scop.guard}",
        f"domain: {r.union_text(scop.domain)}",
        *dependence_lines(program),
    ]
    for number, group in enumerate(program.groups, 1):
        lines += [f"footprint {number}: {one}" for one in group.footprints()]
        lines += [f"extension {number}: {one.relation}" for one in group.extensions]
    lines += [f"schedule {snapshot.name}: {schedule(snapshot.tree)}" for snapshot in snapshots]
    return "\n".join(lines) + "\n"


def dependence_lines(program: Program) -> list[str]:
    found = program.dependences
    kinds = {"flow": found.flow, "anti and output": found.false, "of private arrays": found.private_false}
    kinds |= {"live-in": found.live_in, "last writer": found.last_writer}
    return [f"{kind}: {r.union_text(relation)}" for kind, relation in kinds.items()]


def schedule(tree: Domain) -> str:
    """The tree as isl prints schedules: `Schedule.read_from_str` reads it."""
    return f'{{ domain: "{r.union_text(tree.domain)}"{below(tree.child)} }}'


def below(node: Node) -> str:
    inside = fields(node)
    return f", child: {{ {inside} }}" if inside else ""


def fields(node: Node) -> str:
    match node:
        case Leaf():
            return ""
        case Band(members=members):
            partial = ", ".join(r.after_parameters(m.schedule) for m in members)
            coincident = ", ".join(str(int(m.coincident)) for m in members)
            space = r.parameters(known_parameters(members))
            head = f'schedule: "{space}[{partial}]", permutable: {int(node.permutable)}'
            return f"{head}, coincident: [ {coincident} ]{below(node.child)}"
        case Mark():
            words = " ".join([node.kind, *map(str, node.sizes), node.text, *node.names]).replace('"', "'").split()
            return f'mark: "{" ".join(words)}"{below(node.child)}'
        case Extension():
            return f'extension: "{r.union_text(node.relation)}"{below(node.child)}'
        case Sequence():
            return f"sequence: [ {', '.join(step(one) for one in node.children)} ]"


def known_parameters(members: tuple[Member, ...]) -> isl.UnionSet:
    """A set with the parameters of all members."""
    found = members[0].schedule.domain()
    for member in members[1:]:
        found = found.union(member.schedule.domain())
    return found


def step(one: Filter) -> str:
    return f'{{ filter: "{r.union_text(one.filter)}"{below(one.child)} }}'
