"""Members of arrays of structs as arrays of their own: what the check refuses, and what keeps them together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import islpy as isl
import pytest

from polyc.analysis.members import with_members_apart
from polyc.model import ctree as c
from polyc.model.scop import Access, AccessKind, Array, Scop, Statement
from polyc.poly import constant_of
from polyc.reread.steps import Step, step_faults
from polyc.verify.region.members import member_faults
from tests.programs import compiled_file, region_of

OUT = isl.dim_type.out

CELLS = """
typedef struct {{ double x; float v[4]; int n; int odd; union {{ float f; int i; }} u; }} cell;
void f(int n, cell *p, cell *q, double *a)
{{
#pragma scop
    for (int i = 1; i < n; i++) {{
{body}
    }}
#pragma endscop
}}
"""
APART = """
        p[i].x = a[i] + p[i - 1].v[2];
        for (int k = 0; k < 3; k++)
            p[i].n += p[n - i].v[k + 1] * 2;
"""


def scop_of(body: str, folder: Path) -> Scop:
    return region_of(CELLS.format(body=body), folder).scop


def parts(scop: Scop) -> dict[str, Array]:
    return {array.c_name: array for array in with_members_apart(scop).arrays.values() if array.root}


@pytest.fixture
def original(tmp_path: Path) -> Scop:
    return scop_of(APART, tmp_path)


def test_members_are_arrays(original: Scop) -> None:
    """A row is as long as the struct, in elements of the member."""
    found = parts(original)
    assert sorted(found) == ["p[].n", "p[].v", "p[].x"]
    rows = {name: [constant_of(e) for e in array.extents[1:] if e is not None] for name, array in found.items()}
    assert rows == {"p[].x": [5], "p[].v": [10], "p[].n": [10]}
    now = with_members_apart(original)
    assert member_faults(original, now) == []
    kinds = {(a.array, a.kind) for s in now.statements.values() for a in s.accesses if a.kind is not AccessKind.READ}
    assert kinds == {("p_x", AccessKind.WRITE), ("p_n", AccessKind.WRITE)}
    assert "p" in original.live_out
    assert {"p_x", "p_v", "p_n"} <= now.live_out
    assert "p" not in now.live_out


def test_numbers_of_a_member_that_is_an_array_are_apart(tmp_path: Path) -> None:
    scop = scop_of("for (int k = 0; k < 4; k++) p[i].v[k] += q[i].v[k] * a[i];", tmp_path)
    assert sorted(parts(scop)) == ["p[].v"]
    now = with_members_apart(scop)
    assert member_faults(scop, now) == []
    (statement,) = now.statements.values()
    (written,) = [a.relation for a in statement.accesses if a.array == "p_v" and a.kind is AccessKind.WRITE]
    assert written.is_injective()  # no iteration meets what another one writes


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("p[i].x += p[i].v[1];", id="the same elements"),
        pytest.param("p[i].v[1] += a[i];", id="one number"),
        pytest.param("a[i] = p[i].x + p[i - 1].v[1];", id="read only"),
        pytest.param("p[i].x = p[i - 1].x;", id="one member"),
        pytest.param("p[i].x = p[i - 1].v[1]; q[i] = p[i];", id="whole structs"),
        pytest.param("p[i].u.f = p[i - 1].x;", id="union"),
        pytest.param("p[i].x = p[i - 1].v[(int)a[i]];", id="data decide"),
    ],
)
def test_they_stay_together(body: str, tmp_path: Path) -> None:
    scop = scop_of(body, tmp_path)
    assert with_members_apart(scop) is scop


def test_what_may_not_be_written_is_not_killed(tmp_path: Path) -> None:
    scop = with_members_apart(scop_of("if (a[i] > 0) p[i].x = p[i - 1].v[1];", tmp_path))
    kinds = {a.kind for s in scop.statements.values() for a in s.accesses if a.array == "p_x"}
    assert AccessKind.WRITE not in kinds


Change = Callable[[Scop], Scop]


def with_statement(change: Callable[[Statement], Statement]) -> Change:
    """The region with another first statement."""

    def changed(scop: Scop) -> Scop:
        name, statement = next(iter(scop.statements.items()))
        return replace(scop, statements=scop.statements | {name: change(statement)})

    return changed


def with_access(change: Callable[[Access], Access], array: str) -> Change:
    def changed(statement: Statement) -> Statement:
        return replace(statement, accesses=tuple(change(a) if a.array == array else a for a in statement.accesses))

    return with_statement(changed)


def with_array(key: str, **fields: object) -> Change:
    return lambda scop: replace(scop, arrays=scop.arrays | {key: replace(scop.arrays[key], **fields)})  # type: ignore[arg-type]


def moved(access: Access) -> Access:
    """The access by a member's next element."""
    last = access.relation.dim(OUT) - 1
    multi = isl.PwMultiAff.from_map(access.relation)
    one = isl.PwAff.val_on_domain(multi.get_pw_aff(last).domain(), isl.Val.one(multi.get_ctx()))
    relation = isl.Map.from_pw_multi_aff(multi.set_pw_aff(last, multi.get_pw_aff(last).add(one)))
    return replace(access, relation=relation)


