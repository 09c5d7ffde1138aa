"""Variables for subscripts that are declared before the loops, or corrected by an `if`."""

from __future__ import annotations

import pytest

from polyc.model.scop import Scop

from .conftest import Modeller

HEAD = "void use(int *);\nint f(int n, unsigned u, float *a, float *b, int *d)"
AROUND = "(i < n - 1 and x = i + 1) or (i = n - 1 and x = 0)"
BEFORE = "(i > 0 and x = i - 1) or (i = 0 and x = n - 1)"
CLAMP = "(i > 0 and x = i - 1) or (i = 0 and x = 0)"


def program(body: str, before: str = "int i, k, q;", after: str = "return 0;") -> str:
    loop = f"for (i = 0; i < n; i++) {{ {body} }}"
    return f"{HEAD}\n{{\n{before}\n#pragma scop\n{loop}\n#pragma endscop\n{after}\n}}\n"


def is_exact(found: Scop) -> bool:
    return all(a.exact for s in found.statements.values() for a in s.accesses if a.array == "a")


@pytest.mark.parametrize(
    ("body", "cell"),
    [
        ("k = (i + 1) % n; b[i] = a[k];", AROUND),
        ("k = i + 1; if (k == n) k = 0; b[i] = a[k];", AROUND),
        ("k = i + 1; if (k >= n) { k -= n; } b[i] = a[k];", AROUND),
        ("int s = i - 1; if (s < 0) s += n; b[i] = a[s];", BEFORE),
        ("int s = i - 1, t = i + 1; if (s < 0) s = n - 1; if (t == n) t = 0; b[i] = a[s]; d[t] = 1;", BEFORE),
        ("int s; if (i == 0) s = n - 1; else s = i - 1; b[i] = a[s];", BEFORE),
        ("if (i == 0) k = n - 1; else k = i - 1; b[i] = a[k];", BEFORE),
        ("int s = i - 1; if (s < 0) s = 0; if (s >= n) s = n - 1; b[i] = a[s];", CLAMP),
        ("k = i; d[k] = 2; k = (i + 1) % n; b[i] = a[k];", AROUND),
        ("k = i; { q = k; d[q] = 1; } k = k ? k : n; b[i] = a[k - 1];", BEFORE),
    ],
)
def test_they_are_followed(body: str, cell: str, scop: Modeller) -> None:
    found = scop(program(body))
    assert is_exact(found)
    name, (read,) = next(
        (name, accesses)
        for name, s in found.statements.items()
        if (accesses := [a for a in s.accesses if a.array == "a"])
    )
    wanted = type(read.relation)(f"[n] -> {{ {name}[i] -> a[x] : 0 <= i < n and ({cell}) }}")
    assert read.relation.intersect_domain(found.statements[name].domain).is_equal(wanted)
    assert not found.notes


@pytest.mark.parametrize(
    ("body", "before", "after"),
    [
        ("b[i] = a[k]; k = i;", "int i, k = 0;", "return 0;"),
        ("k = (i + 1) % n; b[i] = a[k];", "int i, k;", "return k;"),
        ("k = (i + 1) % n; b[i] = a[k];", "int i, k; use(&k);", "return 0;"),
        ("if (d[i]) k = i; b[i] = a[k];", "int i, k = 0;", "return 0;"),
        ("k = d[i]; b[i] = a[k];", "int i, k;", "return 0;"),
        ("k = i; do { b[k] = a[k]; k = k + 1; } while (k < i + 3);", "int i, k;", "return 0;"),
        ("{ k = i; } b[i] = a[k];", "int i, k;", "return 0;"),
    ],
)
def test_what_is_no_index(body: str, before: str, after: str, scop: Modeller) -> None:
    assert not is_exact(scop(program(body, before, after)))


def test_unsigned_numbers_are_compared_as_they_are(scop: Modeller) -> None:
    """`u - 1` is never negative, an int that it is given may be."""
    found = scop(program("int s = u - 1; if (s < 0) s = 0; b[i] = a[s];"))
    (read,) = [a for s in found.statements.values() for a in s.accesses if a.array == "a"]
    at_zero = read.relation.intersect_params(type(found.context)("[u] -> { : u = 0 }"))
    assert not read.exact or at_zero.range().is_subset(type(found.domain.get_set_list().get_at(0))("{ a[0] }"))


def test_a_name_at_the_top_of_the_region_stays(scop: Modeller) -> None:
    text = f"{HEAD}\n{{\nint k;\n#pragma scop\nk = n / 2;\nb[k] = a[k];\n#pragma endscop\nk = 3;\nreturn k;\n}}\n"
    assert list(scop(text).statements)


@pytest.mark.parametrize(
    "body",
    [
        "int s = i - 1; if (s < 0) s = 0; else if (s >= n) s = n - 1; b[i] = a[s];",
        "int s = i - 1; s = s < 0 ? 0 : s >= n ? n - 1 : s; b[i] = a[s];",
        "int s; if (i == 0) { s = 1; s -= 1; } else if (i == n) s = 0; else s = i - 1; b[i] = a[s];",
        "int s = i - 1; if (s < 0) { s = -s; if (s == 1) s = 0; } b[i] = a[s];",
        "int s = abs(i - 1); if (i == 0) s = 0; b[i] = a[s];",
        "int s = i - 1; s = abs(s); if (i == 0) s -= 1; b[i] = a[s];",
    ],
)
def test_branches_of_branches_are_followed(body: str, scop: Modeller) -> None:
    test_they_are_followed(body, CLAMP, scop)


@pytest.mark.parametrize(
    "body",
    [
        "int s; if (i == 0) s = 0; else if (i == 1) s = 1; b[i] = a[s];",  # it may have no value
        "int s = i - 1; if (s < 0) s = 0; else q = 2; b[i] = a[s];",  # something else is done
        "int s = i - 1; if (s < 0) s = 0; else if (d[i]) s = 1; b[i] = a[s];",
        "unsigned s = i; s = abs((long)s - 1); b[i] = a[s];",  # another type
    ],
)
def test_branches_of_branches_that_are_not(body: str, scop: Modeller) -> None:
    assert not is_exact(scop(program(body)))


@pytest.mark.parametrize(
    ("before", "inside", "end", "followed"),
    [
        ("", "int cur = 0;", "n", True),
        ("", "int cur = 0;", "n - cur", False),
        ("", "static int cur = 0;", "n", False),
        ("int cur;", "cur = 0;", "n", False),
    ],
)
def test_an_index_in_turn(before: str, inside: str, end: str, followed: bool, scop: Modeller) -> None:
    """A remainder, unless the loop's end asks for it, or the next call does."""
    found = scop(f"""{before}
    void f(int n, double a[2][64])
    {{
        {inside}
    #pragma scop
        for (int t = 0; t < {end}; t++) {{
            for (int j = 0; j < 64; j++)
                a[1 - cur][j] = a[cur][j] + 1;
            cur = 1 - cur;
        }}
    #pragma endscop
    }}""")
    assert ("cur" not in found.arrays) is followed


def test_what_leads_nowhere_keeps_its_branches(scop: Modeller) -> None:
    """Each of them as a choice between choices would compute the ones before it twice."""
    found = scop(program("int s = u; if (d[i] & 1) s += 2; if (d[i] & 2) s += 4; b[i] = s;"))
    assert len(found.statements) == 4
