"""Interval analysis: subscripts that data decide, between sizes that clamps and conditions name."""

from __future__ import annotations

import random
import re
import subprocess
from pathlib import Path

import islpy as isl
import pytest

from polyc.analysis.ends import Ends, rounded
from polyc.codegen.text.printer import expression
from polyc.frontend import read
from polyc.frontend.c.state import Env
from polyc.frontend.sets import intervals
from polyc.model.program import InputOptions, Options
from polyc.pipeline import compile_region
from tests.programs import region_of

HEAD = """
float floorf(float);
float fminf(float, float);
float fmaxf(float, float);
static int clamp(int v, int lo, int hi) { return v < lo ? lo : v > hi ? hi : v; }
"""
BETWEEN = {
    "floats that are clamped": (
        "float v = x[i]; if (v < 0.5f) v = 0.5f; if (v > n + 0.5f) v = n + 0.5f; int k = (int)v;",
        "k",
        "n <= 2097152 and 0 <= o0 <= n",
    ),
    "the next one": (
        "double v = z[i]; if (v < 0) v = 0; if (v > n - 1) v = n - 1; int k = (int)v, l = k + 1;",
        "l",
        "0 < o0 <= n",
    ),
    "an integer": ("int k = (int)z[i]; if (k < 0) k = 0; if (k > n - 2) k = n - 2;", "k", "-1 <= o0 <= -2 + n"),
    "one of two": ("int k = b[i]; if (k < 0) k = 0; else if (k >= n) k = n - 1;", "k", "0 <= o0 < n"),
    "a function": ("int k = clamp(b[i], 0, n - 1);", "k", "0 <= o0 < n"),
    "a condition": ("int k = b[i]; if (k >= 0 && k < n)", "k", "0 <= o0 < n"),
    "a condition that leaves": ("int k = b[i]; if (k < 0 || k >= n) continue;", "k", "0 <= o0 < n"),
    "floor": ("int k = (int)floorf(x[i]); if (!(k < 1 || n <= k))", "k - 1", "0 <= o0 <= -2 + n"),
    "fmin": ("int k = (int)fminf(fmaxf(x[i], 0), n - 1);", "k", "0 <= o0 < n"),
    "a remainder": ("int k = b[i]; if (k < 0) k = 0; k = k % n;", "k", "0 <= o0 < n"),
    "a loop inside": ("int k = b[i]; if (k < 0) k = 0; while (k >= n) k -= n;", "k", ""),
}


def relation(body: str, subscript: str, folder: Path) -> str:
    text = f"""{HEAD}
void f(int n, const float *p, const float *x, const double *z, const int *b, float *out)
{{
#pragma scop
    for (int i = 0; i < n; i++) {{
        {body}
        out[i] = p[{subscript}];
    }}
#pragma endscop
}}
"""
    scop = region_of(text, folder).scop
    (found,) = [a for s in scop.statements.values() for a in s.accesses if a.array == "p" and not a.exact]
    return str(found.relation.intersect_params(scop.known))


STRETCHED = """
void stretch(const float *a, int w, int h, float *out, int m, int n, float s, float t)
{
    for (int y = 0; y < m; y++) {
        float v = (y + 0.5f) * t - 0.5f;
        if (v < 0) v = 0;
        int k = (int)v;
        for (int x = 0; x < n; x++) {
            float u = x * s;
            int l = (int)u;
            out[y * n + x] = a[k * w + l] * (v - k) + a[k * w + l + 1] * (u - l);
        }
    }
}
"""


def test_products_that_the_text_computes(tmp_path: Path) -> None:
    """The text asks for them, with a sign, and how large they are."""
    (region,) = read("t.c", InputOptions(detect=True), text=STRETCHED).regions
    compiled = compile_region(region, Options())
    assert compiled.certificate is not None
    assert (compiled.certificate.text, compiled.certificate.run) == ("shown", "agrees")
    assert all(part in compiled.in_file for part in ("s >= 0", "t >= 0", "(int)((n - 1.0f) * s + 0.25f) <= 65536"))