def renamed(node: c.Node) -> c.Node | None:
    return replace(node, array="p_n") if isinstance(node, c.ArrayRef) and node.array == "p_x" else None


FAULTS: dict[str, Change] = {
    "an access elsewhere": with_access(moved, "p_v"),
    "a member of an element elsewhere": with_access(moved, "p_x"),
    "a read is a write": with_access(lambda a: replace(a, kind=AccessKind.WRITE), "p_v"),
    "an access is lost": with_statement(lambda s: replace(s, accesses=s.accesses[:-1])),
    "an access more": with_statement(lambda s: replace(s, accesses=(*s.accesses, s.accesses[-1]))),
    "another member": with_array("p_x", path=("n",)),
    "another type": lambda scop: with_array("p_x", element=scop.arrays["p_n"].element)(scop),
    "no member": with_array("p_x", path=("u", "f")),
    "short rows": lambda scop: with_array("p_x", extents=scop.arrays["p_n"].extents)(scop),
    "another body": with_statement(lambda s: replace(s, body=c.rewrite(s.body, renamed))),
    "its values are lost": lambda scop: replace(scop, live_out=scop.live_out - {"p_x"}),
    "more is left out": lambda scop: replace(scop, privatizable=scop.privatizable | {"p_x"}),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_refused(name: str, original: Scop) -> None:
    assert member_faults(original, FAULTS[name](with_members_apart(original)))


def test_a_whole_element_beside_its_members_is_refused(original: Scop) -> None:
    now = with_members_apart(original)
    (name, was), *_ = original.statements.items()
    assert member_faults(original, replace(now, statements=now.statements | {name: was}))


# --- the text


def test_another_member_in_the_text_is_refused(tmp_path: Path) -> None:
    text = CELLS.format(body=APART).replace("#pragma scop", "").replace("#pragma endscop", "")
    (found,), printed = compiled_file(text, tmp_path)
    assert "p[i].x = a[i] + p[i - 1].v[2];" in printed
    scop = found.program.scop
    (array,) = (a for a in scop.arrays.values() if a.c_name == "p[].x")
    before = (c.ExprStmt(c.ArrayRef(array.printed_name, (c.Name("i"), c.Literal("0")))),)
    right = c.Member(c.ArrayRef("p", (c.Name("i"),)), "x")
    for after, fault in (
        (right, False),
        (replace(right, field="n"), True),
        (c.Member(c.ArrayRef("p", (c.Name("n"),)), "x"), True),
        (c.Subscript(right, c.Literal("0")), True),
    ):
        faults = step_faults(found.program, (Step("members", before, (c.ExprStmt(after),)),), {})
        assert bool(faults) == fault
