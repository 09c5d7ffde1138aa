"""Bounds of subscripts that depend on data."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.programs import region_of

BOUNDED = {
    "clamped below and above": ("int k = MIN(MAX((int)(x[i] * 7), 0), 6);", "k", "0 <= o0 <= 6"),
    "the next one": ("int k = MIN(MAX((int)(x[i] * 7), 0), 6);", "k + 1", "0 < o0 <= 7"),
    "set after its declaration": ("int k; k = MIN(MAX((int)(x[i] * 7), 0), 6);", "k", "0 <= o0 <= 6"),
    "without a variable": ("", "MIN(MAX((int)(x[i] * 7), 0), 6)", "0 <= o0 <= 6"),
    "the other way round": ("int k = MAX(MIN(b[i], 6), 0);", "k", "0 <= o0 <= 6"),
    "bounded above": ("", "MIN(b[i], 6)", "o0 <= 6"),
    "times two": ("int k = MIN(MAX(b[i], 1), 3);", "2 * k", "2 <= o0 <= 6"),
    "counted": ("int k = MIN(MAX(b[i], 0), 6); k++;", "k", "0 < o0 <= 7"),
    "in place": ("int k = MIN(MAX(b[i], 0), 6); k += 3;", "k", "3 <= o0 <= 9"),
    "a bound that is negative": ("int k = MIN(MAX(b[i], -1), 6);", "k", "-1 <= o0 <= 6"),
    "less": ("int k = MIN(MAX(b[i], 0), 6);", "k - 1", "-1 <= o0 <= 5"),
    "one that wraps": ("unsigned char k = MIN(MAX(b[i], 0), 1000);", "k", "0 <= o0 <= 255"),
}
UNBOUNDED = {
    "anything": ("int k = b[i];", "k"),
    "two values": ("int k = MIN(MAX(b[i], 0), 6); k = b[i];", "k"),
    "another comparison": ("int k = b[i] < 3 ? b[i + 1] : 3;", "k"),
}


def relation(body: str, subscript: str, folder: Path) -> str:
    """What `p` may be read at."""
    text = f"""
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
void f(const float (*p)[100], const float x[100], const int b[101], float out[100])
{{
#pragma scop
    for (int i = 0; i < 100; i++) {{
        {body}
        out[i] = p[{subscript}][i];
    }}
#pragma endscop
}}
"""
    scop = region_of(text, folder).scop
    (found,) = [a for s in scop.statements.values() for a in s.accesses if a.array == "p"]
    assert not found.exact
    return str(found.relation)


@pytest.mark.parametrize("name", BOUNDED)
def test_bounded(name: str, tmp_path: Path) -> None:
    body, subscript, bounds = BOUNDED[name]
    assert relation(body, subscript, tmp_path).endswith(f"0 <= i <= 99 and {bounds} }}")


@pytest.mark.parametrize("name", UNBOUNDED)
def test_unbounded(name: str, tmp_path: Path) -> None:
    assert "o0 <" not in relation(*UNBOUNDED[name], tmp_path).partition(":")[2]


@pytest.mark.parametrize("made", [False, True])
def test_a_table_of_which_no_size_is_known(made: bool, tmp_path: Path) -> None:
    """Bytes choose 256 elements at most; of a table that the region makes all of these would be made in each tile."""
    text = f"""
void f(int n, const unsigned char *in, float *restrict table, float *restrict out)
{{
#pragma scop
    {"for (int k = 0; k < n; k++) table[k] = k;" if made else ""}
    for (int i = 0; i < n; i++)
        out[i] = table[in[i]];
#pragma endscop
}}
"""
    scop = region_of(text, tmp_path).scop
    (found,) = [a for s in scop.statements.values() for a in s.accesses if a.array == "table" and not a.exact]
    assert ("<= 255" in str(found.relation)) is not made