@pytest.mark.parametrize("name", [name for name, case in BETWEEN.items() if case[2]])
def test_between_sizes(name: str, tmp_path: Path) -> None:
    body, subscript, wanted = BETWEEN[name]
    found = isl.Map(relation(body, subscript, tmp_path))
    assert found.range().is_subset(isl.Set(f"[n] -> {{ p[o0] : {wanted} }}"))


def test_what_a_loop_changes_is_not_known(tmp_path: Path) -> None:
    found = isl.Map(relation(*BETWEEN["a loop inside"][:2], tmp_path))
    assert not found.range().is_bounded()


@pytest.mark.parametrize(
    "body",
    [
        "int k = b[i]; if (k < n) { k = b[i + 1]; }",
        "unsigned k = b[i]; if (k > n) k = n;",
        "int k = b[i]; if (k >= 0 || k < n)",
        "int k = b[i]; if (b[i] >= 0 && b[i] < n)",
        "int k = b[i]; if (k < 0) k = 0; if (k < n) out[0] = 1;",
        "float v = x[i] * n; int k = (int)v;",
    ],
)
def test_not_between_sizes(body: str, tmp_path: Path) -> None:
    found = isl.Map(relation(body, "k", tmp_path)).intersect_params(isl.Set("[n] -> { : n = 5 }"))
    assert not found.range().is_bounded()


class Drawn:
    """A function with clamps, conditions and arithmetic of two variables; its subscripts are what is known of."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        pick = self.random.choice
        plain = f"x[i]{pick(['', ' * 0.5f', ' - n', ' + 0.25f'])}"
        scaled = pick(
            ["(i + 0.5f) * s - 0.5f", "i * s", "n - i * s", "i / t", "(i - 3) * s / t + 1", "i * (float)n / t"]
        )
        self.lines += [f"float v = {pick([plain, scaled])};", "int k = b[i];"]
        for _ in range(self.random.randint(1, 6)):
            self.lines.append(self.statement(2))
        self.lines.append(pick(["", "k = (int)v;", "k = (int)floorf(v);", "int l = k; k = l + 1;"]))
        self.lines.append(pick(["", "if (k >= 0 && k < n)", "if (!(k < -2 || n <= k))", "if (k <= n + 1 && k > -3)"]))
        self.index = pick(["k", "k", "k + 1", "n - k", "2 * k", "k < 0 ? 0 : k", "k > n ? n : k"])

    def bound(self, real: bool) -> str:
        pick = self.random.choice
        whole = pick(["0", "1", "n", "n - 1", "n + 2", "-2", "3"])
        return whole if not real or self.random.random() < 0.5 else f"{whole} + {pick(['0.5f', '0.3f', '0.99f'])}"

    def statement(self, depth: int) -> str:
        pick, (name, real) = self.random.choice, self.random.choice([("v", True), ("k", False)])
        kind = self.random.randint(0, 7)
        op, bound = pick(["<", "<=", ">", ">="]), self.bound(real)
        if kind <= 3:
            return f"if ({name} {op} {bound}) {name} = {bound};"
        if kind == 4:
            return f"{name} = {name} {op} {bound} ? {bound} : {name};"
        if kind == 5 and depth:
            other = f" else {self.statement(depth - 1)}" if pick([True, False]) else ""
            return f"if ({name} {op} {bound}) {{ {self.statement(depth - 1)} }}{other}"
        if kind == 6:
            return f"{name} {pick(['+=', '-=', '='])} {bound};"
        return pick(
            [f"v = fminf(v, {self.bound(True)});", f"v = fmaxf(v, {self.bound(True)});", "k++;", "v = floorf(v);"]
        )

    def function(self, number: int) -> str:
        body = "\n        ".join(self.lines)
        return f"""void f{number}(int n, const float *p, const float *x, const int *b, float *out, float s, float t)
{{
#pragma scop
    for (int i = 0; i < n; i++) {{
        {body}
        out[i] = p[{self.index}];
    }}
#pragma endscop
}}
"""

    def checked(self, number: int, lows: list[str], highs: list[str]) -> str:
        """The function, which says where a subscript is below or above all ends that are known."""
        wrong = [
            " && ".join(f"({self.index}) < {one}" for one in lows),
            " && ".join(f"({self.index}) > {one}" for one in highs),
        ]
        test = " || ".join(f"({one})" for one in wrong if one) or "0"
        body = re.sub(r"\b([xb])\[i\]", r"\1[j]", "\n        ".join(self.lines))
        return f"""static int f{number}(int n, const float *x, const int *b, float s, float t)
{{
    for (int j = 0; j < 400; j++) {{
        int i = j % n;
        {body}
        if ({test})
            return printf("f{number} at n = %d: %d\\n", n, {self.index});
    }}
    return 0;
}}
"""


def ends_of(drawn: Drawn, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], list[str]]:
    """What is said of the subscript of `p`, as C."""
    found: list[tuple[Ends, Ends]] = []
    around = intervals.Intervals.around

    def noted(self: intervals.Intervals, subscript: object, env: Env) -> object:
        result = around(self, subscript, env)  # type: ignore[arg-type]
        value = self.value(subscript, self.used)  # type: ignore[arg-type]
        found.append((rounded(value.low, True), rounded(value.high, False)))
        return result

    monkeypatch.setattr(intervals.Intervals, "around", noted)
    region_of(HEAD + drawn.function(0), folder)
    monkeypatch.undo()

    def in_c(ends: Ends) -> list[str]:
        forms = ((one.constant // 4, [(factor // 4, term) for term, factor in one.terms]) for one in ends or ())
        return [" + ".join([str(q), *(f"{k} * ({expression(term)})" for k, term in terms)]) for q, terms in forms]

    return (in_c(found[0][0]), in_c(found[0][1])) if found else ([], [])


@pytest.mark.slow
def test_drawn_functions_stay_between_their_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts, known = [], 0
    count = 80
    for number in range(count):
        drawn = Drawn(number)
        lows, highs = ends_of(drawn, tmp_path, monkeypatch)
        known += bool(lows) + bool(highs)
        texts.append(drawn.checked(number, lows, highs))
    calls = "\n        ".join(f"wrong += f{number}(n, x, b, s, t);" for number in range(count))
    text = f"""#include <math.h>
