"""Subscripts that go round: `%` by a size, in each way that people write it, is one piece for each turn."""

from __future__ import annotations

import pytest

from polyc.model.scop import Scop

from .conftest import Modeller

NEXT = "(i < n - 1 and x = i + 1) or (i = n - 1 and x = 0)"
BEFORE = "(i > 0 and x = i - 1) or (i = 0 and x = n - 1)"
FUNCTIONS = """
#define WRAP(x, n) (((x) + (n)) % (n))
static inline int wrap(int x, int n) { return (x + n) % n; }
static inline int mod(int a, int n) { int r = a % n; return r < 0 ? r + n : r; }
static inline int twice(int a, int n) { return ((a % n) + n) % n; }
static inline int next(int i, int n) { return i + 1 < n ? i + 1 : 0; }
static inline int per(int i, int n) { if (i < 0) return i + n; if (i >= n) return i - n; return i; }
"""


def program(body: str, bounds: str = "int i = 0; i < n", arguments: str = "int n, int m, float *a, float *b") -> str:
    text = f"typedef unsigned long size_t;\n{FUNCTIONS}void f({arguments})\n{{\n#pragma scop\n"
    return f"{text}  for ({bounds}; i++)\n    {body}\n#pragma endscop\n}}\n"


def read_of(found: Scop) -> object:
    (access,) = [a for s in found.statements.values() for a in s.accesses if a.array == "a"]
    assert access.exact
    assert not found.notes
    return access.relation.intersect_domain(found.statements["S0"].domain).intersect_params(found.context)


@pytest.mark.parametrize(
    ("subscript", "cell"),
    [
        ("(i + 1) % n", NEXT),
        ("i == n - 1 ? 0 : i + 1", NEXT),
        ("i + 1 == n ? 0 : i + 1", NEXT),
        ("next(i, n)", NEXT),
        ("WRAP(i + 1, n)", NEXT),
        ("per(i + 1, n)", NEXT),
        ("mod(i + 1, n)", NEXT),
        ("(i + n - 1) % n", BEFORE),
        ("(i - 1 + n) % n", BEFORE),
        ("i == 0 ? n - 1 : i - 1", BEFORE),
        ("(i ? i : n) - 1", BEFORE),
        ("WRAP(i - 1, n)", BEFORE),
        ("wrap(i - 1, n)", BEFORE),
        ("mod(i - 1, n)", BEFORE),
        ("twice(i - 1, n)", BEFORE),
        ("per(i - 1, n)", BEFORE),
        ("(n - 1 - i) % n", "x = n - 1 - i"),
        ("i / n", "x = 0"),
        ("(2 * i) / n", "(2i < n and x = 0) or (2i >= n and x = 1)"),
    ],
)
def test_turns(subscript: str, cell: str, scop: Modeller) -> None:
    found = scop(program(f"b[i] = a[{subscript}];"))
    assert found.assumed.plain_is_universe()
    relation = read_of(found)
    wanted = f"[n] -> {{ S0[i] -> a[x] : 0 <= i < n and ({cell}) }}"
    assert relation == type(relation)(wanted)  # type: ignore[call-arg]


@pytest.mark.parametrize("body", ["{ int k = (i + 1) % n; b[i] = a[k]; }", "b[i] = a[(i + 1) % n];"])
@pytest.mark.parametrize("type_", ["int", "long", "size_t", "unsigned"])
def test_types(type_: str, body: str, scop: Modeller) -> None:
    arguments = f"{type_} n, int m, float *a, float *b"
    relation = read_of(scop(program(body.replace("int", type_), f"{type_} i = 0; i < n", arguments)))
    wanted = type(relation)(f"[n] -> {{ S0[i] -> a[x] : 0 <= i < n and ({NEXT}) }}")  # type: ignore[call-arg]
    if type_ != "unsigned":
        assert relation == wanted


def test_negative_remainders(scop: Modeller) -> None:
    """As C rounds: to zero."""
    found = scop(program("b[i] = a[(i - 3) % n + 2];", "int i = 1; i < n"))
    relation = read_of(found)
    wanted = type(relation)(  # type: ignore[call-arg]
        "[n] -> { S0[i] -> a[x] : 1 <= i < n and ((n > 2 and x = i - 1) or (n = 2 and x = 2)) }"
    )
    assert relation == wanted


@pytest.mark.parametrize(
    ("subscript", "assumed"),
    [
        ("(i + 1) % n", "true"),
        ("(i + 2) % n", "n <= 0 or n >= 2"),
        ("(i + 5) % n", "n <= 0 or n >= 5"),
        ("(i + n - 7) % n", "n <= 0 or n >= 3"),
    ],
)
def test_sizes_that_go_round_often(subscript: str, assumed: str, scop: Modeller) -> None:
    found = scop(program(f"b[i] = a[{subscript}];"))
    (access,) = [a for a in found.statements["S0"].accesses if a.array == "a"]
    assert access.exact
    assert found.assumed.is_equal(type(found.assumed)(f"[n] -> {{ : {assumed} }}"))


@pytest.mark.parametrize("subscript", ["i % m", "(i * 3) % m", "i % (m * n)", "(i + m) % n"])
def test_what_goes_round_any_number_of_times(subscript: str, scop: Modeller) -> None:
    found = scop(program(f"b[i] = a[{subscript}];"))
    (access,) = [a for a in found.statements["S0"].accesses if a.array == "a"]
    assert not access.exact
    assert [note.code for note in found.notes] == ["non-affine-index"]
    assert found.assumed.plain_is_universe()
