"""Temporaries that are needed after their loop: which ones iterations have for themselves, and where none has."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl
import pytest

from polyc.frontend import read
from polyc.frontend.region.conditions import within_new_arrays
from polyc.model.program import InputOptions, Options
from polyc.model.scop import Scop
from polyc.pipeline import compile_region
from polyc.runtime.check import check

from .conftest import Reader

HEAD = "int n, int m, double a[64][64], double b[64][64], double *restrict w, double *restrict t"


def region(body: str, head: str = HEAD) -> str:
    return f"double kept, out[64];\nvoid f({head}) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"


def modelled(read_text: Reader, text: str) -> Scop:
    (found,) = read_text(text).regions
    return found.scop


def own(found: Scop) -> set[str]:
    """The new variables."""
    return set() if found.whole is None else found.arrays.keys() - found.whole.arrays.keys()


FILLED = "for (int j = 0; j < m; j++) w[j] = a[i][j]; for (int j = 0; j < m; j++) b[i][j] = w[m - 1 - j];"


@pytest.mark.parametrize(
    ("body", "names"),
    [
        (f"for (int i = 0; i < n; i++) {{ {FILLED} }}", {"w_own"}),
        (f"for (int i = n - 1; i >= 0; i--) {{ {FILLED} }}", {"w_own"}),
        (f"for (int i = 0; i < n; i += 3) {{ {FILLED} }}", {"w_own"}),
        (f"for (int s = 0; s < 2; s++) for (int i = 0; i < n; i++) {{ {FILLED} a[i][s] = b[i][s]; }}", {"w_own"}),
        (f"for (int i = 0; i < n; i++) {{ {FILLED} }} for (int j = 0; j < m; j++) t[j] = w[j];", {"w_own"}),
        ("for (int i = 0; i < n; i++) { kept = a[i][0]; b[i][1] = kept * kept; }", {"kept_own"}),
        ("for (int i = 0; i < n; i++) { *t = a[i][0]; b[i][1] = *t * *t; }", {"t_own"}),
        (
            "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) { out[j] = a[i][j]; b[i][j] = out[j] * out[0]; }",
            {"out_own"},
        ),
        (  # changed in place, and no sum
            "for (int s = 0; s < n; s++) for (int i = 0; i < m; i++) {"
            " for (int j = 0; j <= i; j++) w[j] = a[i][j] + s; for (int j = 0; j <= i; j++) w[j] = w[j] * 2;"
            " for (int j = 0; j <= i; j++) out[s] += w[j]; }",
            {"w_own"},
        ),
        (
            f"for (int i = 0; i < n; i++) {{ kept = a[i][0]; {FILLED.replace('a[', 'kept * a[')} }}",
            {"kept_own", "w_own"},
        ),
    ],
)
def test_each_iteration_has_its_own(body: str, names: set[str], read_text: Reader) -> None:
    found = modelled(read_text, region(body))
    assert own(found) == names
    assert found.whole is not None
    assert not names & found.live_out
    assert names <= found.privatizable
    assert {note.code for note in found.notes} >= {"last-private"}
    assert "last-private" not in {note.code for note in found.whole.notes}


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < n; i++) { b[i][0] = w[0]; w[0] = a[i][0]; }",  # from one iteration to the next one
        "for (int i = 0; i < n; i++) { for (int j = 1; j < m; j++) w[j] = a[i][j]; b[i][0] = w[0]; }",  # from before
        "for (int i = 0; i < 64; i++) for (int j = i; j < 64; j++) { w[j] = a[i][j]; b[i][j] = w[j]; }",  # not the last
        "for (int i = 0; i < n; i++) { if (a[i][0] > 0) w[0] = a[i][0]; b[i][0] = w[0]; }",  # or not at all
        "for (int i = 0; i < n; i++) w[0] = a[i][0];",  # nobody reads it
        "for (int i = 0; i < 4; i++) { w[0] = a[i][0]; b[i][0] = w[0]; }",  # the last one is a quarter of all
        "for (int i = 1; i < n; i++) { w[0] = b[i - 1][0]; b[i][0] = w[0] * 2; }",  # its iterations wait anyway
    ],
)
def test_where_none_has(body: str, read_text: Reader) -> None:
    found = modelled(read_text, region(body))
    assert found.whole is None
    assert not own(found)


def test_the_last_iteration_has_the_variable_itself(read_text: Reader) -> None:
    found = modelled(read_text, region(f"for (int i = 2; i < n; i++) {{ {FILLED} }}"))
    writes = {s.name: s for s in found.statements.values() if any(a.array == "w" for a in s.accesses)}
    assert len(found.statements) == 4
    assert len(writes) == 2
    for statement in writes.values():
        assert not statement.domain.is_empty()
        assert statement.domain.dim_min(0).is_equal(statement.domain.dim_max(0))


def test_a_promise_that_nobody_reads_a_row_takes_nothing_away() -> None:
    options = InputOptions(live_out=("b",))
    (found,) = read("t.c", options, text=region(f"for (int i = 0; i < n; i++) {{ {FILLED} }}")).regions
    assert found.scop.live_out == {"b"}
    assert own(found.scop) == {"w_own"}
    (note,) = (note.message for note in found.scop.notes if note.code == "last-private")
    assert note.startswith("'w' is memory that others know of: each iteration of i but the last one")


def test_new_arrays_hold_what_is_touched(read_text: Reader) -> None:
    """A parameter may be declared with fewer elements than are touched: its copies have so many, and the guard asks."""
    found = modelled(read_text, region(f"for (int i = 0; i < n; i++) {{ {FILLED} }}"))
    assert found.whole is not None
    short = replace(found.arrays["w_own"], extents=(isl.PwAff("[n] -> { [(n)] }"),))
    short_one = replace(found, arrays=found.arrays | {"w_own": short})
    assert not short_one.assumed.is_subset(isl.Set("[n, m] -> { : m <= n }"))
    assert within_new_arrays(short_one, found.whole).assumed.is_subset(isl.Set("[n, m] -> { : m <= n or n <= 1 }"))


HALVES = """
void halves(int n, int m, float a[n][n], float *t)
{
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < m / 2; j++)
            t[j] = a[i][2 * j] + a[i][2 * j + 1];
        for (int j = 0; j < m / 2; j++)
            a[i][j] = t[j];
    }
}
"""


def test_a_row_of_which_tiles_keep_an_element_is_of_use() -> None:
    """Both loops in one, where no iteration needs the row any more: it lets the rows run at once all the same."""
    (found,) = read("t.c", InputOptions(detect=True), text=HALVES).regions
    result = compile_region(found, Options(threads="always"))
    assert result.verified
    assert "#pragma omp parallel for\n" in result.text
    assert "float t_own_here = a[i][2 * j] + a[i][2 * j + 1];" in result.text


WHOLE = """
void whole(int n, int m, double a[n][n], double *t)
{{
#pragma scop
    for (int i = 0; i < m; i++) {{
        for (int j = 0; j < m / {part}; j++) {{
            t[j] = a[i][2 * j] + a[i][2 * j + 1];
            t[m / {part} + j] = a[i][2 * j] - a[i][2 * j + 1];
        }}
        for (int j = 0; j < m; j++)
            a[i][j] = t[j];
    }}
#pragma endscop
}}
"""


@pytest.mark.parametrize(("part", "names"), [(2, {"t_own"}), (3, set())])
def test_lengths_that_have_to_be_even(part: int, names: set[str], read_text: Reader) -> None:
    """With an odd one each iteration reads the last element of what an iteration before it left, or somebody else."""
    (found,) = read_text(WHOLE.format(part=part)).regions
    assert own(found.scop) == names
    odd = isl.Set("[m] -> { : m > 4 and m mod 2 = 1 }")
    assert found.scop.known.is_disjoint(odd) == bool(names)
    result = compile_region(found, Options(threads="always"))
    assert result.verified
    assert ("m % 2 == 0" in result.text) == bool(names)
    assert ("double t_own" in result.text) == bool(names)
    assert check(found, result, sizes=(1, 2, 7, 8, 33, 40)) == []
