"""What the check of parted loops says of right ones, and of ones that something was done to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import islpy as isl
import pytest

from polyc.frontend import read
from polyc.model import ctree as c
from polyc.model.program import InputOptions
from polyc.model.scop import Access, AccessKind, Scop, Statement, without_rows
from polyc.model.tree import Filter, Sequence
from polyc.verify.region.parted import parting_faults

PROGRAMS = Path(__file__).parents[1] / "mutation" / "programs"
SUMS = """
void f(int n, double a[n][n], float b[n], double *restrict t)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double s = 0;
        for (int j = 0; j < n; j++)
            s += a[i][j];
        b[i] = s;
        *t += s * b[i];
    }
#pragma endscop
}
"""

LAST = """
float f(int n, float a[n][n], float b[n], float *restrict t)
{
    float s;
#pragma scop
    for (int i = 0; i < n; i++) {
        s = 0;
        for (int j = 0; j < n; j++)
            s += a[i][j];
        *t += b[i] * (2 * s + a[i][i]);
    }
#pragma endscop
    return s;
}
"""
"""The last iteration leaves s behind, so that two statements store what goes into t."""


def parted(text: str) -> tuple[Scop, Scop]:
    (region,) = read("t.c", InputOptions(), text=text).regions
    assert region.scop.whole is not None
    return region.scop.whole, region.scop


def changed(scop: Scop, name: str, **changes: object) -> Scop:
    return replace(scop, statements=scop.statements | {name: replace(scop.statements[name], **changes)})


def store_of(scop: Scop, whole: Scop) -> Statement:
    (made,) = scop.arrays.keys() - whole.arrays.keys()
    return next(
        s for s in scop.statements.values() if any(a.array == made and a.kind.value == "write" for a in s.accesses)
    )


@pytest.mark.parametrize("name", ["sums_apart", "webs", "work_rows", "expanded", "streams"])
def test_what_the_frontend_parts(name: str) -> None:
    (region,) = read(str(PROGRAMS / f"{name}.c"), InputOptions()).regions
    assert region.scop.whole is not None
    assert parting_faults(region.scop.whole, region.scop) == []


def test_a_sum_of_elements_that_data_choose() -> None:
    """What it reads is known roughly only, so that it waits as a whole for the value of the scalar."""
    whole, scop = parted(
        SUMS.replace("s * b[i]", "s * a[0][at[i]]").replace("double *restrict t", "double *restrict t, const int *at")
    )
    (made,) = scop.arrays.keys() - whole.arrays.keys()
    assert made == "s_each"
    assert parting_faults(whole, scop) == []


def test_an_order_that_loses_values() -> None:
    whole, scop = parted(SUMS)
    assert parting_faults(whole, scop) == []
    assert isinstance(scop.tree.child, Sequence)
    turned = replace(scop.tree, child=Sequence(tuple(reversed(scop.tree.child.children))))
    (fault, *_) = parting_faults(whole, replace(scop, tree=turned))
    assert fault.kind == "parting"
    assert "is read where nothing was stored in it" in fault.message


def test_another_value_that_is_stored() -> None:
    whole, scop = parted(SUMS)
    store = store_of(scop, whole)

    def other(node: c.Node) -> c.Node | None:
        return replace(node, op="+") if isinstance(node, c.Binary) and node.op == "*" else None

    (fault, *_) = parting_faults(whole, changed(scop, store.name, body=c.rewrite(store.body, other)))
    assert "no statement of the region computes" in fault.message


def test_two_stores_of_one_array() -> None:
    whole, scop = parted(LAST)
    assert parting_faults(whole, scop) == []
    (made,) = {name for name, array in scop.arrays.items() if name not in whole.arrays and array.rank}
    stores = [
        s for s in scop.statements.values() if any(a.array == made and a.kind.value == "write" for a in s.accesses)
    ]
    assert len(stores) == 2

    def other(node: c.Node) -> c.Node | None:
        return replace(node, op="-") if isinstance(node, c.Binary) and node.op == "+" else None

    for store in stores:
        (fault, *_) = parting_faults(whole, changed(scop, store.name, body=c.rewrite(store.body, other)))
        assert "no statement of the region computes" in fault.message
        fewer = store.domain.subtract(store.domain.lexmin())
        accesses = tuple(replace(a, relation=a.relation.intersect_domain(fewer)) for a in store.accesses)
        (fault, *_) = parting_faults(whole, changed(scop, store.name, domain=fewer, accesses=accesses))
        assert "is read where nothing was stored in it" in fault.message


def test_a_type_that_rounds() -> None:
    whole, scop = parted(SUMS)
    (made,) = scop.arrays.keys() - whole.arrays.keys()
    narrow = replace(scop.arrays[made], element=scop.arrays["b"].element)
    (fault, *_) = parting_faults(whole, replace(scop, arrays=scop.arrays | {made: narrow}))
    assert "may hold other values" in fault.message


def test_an_array_that_is_too_short() -> None:
    whole, scop = parted(SUMS)
    (made,) = scop.arrays.keys() - whole.arrays.keys()
    short = replace(scop.arrays[made], extents=(isl.PwAff("[n] -> { [(n - 1)] }"),))
    (fault, *_) = parting_faults(whole, replace(scop, arrays=scop.arrays | {made: short}))
    assert "cells outside of the new array" in fault.message


def test_an_instance_that_is_lost() -> None:
    whole, scop = parted(SUMS)
    last = list(scop.statements.values())[-1]
    fewer = last.domain.intersect(isl.Set(f"[n] -> {{ {last.name}[i] : i < n - 1 }}"))
    (fault, *_) = parting_faults(whole, changed(scop, last.name, domain=fewer))
    assert "lost instances" in fault.message


def test_what_the_value_needs_is_written_before_it() -> None:
    """The value has `r`, which reads what the sums write (20281201:39)."""
    text = SUMS.replace(
        "*t += s * b[i];", "double r = 1; for (int j = 0; j < n; j++) if (b[j] > 0.5f) r += t[j]; t[0] += s + r;"
    )
    whole, scop = parted(text)
    assert parting_faults(whole, scop) == []
    assert isinstance(scop.tree.child, Sequence)
    assert all(isinstance(step, Filter) for step in scop.tree.child.children)


def test_private_rows_that_the_sizes_decide() -> None:
    """`g` may be each thread's own where it is short, of the region whose sums were parted and of the one before."""
    text = """
#include <stdlib.h>
void train(int n, int d, const double *X, const double *y, double *w, int epochs)
{
    double *g = malloc(d * sizeof *g);
#pragma scop
    for (int e = 0; e < epochs; e++) {
        for (int j = 0; j < d; j++)
            g[j] = 0;
        for (int i = 0; i < n; i++) {
            double z = 0;
            for (int j = 0; j < d; j++)
                z += X[i * d + j] * w[j];
            double r = z - y[i];
            for (int j = 0; j < d; j++)
                g[j] += r * X[i * d + j];
        }
        for (int j = 0; j < d; j++)
            w[j] -= g[j] / n;
    }
#pragma endscop
    free(g);
}
"""
    whole, scop = parted(text)
    assert scop.rows is not None
    for one in (scop, without_rows(scop)):
        assert parting_faults(whole, one) == []


