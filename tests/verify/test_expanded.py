"""Rows with a part for each iteration, in wrong places or copied back wrongly: each test breaks what a pass answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import islpy as isl
import pytest

import polyc.passes.values.expansion as expansion
import polyc.pipeline as pipeline
from polyc.model import ctree as c
from polyc.model.program import Options, Program
from polyc.model.scop import Access, Statement
from polyc.model.tree import (
    Band,
    Domain,
    Extension,
    Filter,
    Mark,
    Member,
    Node,
    Role,
    Sequence,
    restrict,
    rewrite,
    walk,
)
from polyc.passes.values.temporaries import relocate_temporaries
from polyc.pipeline import compile_region
from polyc.verify import RELOCATION, check
from tests.programs import after, region_of

SUM = "for (int k = 0; k < m; k++) w[j] += A[i][k] * B[k][j];"
STORE = "for (int j = 0; j < m; j++) A[i][j] = w[j];"
LAST = "last_w"


def text_of(body: str) -> str:
    nest = f"for (int i = 0; i < n; i++) {{ {body} }}"
    head = "void f(int n, int m, double A[n][40], double B[40][40], double w[40])"
    return f"{head}\n{{\n#pragma scop\n{nest}\n#pragma endscop\n}}\n"


ROWS = text_of(f"for (int j = 0; j < m; j++) {{ w[j] = 0.0; {SUM} }} {STORE}")


@pytest.fixture
def program(tmp_path: Path) -> Program:
    found = after(region_of(ROWS, tmp_path), "temporaries")
    assert found.relocated is not None
    assert found.relocated.added == (LAST,)
    assert check(found, found.relocated.before) == []
    return found


def kinds(program: Program) -> set[str]:
    assert program.relocated is not None
    return {fault.kind for fault in check(program, program.relocated.before)}


def with_region(program: Program, **changes: Any) -> Program:
    """The program of another new region, in its own order."""
    assert program.relocated is not None
    scop = replace(program.scop, **changes)
    tree = Domain(scop.domain, restrict(scop.tree.child, scop.domain))
    step = replace(program.relocated, after=scop)
    return replace(program, scop=scop, tree=tree, statements=dict(scop.statements), relocated=step)


def with_last(program: Program, change: Callable[[Statement], Statement]) -> Program:
    """The program with another copy of the last values, whose instances may be others."""
    old = program.scop.statements[LAST]
    new = change(old)
    domain = program.scop.domain.subtract(isl.UnionSet.from_set(old.domain)).union(isl.UnionSet.from_set(new.domain))
    child = program.scop.tree.child
    assert isinstance(child, Sequence)
    first, last = child.children
    if new.domain is not old.domain:
        last = Filter(isl.UnionSet.from_set(new.domain), restrict(last.child, isl.UnionSet.from_set(new.domain)))
    tree = Domain(domain, Sequence((first, last)))
    return with_region(program, tree=tree, statements=program.scop.statements | {LAST: new})


def with_access(statement: Statement, position: int, change: Callable[[Access], Access]) -> Statement:
    accesses = list(statement.accesses)
    accesses[position] = change(accesses[position])
    return replace(statement, accesses=tuple(accesses))


def moved(relation: isl.Map, text: str) -> isl.Map:
    return relation.apply_range(isl.Map(text))


def test_the_copy_is_forgotten(program: Program) -> None:
    """The row keeps the values that it had before the region."""
    old = program.scop.statements[LAST]
    domain = program.scop.domain.subtract(isl.UnionSet.from_set(old.domain))
    before = program.relocated
    assert before is not None
    statements = {name: s for name, s in program.scop.statements.items() if name != LAST}
    changed = with_region(program, tree=Domain(domain, before.before.tree.child), statements=statements)
    assert RELOCATION in kinds(changed)
    assert changed.relocated is not None
    assert RELOCATION in kinds(replace(changed, relocated=replace(changed.relocated, added=())))


def test_the_copy_is_not_told(program: Program) -> None:
    assert program.relocated is not None
    assert RELOCATION in kinds(replace(program, relocated=replace(program.relocated, added=())))


def test_another_iterations_values(program: Program) -> None:
    """Copied back by the first iteration."""
    first = isl.Set("[n, m] -> { last_w[i, j] : i = 0 and 0 <= j < m and n > 0 }")

    def change(statement: Statement) -> Statement:
        read, write = statement.accesses
        reads = isl.Map("[n, m] -> { last_w[i, j] -> w_each[i, j] }").intersect_domain(first)
        writes = isl.Map("[n, m] -> { last_w[i, j] -> w[j] }").intersect_domain(first)
        accesses = replace(read, relation=reads), replace(write, relation=writes)
        return replace(statement, domain=first, accesses=accesses)

    assert RELOCATION in kinds(with_last(program, change))


def test_one_element_less(program: Program) -> None:
    def change(statement: Statement) -> Statement:
        return replace(statement, domain=statement.domain.lower_bound_val(isl.dim_type.set, 1, isl.Val(1)))

    assert RELOCATION in kinds(with_last(program, change))


@pytest.mark.parametrize("text", ["{ w_each[i, j] -> w_each[i, 0] }", "{ w_each[i, j] -> w_each[i - 1, j] }"])
def test_other_elements_read(text: str, program: Program) -> None:
    def change(access: Access) -> Access:
        return replace(access, relation=moved(access.relation, text))

    assert RELOCATION in kinds(with_last(program, lambda s: with_access(s, 0, change)))


@pytest.mark.parametrize("text", ["{ w[j] -> w[0] }", "{ w[j] -> w[j + 1] }"])
def test_other_elements_written(text: str, program: Program) -> None:
    def change(access: Access) -> Access:
        return replace(access, relation=moved(access.relation, text))

    assert RELOCATION in kinds(with_last(program, lambda s: with_access(s, 1, change)))


@pytest.mark.parametrize(
    "change",
    [
        lambda node: replace(node, op="+=") if isinstance(node, c.Assign) else None,
        lambda node: c.Binary("*", c.Literal("2.0"), node) if getattr(node, "array", "") == "w_each" else None,
        lambda node: replace(node, array="A") if getattr(node, "array", "") == "w_each" else None,
        lambda node: replace(node, subscripts=node.subscripts[1:]) if getattr(node, "array", "") == "w_each" else None,
        lambda node: replace(node, subscripts=(c.Call("rand", ()),)) if getattr(node, "array", "") == "w" else None,
    ],
    ids=["added", "doubled", "another array", "fewer subscripts", "a call"],
)
def test_another_text(change: Callable[[c.Node], c.Node | None], program: Program) -> None:
    assert RELOCATION in kinds(with_last(program, lambda s: replace(s, body=c.rewrite(s.body, change))))


def test_the_copy_runs_first(program: Program) -> None:
    child = program.scop.tree.child
    assert isinstance(child, Sequence)
    turned = Sequence(tuple(reversed(child.children)))
    assert RELOCATION in kinds(with_region(program, tree=Domain(program.scop.domain, turned)))


def test_an_array_of_another_type(program: Program) -> None:
    made = program.scop.arrays["w_each"]
    single = replace(made, element=replace(made.element, text="float", size_bytes=4))
    assert RELOCATION in kinds(with_region(program, arrays=program.scop.arrays | {"w_each": single}))


def test_one_row_for_all(program: Program) -> None:
    """The values are the same in the order of the region; that of its iterations is not what it was."""
    once = isl.Map("{ w_each[i, j] -> w_each[0, j] }")
    step = program.relocated
    assert step is not None
    old = {move.statement: move.relation for move in step.moves}
    new = {name: relation.apply_range(once) for name, relation in old.items()}

    def other(statement: Statement) -> Statement:
        mine = old.get(statement.name)
        accesses = (replace(a, relation=new[statement.name]) if a.relation is mine else a for a in statement.accesses)
        return replace(statement, accesses=tuple(accesses))

    statements = {name: other(s) for name, s in program.scop.statements.items()}
    moves = tuple(replace(move, relation=new[move.statement]) for move in step.moves)
    changed = with_region(program, statements=statements)
    assert changed.relocated is not None
    assert RELOCATION in kinds(replace(changed, relocated=replace(changed.relocated, moves=moves)))


# --- what the pass must not do ---------------------------------------------------------------------------------------

NOT_ALLOWED = {
    "a sum over all": text_of(f"for (int j = 0; j < m; j++) {{ {SUM} }} {STORE}"),
    "not always set": text_of(
        f"if (i > 0) for (int j = 0; j < m; j++) w[j] = 0.0; for (int j = 0; j < m; j++) {SUM} {STORE}"
    ),
    "from the iteration before": text_of(
        f"if (i < 1) for (int j = 0; j < m; j++) w[j] = 0.0; for (int j = 0; j < m; j++) {SUM} {STORE}"
    ),
}


@pytest.mark.parametrize("name", NOT_ALLOWED)
def test_nothing_forbidden(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pass sees no obstacle: the check refuses what it makes, and what is printed instead is right."""
    monkeypatch.setattr(expansion.Rows, "obstacle", lambda self: None)
    region = region_of(NOT_ALLOWED[name], tmp_path)
    found = after(region, "temporaries")
    assert found.relocated is not None
    assert {fault.kind for fault in check(found, region.scop)} == {RELOCATION}
    result = compile_region(region, Options())
    assert result.verified
    assert result.program.relocated is None


