"""Which statement instances run, and in which order: compared with what the C program itself does.

Each case's statements are `S1(k, i)`. gcc sees a printf; polyc an assignment, and its domain and tree say the order.
"""

from __future__ import annotations

import re
import subprocess

import islpy as isl
import pytest

from polyc.frontend import read
from polyc.model.program import InputOptions
from polyc.model.scop import Scop
from polyc.model.tree import Member, Step, paths

CASES: dict[str, str] = {
    "up": "for (int i = 0; i < n; i++) S1(0, i);",
    "up_le": "for (int i = 1; i <= n; ++i) S1(0, i);",
    "down": "for (int i = n - 1; i >= 0; i--) S1(0, i);",
    "down_gt": "for (int i = n; i > m; --i) S1(0, i);",
    "flipped": "for (int i = 0; n > i; i++) S1(0, i);",
    "stride": "for (int i = m; i < n; i += 3) S1(0, i);",
    "stride_assign": "for (int i = 0; i < n; i = i + 2) S1(0, i);",
    "stride_left": "for (int i = 0; i < n; i = 2 + i) S1(0, i);",
    "stride_down": "for (int i = n; i >= -m; i -= 2) S1(0, i);",
    "stride_negative": "for (int i = n; i > 0; i += -2) S1(0, i);",
    "not_equal": "for (int i = 0; i != n + 1; i++) S1(0, i);",
    "not_equal_down": "for (int i = n; i != -1; i--) S1(0, i);",
    "not_equal_by": "for (int i = 0; i != n; i += 2) S1(0, i);",
    "not_equal_by_down": "for (int i = 3 * n + m; i != m; i -= 3) S1(0, i);",
    "not_equal_from": "int i = n & 3; for (; i != n; i += 4) S1(0, i);",
    "unsigned_not_equal_by": "unsigned i = u % 3; for (; i != u; i += 3) S1(0, (int)i);",
    "to_the_middle": "for (int i = 0, j = n - 1; i < j; i++, j--) S1(0, i);",
    "to_the_other": "for (int i = m, j = n; j >= i; j--, ++i) S1(0, i);",
    "to_both": "for (int i = 0, j = m; i < n && j > 2; i++, j--) S1(0, i);",
    "outside": "int i, j; for (i = 0; i < n; i++) for (j = i; j < m; j++) S2(0, i, j);",
    "triangle": "for (int i = 0; i < n; i++) for (int j = i; j < n; j++) S2(0, i, j);",
    "min_max": "for (int i = MAX(0, m - 3); i < MIN(n, m + 2); i++) S1(0, i);",
    "two_bounds": "for (int i = 0; i < n && i < m; i++) S1(0, i);",
    "two_bounds_sum": "for (int i = 0; i < n && 2 * i <= m + 3; i++) S1(0, i);",
    "or_bound": "for (int i = 0; i < n || i < m; i++) S1(0, i);",
    "gap": "for (int i = 0; i != 3 && i < n; i++) S1(0, i);",
    "ternary_bound": "for (int i = 0; i < (m > 2 ? n : 2); i++) S1(0, i);",
    "ternary_condition": "for (int i = 0; m > 1 ? i < n : i < 2; i++) S1(0, i);",
    "if_else": "for (int i = 0; i < n; i++) if (i < m) S1(0, i); else S1(1, i);",
    "if_chain": "for (int i = 0; i < n; i++) { if (i == 2) S1(0, i); else if (i > 3) S1(1, i); else S1(2, i); }",
    "logic": "for (int i = -n; i < n; i++) if (!(i > 1 && i != 3) || i == m) S1(0, i);",
    "modulo": "for (int i = -n; i < n; i++) if (i % 3 == 1) S1(0, i); else if (i % 3 == -1) S1(1, i);",
    "division": "for (int i = -n; i < n; i++) if (i / 2 == -1) S1(0, i);",
    "division_bound": "for (int i = -n / 2; i < n / 3; i++) S1(0, i);",
    "division_negative": "for (int i = -n; i < n; i++) if (i / -3 == 1 && i % -2 == 0) S1(0, i);",
    "shift_mask": "for (int i = 0; i < n; i++) if ((i & 3) == 2 || i >> 1 == 2 || i == 1 << 3) S1(0, i);",
    "truth": "for (int i = 0; i < n; i++) if (i % 2) S1(0, i); else if (m) S1(1, i);",
    "sequence": "for (int i = 0; i < n; i++) { S1(0, i); for (int j = 0; j < m; j++) S2(1, i, j); S1(2, i); } S0(3);",
    "nested_down": "for (int i = n; i > 0; i--) { for (int j = 0; j < i; j += 2) S2(0, i, j); S1(1, i); }",
    "shadowed": "for (int i = 0; i < n; i++) { for (int i = 1; i < m; i++) S1(0, i); S1(1, i); }",
    "shadowed_parameter": "for (int n = 0; n < m; n++) S1(0, n);",
    "unsigned": "for (unsigned i = 0; i < u; i++) S1(0, (int)i);",
    "unsigned_minus": "for (unsigned i = 0; i < u - 1; i++) S1(0, (int)i);",
    "unsigned_down": "for (unsigned i = u; i > 0; i--) S1(0, (int)i);",
    "unsigned_not_equal": "for (unsigned i = 2; i != u; i++) S1(0, (int)i);",
    "size_t": "for (size_t i = 0; i + 2 < z; i++) S1(0, (int)i);",
    "size_t_mixed": "for (int i = 0; i < z; i++) S1(0, i);",
    "short": "for (short i = 0; i < n; i++) S1(0, i);",
    "char": "for (unsigned char i = 0; i < 200; i += 50) S1(0, i);",
    "settled_local": "for (int i = 0; i < n; i++) { int k = i + m; for (int j = i; j < k; j++) S2(0, i, j); }",
    "const_local": "const int k = 4; for (int i = 0; i < k; i++) S1(0, i);",
    "product": "for (int i = 0; i < n * m; i++) S1(0, i);",
    "member": "for (int i = 0; i < p->n; i++) S1(0, i);",
    "cast": "for (long i = 0; i < (long)n * 2; i++) S1(0, (int)i);",
    "enum": "for (int i = 0; i < SIX; i++) if (i < n) S1(0, i);",
    "dead": "for (int i = 0; i < n; i++) { if (i < 0) S1(0, i); S1(1, i); }",
}
VALUES = [(0, 0), (1, 0), (5, 3), (6, 7), (3, 9)]
HEAD = """
#include <stddef.h>
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
enum { SIX = 6 };
struct size { int n; };
"""
FOR_POLYC = """
#define S0(k) A[k][0] = k
#define S1(k, i) A[k][i] = k
#define S2(k, i, j) A[k][i] = (k) + (j)
"""
FOR_GCC = """
#include <stdio.h>
#define S0(k) printf("%d\\n", k)
#define S1(k, i) printf("%d %d\\n", k, i)
#define S2(k, i, j) printf("%d %d %d\\n", k, i, j)
"""
SIGNATURE = "(int n, int m, unsigned u, size_t z, struct size *p, double A[9][99])"