VOTES = """
#include <math.h>
void votes(int h, int w, double a[restrict h][w], int nt, double step, double *restrict acc)
{
#pragma scop
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            if (a[y][x] > 0.5)
                for (int t = 0; t < nt; t++) {
                    double p = t * step;
                    acc[(int)(x * cos(p))] += 1;
                }
#pragma endscop
}
"""


def votes() -> tuple[Scop, Scop, Statement, Statement]:
    """The region as a whole and parted, what stores in the table, and what reads it."""
    whole, scop = parted(VOTES)
    assert parting_faults(whole, scop) == []
    store = store_of(scop, whole)
    (reader,) = (s for s in scop.statements.values() if s is not store)
    return whole, scop, store, reader


def refused(whole: Scop, scop: Scop) -> bool:
    return any("no statement of the region computes" in fault.message for fault in parting_faults(whole, scop))


def test_a_table_that_loops_inside_of_a_statement_leave() -> None:
    whole, scop, store, reader = votes()
    short = store.domain.intersect(isl.Set(f"[nt] -> {{ {store.name}[t] : t < nt - 1 }}"))
    assert refused(whole, changed(scop, store.name, domain=short))

    def further(node: c.Node) -> c.Node | None:
        return replace(node, op="<=") if isinstance(node, c.Binary) and node.op == "<" else None

    assert refused(whole, changed(scop, reader.name, body=c.rewrite(reader.body, further)))


def test_an_element_of_another_iteration_inside_of_a_statement() -> None:
    whole, scop, _, reader = votes()

    def next_one(node: c.Node) -> c.Node | None:
        if isinstance(node, c.ArrayRef) and node.array == "table":
            return replace(node, subscripts=(c.Binary("+", c.Name("t"), c.Literal("1")),))
        return None

    assert refused(whole, changed(scop, reader.name, body=c.rewrite(reader.body, next_one)))


def test_a_value_that_loops_inside_of_a_statement_do_not_compute() -> None:
    whole, scop, store, reader = votes()

    def other(node: c.Node) -> c.Node | None:
        return replace(node, function="sin") if isinstance(node, c.Call) else None

    assert refused(whole, changed(scop, store.name, body=c.rewrite(store.body, other)))

    def changing(node: c.Node) -> c.Node | None:
        """The loop goes on from where its body leaves its variable."""
        if isinstance(node, c.For):
            return replace(node, body=c.Block((node.body, c.ExprStmt(c.Postfix("++", c.Name("t"))))))
        return None

    assert refused(whole, changed(scop, reader.name, body=c.rewrite(reader.body, changing)))


def test_an_access_that_leaves_elements_out_inside_of_a_statement() -> None:
    whole, scop, _, reader = votes()
    fewer = [
        replace(a, relation=a.relation.intersect_range(isl.Set("{ table[t] : t > 3 }"))) if a.array == "table" else a
        for a in reader.accesses
    ]
    assert refused(whole, changed(scop, reader.name, accesses=tuple(fewer)))


