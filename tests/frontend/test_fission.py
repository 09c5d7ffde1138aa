"""Scalars that iterations hand on to each other: where that becomes a loop of its own, and where it does not."""

from __future__ import annotations

import pytest

from polyc.codegen.text.printer import statement
from polyc.model.scop import Scop

from .conftest import Modeller, Reader

HEAD = (
    "void f(int n, int m, double a[64][64], double b[64][64], double *restrict w, double *restrict t, int *restrict k)"
)
SUM = "double s = 0; for (int j = 0; j < m; j++) s += a[i][j]; b[i][0] = s;"


def region(body: str) -> str:
    return (
        f"#include <math.h>\n{HEAD} {{\n#pragma scop\nfor (int i = 0; i < n; i++) {{ {body} }}\n#pragma endscop\n}}\n"
    )


def modelled(read_text: Reader, text: str) -> Scop:
    (found,) = read_text(text).regions
    return found.scop


def made(found: Scop) -> set[str]:
    """The new arrays."""
    return set() if found.whole is None else found.arrays.keys() - found.whole.arrays.keys()


def texts(found: Scop, array: str) -> list[str]:
    users = [s for s in found.statements.values() if any(a.array == array for a in s.accesses)]
    return ["".join(statement(s.body, 0)) for s in users]


@pytest.mark.parametrize(
    ("body", "stored", "taken"),
    [
        ("*t += s;", "NEW[i] = s;", "*t += NEW[i];"),
        ("*t += s * s;", "NEW[i] = s * s;", "*t += NEW[i];"),
        ("w[n] -= sqrt(s) + a[i][1];", "NEW[i] = sqrt(s) + a[i][1];", "w[n] -= NEW[i];"),
        ("if (s > *t) *t = s;", "NEW[i] = s;", "*t = NEW[i] > *t ? NEW[i] : *t;"),
    ],
)
def test_what_goes_into_a_sum_is_kept(body: str, stored: str, taken: str, read_text: Reader) -> None:
    found = modelled(read_text, region(f"{SUM} {body}"))
    assert found.whole is not None
    (name,) = made(found)
    assert [text.replace(name, "NEW").replace("t[0]", "*t") for text in texts(found, name)] == [stored, taken]
    assert {note.code for note in found.notes} >= {"sum-apart"}
    assert "sum-apart" not in {note.code for note in found.whole.notes}


def test_a_loop_of_sums_takes_what_is_kept(read_text: Reader) -> None:
    found = modelled(read_text, region(f"{SUM} for (int j = 0; j < m; j++) w[j] += s * a[i][j];"))
    (name,) = made(found)
    assert texts(found, name) == [f"{name}[i] = s;", f"w[j] += {name}[i] * a[i][j];"]


def test_what_waits_itself_is_not_kept(read_text: Reader) -> None:
    """What is added has `r`, which reads what the sums give: it is known in their own loop only (20281201:39)."""
    waits = "double r = 1; for (int j = 0; j < m; j++) if (k[i] > 3) r += w[j]; w[3] -= s + r;"
    found = modelled(read_text, region(f"{SUM} {waits}"))
    (name,) = made(found)
    assert texts(found, name)[0] == f"{name}[i] = s;"
    assert [text for text in texts(found, "w") if "-=" in text] == [f"w[3] -= {name}[i] + r;"]


@pytest.mark.parametrize(
    "body",
    [
        f"{SUM} *t += b[i][0];",  # what it reads stays
        "for (int j = 0; j < m; j++) b[i][j] = a[i][j]; if (b[i][0] > *t) { *t = b[i][0]; *k = i; }",
        f"for (int l = 0; l < m; l++) {{ {SUM} *t += s * l; }}",
        f"{SUM} *t += s; *w = *w * 0.5 + s;",
        "double s = 1; for (int j = 0; j < m; j++) { s *= a[i][j]; if (s < 0.1) break; } b[i][0] = s; *t += s;",
    ],
)
def test_it_has_a_loop_of_its_own(body: str, read_text: Reader) -> None:
    found = modelled(read_text, region(body))
    assert found.whole is not None
    assert len(found.statements) >= len(found.whole.statements)


@pytest.mark.parametrize(
    "body",
    [
        "*t += a[i][0];",  # nothing else is done
        f"{SUM} *t += s; w[i] = *t;",  # somebody else reads it
        "double s = *t; for (int j = 0; j < m; j++) s += a[i][j]; b[i][0] = s; *t += s;",
        "for (int j = 0; j < m; j++) b[0][j] = a[i][j]; *t += b[0][1];",  # what it reads is overwritten
        "for (int j = 0; j < m; j++) b[i + 1][j] = b[i][j] * a[i][j]; *t += b[i][0];",  # iterations wait anyway
        f"{SUM} *t += s; use(t);",
    ],
)
def test_where_it_stays(body: str, scop: Modeller, read_text: Reader) -> None:
    text = region(body).replace("#include <math.h>", "void use(double *);")
    assert not made(modelled(read_text, text))


SEARCH = """
void f(int n, const char *restrict p, const char pat[4], int *restrict flag, long *restrict hits)
{
#pragma scop
    for (int r = 0; r < n; r++) {
        int found = START;
        for (int i = 0; i < 12; i++) {
            int ok = 1;
            for (int j = 0; j < 4; j++)
                if (p[40 * r + i + j] != pat[j]) { ok = 0; break; }
            found |= ok;
        }
        flag[r] = found;
        *hits += found;
    }
#pragma endscop
}
"""


@pytest.mark.parametrize(("start", "parted"), [("0", False), ("*hits > 3", True)])
def test_inside_of_a_loop_that_only_counts_it_stays(start: str, parted: bool, read_text: Reader) -> None:
    """Rows are searched in parallel, and their counts added up: a loop of its own for `found` would bring nothing."""
    assert bool(made(modelled(read_text, SEARCH.replace("START", start)))) == parted