def function(name: str, body: str) -> str:
    return f"void {name}{SIGNATURE} {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Scop]:
    path = tmp_path_factory.mktemp("iterations") / "cases.c"
    path.write_text(HEAD + FOR_POLYC + "".join(function(f"f_{n}", b) for n, b in CASES.items()))
    return {region.scop.function[2:]: region.scop for region in read(str(path), InputOptions()).regions}


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, int, int], list[tuple[int, ...]]]:
    """What the program prints for each case and each pair of values, but where the loop does not end."""
    folder = tmp_path_factory.mktemp("traces")
    calls = "".join(
        f'puts("@ {name} {n} {m}"); {{ struct size p = {{{n}}}; f_{name}({n}, {m}, {n}, {n}, &p, 0); }}\n'
        for name in CASES
        for n, m in VALUES
        if not endless(name, n)
    )
    source = HEAD + FOR_GCC + "".join(function(f"f_{n}", b) for n, b in CASES.items())
    (folder / "t.c").write_text(f"{source}int main(void) {{\n{calls}return 0; }}\n")
    subprocess.run(["gcc", "-w", "-o", folder / "t", folder / "t.c"], check=True)
    lines = subprocess.run([folder / "t"], capture_output=True, text=True, check=True).stdout.splitlines()
    found: dict[tuple[str, int, int], list[tuple[int, ...]]] = {}
    for line in lines:
        if line.startswith("@"):
            _, name, n, m = line.split()
            current = found.setdefault((name, int(n), int(m)), [])
        else:
            current.append(tuple(int(word) for word in line.split()))
    return found