def test_a_value_that_may_have_none() -> None:
    """Both regions compute 1 / t, which those that come to it only may do."""
    whole, scop, store, _ = votes()
    (then,) = whole.statements.values()

    def quotient(node: c.Node) -> c.Node | None:
        if isinstance(node, c.Binary) and node.op == "*" and node.left == c.Name("t"):
            return replace(node, left=c.Binary("/", c.Literal("1"), c.Name("t")))
        return None

    found = changed(scop, store.name, body=c.rewrite(store.body, quotient))
    assert refused(changed(whole, then.name, body=c.rewrite(then.body, quotient)), found)


def test_a_value_that_the_region_changes() -> None:
    whole, scop, _, reader = votes()
    (then,) = whole.statements.values()
    step = next(a for a in then.accesses if a.array == "step")
    writing = replace(step, kind=AccessKind.MAY_WRITE)
    both = (changed(one, s.name, accesses=(*s.accesses, writing)) for one, s in ((whole, then), (scop, reader)))
    assert parting_faults(*both) != []


def test_equal_statements_of_a_function_whose_body_stands_in_the_place_of_its_call() -> None:
    """Both ends of a row are copied: these statements have one text and one place, that of the call."""
    ends = """
static void ends(int n, int r, const double *x, float *y)
{
    for (int j = 0; j < r; j++)
        y[j] = x[j];
    for (int j = n - r; j < n; j++)
        y[j] = x[j];
}
"""
    call = "    ends(n, r, a[0], b);\n#pragma endscop"
    whole, scop = parted(ends + SUMS.replace("int n,", "int n, int r,").replace("#pragma endscop", call))
    same = [s for s in scop.statements.values() if "ends(" in s.text]
    assert len(same) == 2
    assert parting_faults(whole, scop) == []
    for one, other in (same, reversed(same)):
        domain = other.domain.set_tuple_name(one.domain.get_tuple_name())
        assert parting_faults(whole, changed(scop, one.name, domain=domain)) != []


def test_a_copy_that_is_kept_and_one_of_the_region_in_an_inlined_body() -> None:
    """`m_each[i] = m` and `u[i] = m` have one text but for names, and one place: each stands for itself."""
    rows = """
static double rows(int n, double c[64][64], double *u)
{
    double total = 0;
    for (int i = 0; i < n; i++) {
        double m = c[i][0];
        u[i] = m;
        total += m;
        for (int j = 0; j < n; j++)
            c[i][j] -= m;
    }
    return total;
}
double f(int n, double c[64][64], double u[64])
{
    double sum = 0;
#pragma scop
    for (int r = 0; r < 10; r++)
        sum += rows(n, c, u);
#pragma endscop
    return sum;
}
"""
    whole, scop = parted(rows)
    assert parting_faults(whole, scop) == []
    (kept,) = (s for s in scop.statements.values() if any(a.array == "u" for a in s.accesses))
    gone = kept.domain.subtract(kept.domain)
    assert parting_faults(whole, changed(scop, kept.name, domain=gone)) != []


def test_a_scalar_that_a_condition_reads() -> None:
    """What stores `s` reads it in each iteration, and the statement that it stands for in some (20281290:1504)."""
    taken = SUMS.replace("int n,", "int n, int m,").replace("*t += s * b[i];", "*t = *t * 0.5 + (2 * i < m ? s : 1.0);")
    whole, scop = parted(taken)
    assert parting_faults(whole, scop) == []
    setting = [s.name for s in whole.statements.values() if any(a.array == "s" and _writes(a) for a in s.accesses)]

    def with_nothing_set(one: Scop) -> Scop:
        for name in setting:
            one = changed(one, name, accesses=tuple(a for a in one.statements[name].accesses if a.array != "s"))
        return one

    faults = parting_faults(with_nothing_set(whole), with_nothing_set(scop))
    assert any("accesses something else" in fault.message for fault in faults)


def _writes(access: Access) -> bool:
    return access.kind is not AccessKind.READ


@pytest.mark.parametrize("value", ["s / n", "s / (2.0f * n) * p->m", "(float)n * s", "p->m - s"])
def test_sizes_in_what_is_kept(value: str) -> None:
    """C computes with the types of sizes, as with those of loops' variables."""
    text = f"""
struct sizes {{ int m; }};
float f(int n, const struct sizes *restrict p, const float a[restrict n][8])
{{
    float total = 0.0f;
#pragma scop
    for (int i = 0; i < 8; i++) {{
        float s = 0.0f;
        for (int j = 0; j < n; j++)
            s += a[j][i];
        total += {value};
    }}
#pragma endscop
    return total;
}}
"""
    assert parting_faults(*parted(text)) == []


def test_a_size_of_another_type_is_another_value() -> None:
    whole, now = parted(SUMS.replace("s * b[i]", "s * b[i] / n"))
    assert parting_faults(whole, now) == []
    (made,) = now.arrays.keys() - whole.arrays.keys()
    narrow = replace(now.arrays[made], element=now.arrays["b"].element)
    assert parting_faults(whole, replace(now, arrays=now.arrays | {made: narrow})) != []