def test_needed_afterwards(tmp_path: Path) -> None:
    """The row's last values are needed, and the pass does not know."""
    region = region_of(ROWS, tmp_path)
    program = pipeline.initial_program(region.scop, Options())
    none = program.dependences.last_writer.subtract(program.dependences.last_writer)
    found = relocate_temporaries(replace(program, dependences=replace(program.dependences, last_writer=none)))
    assert found.relocated is not None
    assert found.relocated.added == ()
    assert RELOCATION in {fault.kind for fault in check(found, region.scop)}


# --- tiles that keep them --------------------------------------------------------------------------------------------


@pytest.fixture
def tiled(tmp_path: Path) -> Program:
    found = after(region_of(ROWS, tmp_path), "rows")
    assert len(found.buffers) == 1
    assert check(found) == []
    return found


def with_tree(program: Program, change: Callable[[Node], Node]) -> Program:
    return replace(program, tree=Domain(program.tree.domain, rewrite(program.tree.child, change)))


def test_the_rows_are_stored_before_they_are_summed_up(tiled: Program) -> None:
    def change(node: Node) -> Node:
        if isinstance(node, Extension) and isinstance(node.child, Sequence):
            return replace(node, child=Sequence(tuple(reversed(node.child.children))))
        return node

    assert check(with_tree(tiled, change)) != []