#include <stdio.h>
#include <stdlib.h>
{"".join(texts)}
int main(void)
{{
    static float x[400];
    static int b[400];
    int wrong = 0;
    for (int n = 1; n < 12; n++) {{
        for (int i = 0; i < 400; i++) {{
            x[i] = (rand() % 4001 - 2000) / 97.0f;
            b[i] = rand() % 41 - 20;
        }}
        float s = rand() % 100 / 37.0f, t = (rand() % 100 + 1) / 17.0f;
        {calls}
    }}
    return wrong != 0;
}}
"""
    (tmp_path / "run.c").write_text(text)
    subprocess.run(["gcc", "-w", "-O1", str(tmp_path / "run.c"), "-o", str(tmp_path / "run"), "-lm"], check=True)
    done = subprocess.run([tmp_path / "run"], capture_output=True, text=True, check=False)
    assert not done.stdout
    assert known > count // 2


@pytest.mark.parametrize("kept", ["k = k % n;", "if (k >= -3 && k < n)", "if (k == -2)"])
def test_what_was_asked_for_an_end_is_asked_as_long_as_it_counts(kept: str) -> None:
    """That `i * s` is at least 0 holds for s >= 0 only, whatever else is known of it then."""
    text = f"""
void f(int n, const float *p, float *restrict out, float s)
{{
#pragma scop
    for (int i = 0; i < n; i++) {{
        float v = i * s;
        int k = (int)v;
        {kept}
            out[i] = p[k];
    }}
#pragma endscop
}}
"""
    (region,) = read("t.c", InputOptions(), text=text).regions
    (found,) = [a for s in region.scop.statements.values() for a in s.accesses if a.array == "p"]
    if found.relation.range().is_subset(isl.Set("[n] -> { p[o0] : o0 >= 0 }")):
        assert any(one.name == "s_ge_0" for one in region.scop.parameters)