def endless(name: str, n: int) -> bool:
    return (
        (name == "unsigned_minus" and n == 0)
        or (name == "unsigned_not_equal" and n < 2)
        or (name == "not_equal_by" and n % 2 > 0)
    )


def at(found: isl.Set | isl.UnionSet, values: dict[str, int]) -> isl.Set:
    for name, value in values.items():
        position = found.find_dim_by_name(isl.dim_type.param, name)
        if position >= 0:
            found = found.fix_val(isl.dim_type.param, position, isl.Val(value))
    return found


def instances(scop: Scop, values: dict[str, int]) -> list[tuple[int, ...]]:
    """(k, loop values) of every instance in the tree's order."""
    found: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    for path in paths(scop.tree):
        sets = path.instances.get_set_list()
        for index in range(sets.n_set()):
            domain = at(sets.get_at(index), values)
            statement = scop.statements[domain.get_tuple_name()]
            marked = re.match(r"S(\d)\((\d+)", statement.text)
            if marked is None:
                continue
            count, number = int(marked.group(1)), int(marked.group(2))
            points: list[isl.Point] = []
            domain.foreach_point(points.append)
            for point in points:
                order = tuple(s.index if isinstance(s, Step) else value_at(s, point) for s in path.steps)
                dims = tuple(coordinates(point))
                found.append((order, (number, *dims[len(dims) - count :])))
    return [instance for _, instance in sorted(found)]


def coordinates(point: isl.Point) -> list[int]:
    count = isl.Set.from_point(point).dim(isl.dim_type.set)
    return [point.get_coordinate_val(isl.dim_type.set, n).to_python() for n in range(count)]


def value_at(member: Member, point: isl.Point) -> int:
    union = isl.UnionSet.from_set(isl.Set.from_point(point))
    relation = isl.UnionMap.from_union_pw_aff(member.schedule)
    image = isl.Set.from_union_set(union.apply(relation))
    return int(image.sample_point().get_coordinate_val(isl.dim_type.set, 0).to_python())


@pytest.mark.parametrize("name", list(CASES))
def test_instances_run_in_the_order_of_c(
    name: str, models: dict[str, Scop], traces: dict[tuple[str, int, int], list[tuple[int, ...]]]
) -> None:
    scop = models[name]
    assert not any(s.opaque for s in scop.statements.values())
    compared = 0
    for n, m in VALUES:
        values = {"n": n, "m": m, "u": n, "z": n, "n_m": n * m, "p_n": n}
        if at(scop.context.intersect(scop.assumed), values).is_empty():
            continue
        compared += 1
        assert instances(scop, values) == traces[name, n, m], f"n = {n}, m = {m}"
    assert compared >= 2


@pytest.mark.parametrize(("name", "n"), [("unsigned_minus", 0), ("unsigned_not_equal", 1)])
def test_what_wraps_is_not_assumed_silently(name: str, n: int, models: dict[str, Scop]) -> None:
    scop = models[name]
    assert at(scop.context.intersect(scop.assumed), {"u": n}).is_empty()
    assert any(note.code == "assumed" for note in scop.notes)