def test_tiles_cut_the_rows(tiled: Program) -> None:
    """A tile of half a row overwrites what the other half is made of."""

    def change(node: Node) -> Node:
        if not isinstance(node, Mark) or node.kind != "group":
            return node
        tile = node.child
        assert isinstance(tile, Band)
        added = next(n.relation for n in walk(tile) if isinstance(n, Extension))
        inner = [n for n in walk(tile) if isinstance(n, Band) and len(n.members) > 1]
        columns = inner[0].members[1].schedule.union_add(inner[1].members[1].schedule)
        member = Member(columns.scale_down_val(isl.Val(8)).floor().scale_val(isl.Val(8)), True, "jt", Role.TILE, 8)
        more = isl.Map("{ [it] -> [it, jt] : jt mod 8 = 0 and 0 <= jt < 40 }")
        wider = added.apply_domain(isl.UnionMap.from_map(more))

        def below(inside: Node) -> Node:
            return replace(inside, relation=wider) if isinstance(inside, Extension) else inside

        return replace(node, child=Band((*tile.members, member), True, rewrite(tile.child, below)))

    (buffer,) = tiled.buffers.values()
    corner = isl.MultiAff("{ [it, jt] -> w_each[(it), (0)] }")
    wide = replace(tiled, buffers={buffer.key: replace(buffer, corner=corner, depth=2)})
    assert {(f.kind, f.message.partition(":")[0]) for f in check(with_tree(wide, change))} >= {
        ("flow", "the values read from A"),
    }


def test_the_last_values_come_from_another_tile(tiled: Program) -> None:
    def change(node: Node) -> Node:
        if not isinstance(node, Extension):
            return node
        first = isl.UnionMap("{ [it] -> [it - 204] }")
        return replace(node, relation=node.relation.apply_domain(first))

    assert check(with_tree(tiled, change)) != []


def test_a_buffer_that_is_too_small(tiled: Program) -> None:
    (buffer,) = tiled.buffers.values()
    first, second = buffer.extents
    less = second.add_constant_val(isl.Val(-1))
    assert check(replace(tiled, buffers={buffer.key: replace(buffer, extents=(first, less))})) != []


def test_no_condition_on_the_length(tiled: Program) -> None:
    scop = replace(tiled.scop, assumed=isl.Set("[n, m] -> { : }"))
    assert check(replace(tiled, scop=scop)) != []
