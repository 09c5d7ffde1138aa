"""Statements that an extension adds to tiles, made ordinary ones of the tile loops: where tiles share none of them."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from polyc.model.program import Program
from polyc.model.tree import Band, Domain, Extension, Leaf, Mark, Member, Node, Sequence, paths, walk
from polyc.nests.sums import sum_nest
from polyc.poly import empty_map, maps, names, out_name, union_of


def absorb_sums(program: Program) -> Program:
    """Let tile loops run sums of their own that were added to them.

    tree:     band(tile: S) - extension(e: [t] -> P) - sequence(P, S)  ->  band(tile: P, S) - sequence(P, S)
    math:     e^-1 is a function on all of P: then it is a schedule of P, and the same instances run at the same time
    """
    found = _added(program.tree)
    for extension in found:
        for piece in maps(extension.relation):
            name = out_name(piece)
            if _is_sum(program, extension.child, name) and _occurs_once(program.tree, name):
                program = _absorbed(program, name)
    return program


def _added(tree: Domain) -> list[Extension]:
    return [node for node in walk(tree.child) if isinstance(node, Extension)]


def _is_sum(program: Program, node: Node, name: str) -> bool:
    nests = (sum_nest(program, band) for band in walk(node) if isinstance(band, Band))
    return any(nest is not None and name in nest.sums for nest in nests)


def _occurs_once(tree: Domain, name: str) -> bool:
    """Whether one extension adds all that runs of a statement."""
    if sum(name in names(e.relation.range()) for e in _added(tree)) != 1:
        return False
    return not any(path.extension is None and name in names(path.instances) for path in paths(tree))


def _absorbed(program: Program, name: str) -> Program:
    tree = program.tree
    (extension,) = (e for e in _added(tree) if name in names(e.relation.range()))
    (piece,) = (m for m in maps(extension.relation) if out_name(m) == name)
    domain = program.scop.statements[name].domain.intersect_params(program.scop.known)
    schedule = piece.intersect_range(domain).reverse()
    if not schedule.is_single_valued() or not domain.is_subset(schedule.domain()):
        return program
    at = isl.PwMultiAff.from_map(schedule)
    columns = [isl.UnionPwAff.from_pw_aff(at.get_pw_aff(k)) for k in range(at.dim(isl.dim_type.out))]
    moved = isl.UnionSet.from_set(domain)
    child = _below(tree.child, extension, moved, columns)
    return replace(program, tree=Domain(tree.domain.union(moved), child))


def _below(node: Node, extension: Extension, moved: isl.UnionSet, columns: list[isl.UnionPwAff]) -> Node:
    """The node, with instances that reach it instead of being added further down."""
    if node is extension:
        kept = [m for m in maps(extension.relation) if out_name(m) not in names(moved)]
        relation = union_of(kept, empty_map(extension.relation))
        return replace(extension, relation=relation) if kept else extension.child
    if not any(n is extension for n in walk(node)):
        return node
    match node:
        case Leaf():
            return node
        case Sequence(children=steps):
            return Sequence(
                tuple(
                    replace(s, filter=s.filter.union(moved), child=_below(s.child, extension, moved, columns))
                    if any(n is extension for n in walk(s.child))
                    else s
                    for s in steps
                )
            )
        case Band(members=members):
            own, rest = columns[: len(members)], columns[len(members) :]
            wider = tuple(_with(m, c) for m, c in zip(members, own, strict=True))
            return replace(node, members=wider, child=_below(node.child, extension, moved, rest))
        case Mark() | Extension():
            return replace(node, child=_below(node.child, extension, moved, columns))


def _with(member: Member, column: isl.UnionPwAff) -> Member:
    others = member.schedule.subtract_domain(column.domain())  # it may be there already, where nothing runs it
    return replace(member, schedule=others.union_add(column))
