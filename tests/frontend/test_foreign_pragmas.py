"""Pragmas of other tools around loops that nobody marked: hints, and loops that OpenMP's threads share."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import pytest

from polyc.cli.run import no_gain
from polyc.codegen import render_file
from polyc.errors import UserError
from polyc.frontend import read
from polyc.frontend.text.foreign import Pragma, clauses
from polyc.model.program import InputOptions, Options
from polyc.model.scop import Source
from polyc.pipeline import compile_region

LOOP = "for (int i = 0; i < n; i++)\n        a[i] = b[i] + 1;"


def found_in(text: str, folder: Path, openmp: str = "keep", *, judged: bool = False) -> Source:
    file = folder / "t.c"
    file.write_text(text)
    judge = (lambda region: no_gain(compile_region(region, Options()))) if judged else (lambda region: None)
    return read(str(file), InputOptions(detect=True, openmp=openmp), judge)


def told(source: Source) -> list[str]:
    return [one.message.partition("stays as it is: ")[2] for one in source.left]


def function(body: str) -> str:
    return f"void g(void);\nvoid f(int n, double *restrict a, double *restrict b)\n{{\n{body}\n}}\n"


@pytest.mark.parametrize(
    "hint",
    [
        "#pragma ivdep",
        "#pragma GCC ivdep\n#pragma GCC unroll 4",
        "#pragma simd",
        "#pragma vector always",
        "#pragma novector",
        "#pragma loop_count min(8), max(64)",
        "#pragma omp simd safelen(8)",
        "#pragma clang loop vectorize(enable) \\\n   unroll(disable)",
        "#pragma nounroll\n\n/* a comment */",
        "#pragma STDC FP_CONTRACT ON",
        '_Pragma("GCC ivdep")',
        "IVDEP",
    ],
)
def test_a_hint_goes_with_its_loop(hint: str, tmp_path: Path) -> None:
    lines = hint.count("\n") + 1
    text = '#define IVDEP _Pragma("GCC ivdep")\n' + function(f"    g();\n    {hint}\n    {LOOP}\n    g();")
    source = found_in(text, tmp_path)
    (region,) = source.regions
    assert (region.scop.span.line, region.scop.end_line) == (6, 6 + lines + 1)
    assert region.indent == "    "
    assert told(source) == []
    assert {note.code for note in region.scop.notes} == {"ignored-pragma"}


@pytest.mark.parametrize(
    ("pragma", "reason"),
    [
        ("#pragma STDC FP_CONTRACT OFF", "it has a pragma of its own"),
        ("#pragma GCC diagnostic push", "it has a pragma of its own"),
        ("#pragma acc loop", "its function has pragmas of its own"),
        ("#pragma omp parallel for", "its function has pragmas of its own"),
    ],
)
def test_what_is_no_hint_keeps_its_loop(pragma: str, reason: str, tmp_path: Path) -> None:
    source = found_in(function(f"{pragma}\n    {LOOP}"), tmp_path)
    assert source.regions == ()
    assert told(source)[0].startswith(reason)


def test_a_hint_stays_where_its_loop_stays(tmp_path: Path) -> None:
    text = function(f"#pragma ivdep\n    for (int i = 0; i < n; i++)\n        g();\n    {LOOP}")
    source = found_in(text, tmp_path)
    out = render_file(source, [compile_region(region, Options()) for region in source.regions])
    assert "#pragma ivdep\n    for (int i = 0; i < n; i++)\n        g();\n" in out


def test_a_hint_stays_in_the_other_branch(tmp_path: Path) -> None:
    text = "void f(int n, double *a, double *b)\n{\n#pragma GCC ivdep\n    " + LOOP + "\n}\n"
    source = found_in(text, tmp_path)
    out = render_file(source, [compile_region(region, Options()) for region in source.regions])
    assert "as it was written */\n#pragma GCC ivdep\n" in out


BUILDS = {
    "a condition": f"#ifdef _OPENMP\n#pragma omp parallel for\n#endif\n    {LOOP}",
    "a macro": f"    PARALLEL_FOR\n    {LOOP}",
    "other code": "    for (int i = 0; i < n; i++) {\n#ifdef _OPENMP\n        b[i] = i;\n#endif\n"
    "        a[i] = b[i];\n    }",
    "both loops": "#ifdef _OPENMP\n#pragma omp parallel for\n    for (int i = 0; i < n; i++)\n#else\n"
    "    for (int i = 0; i < n; i++)\n#endif\n        a[i] = b[i];",
}
MACRO = '#ifdef _OPENMP\n#define PARALLEL_FOR _Pragma("omp parallel for")\n#else\n#define PARALLEL_FOR\n#endif\n'


@pytest.mark.parametrize(
    ("form", "keep", "replace"),
    [
        ("a condition", "its function has pragmas of its own in builds with OpenMP", None),
        ("a macro", "its function has pragmas of its own in builds with OpenMP", None),
        ("other code", "it has other code in builds with OpenMP", "it has other code in builds with OpenMP"),
        ("both loops", "its function has pragmas of its own in builds with OpenMP", "an '#else' in it belongs"),
    ],
)
def test_directives_of_the_other_build(form: str, keep: str, replace: str | None, tmp_path: Path) -> None:
    """What is printed is C in builds with OpenMP and without it, whichever one the file was read for."""
    text = MACRO + function(BUILDS[form])
    for openmp, reason in (("keep", keep), ("replace", replace)):
        source = found_in(text, tmp_path, openmp)
        assert bool(source.regions) == (reason is None)
        assert reason is None or told(source)[0].startswith(reason)
        out = render_file(source, [compile_region(region, Options()) for region in source.regions])
        (tmp_path / "out.c").write_text(out)
        for flags in ([], ["-fopenmp"]):
            subprocess.run(["gcc", "-fsyntax-only", *flags, str(tmp_path / "out.c")], check=True)


def test_a_header_may_have_the_directive(tmp_path: Path) -> None:
    (tmp_path / "own.h").write_text(MACRO)
    source = found_in('#include "own.h"\n' + function(BUILDS["a macro"]), tmp_path)
    assert source.regions == ()
    assert "in builds with OpenMP" in told(source)[0]


IN_OTHER_BUILDS = [
    "#ifdef _OPENMP\n#pragma omp simd\n#endif",
    "#ifdef __clang__\n#pragma clang loop vectorize(enable)\n#endif",
    "#if defined(__clang__)\n#pragma clang loop vectorize(enable)\n#elif defined(__GNUC__)\n#pragma GCC ivdep\n#endif",
    "#ifdef USE_OMP\n#pragma omp parallel for \\\n   schedule(static)\n#endif\n#pragma GCC ivdep\n",
    "    IVDEP",
]
IVDEP = '#ifdef __clang__\n#define IVDEP _Pragma("clang loop vectorize(enable)")\n#else\n#define IVDEP\n#endif\n'


@pytest.mark.parametrize("before", IN_OTHER_BUILDS)
def test_hints_of_other_builds_go_with_their_loop(before: str, tmp_path: Path) -> None:
    source = found_in(IVDEP + function(f"{before}\n    {LOOP}"), tmp_path)
    out = render_file(source, [compile_region(region, Options()) for region in source.regions])
    assert len(source.regions) == 1
    (tmp_path / "out.c").write_text(out)
    for command in ("gcc", "gcc -fopenmp", "clang", "gcc -fopenmp -DUSE_OMP"):
        subprocess.run([*command.split(), "-fsyntax-only", "-Wno-unknown-pragmas", str(tmp_path / "out.c")], check=True)


def test_a_hint_under_a_condition_with_other_code_stays(tmp_path: Path) -> None:
    source = found_in(function(f"#ifdef __clang__\n    a++;\n#pragma unroll\n#endif\n    {LOOP}"), tmp_path)
    assert source.regions == ()
    assert told(source) == ["'#pragma unroll' before it stands under a condition with other code"]


@pytest.mark.parametrize(
    "before",
    ["#pragma omp parallel for", "#ifdef _OPENMP\n#pragma omp for\n#endif", "#pragma GCC ivdep", *IN_OTHER_BUILDS],
)
def test_a_directive_before_a_marked_region(before: str, tmp_path: Path) -> None:
    text = IVDEP + function(f"{before}\n#pragma scop\n    {LOOP}\n#pragma endscop")
    with pytest.raises(UserError) as caught:
        found_in(text, tmp_path)
    assert [one.code for one in caught.value.diagnostics] == ["stray-directive"]


@pytest.mark.parametrize("before", ["#pragma omp parallel\n#pragma omp single", "#pragma omp barrier", "#if 1\n#endif"])
def test_a_directive_that_wants_no_loop(before: str, tmp_path: Path) -> None:
    text = function(
        f"#ifdef X\n#pragma unroll\n    {LOOP}\n#endif\n{before}\n#pragma scop\n    {LOOP}\n#pragma endscop"
    )
    source = found_in(text, tmp_path)
    assert len(source.regions) == 1


OPENMP = """
static double lowest;
void scale(int n, double *restrict a, double *restrict b)
{
    int i, j;
    double t = 5, u = 2;
#pragma omp parallel for private(t, j) \\
            schedule(static) num_threads(3)
    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++) {
            t = b[i * n + j];
            a[i * n + j] = t * u;
        }
#pragma omp parallel for firstprivate(u)
    for (i = 0; i < n; i++)
        b[i] = a[i] * u;
#pragma omp parallel
    {
#pragma omp for nowait
        for (int k = 0; k < n; k++)
            a[k] += 1;
#pragma omp for
        for (int k = 0; k < n; k++)
            b[k] += 2;
    }
#pragma omp parallel
#pragma omp for
    for (int k = 0; k < n; k++)
        a[k] *= 2;
}
"""


def test_parallel_loops_are_taken_over(tmp_path: Path) -> None:
    source = found_in(OPENMP, tmp_path, "replace", judged=True)
    assert [(r.scop.span.line, r.scop.end_line) for r in source.regions] == [(7, 29)]
    assert told(source) == []
    text = render_file(source, [compile_region(region, Options(threads="always")) for region in source.regions])
    assert "num_threads" not in text
    seen = []
    for name, code in (("before", OPENMP), ("after", text)):
        file, library = tmp_path / f"{name}.c", tmp_path / f"{name}.so"
        file.write_text(code)
        subprocess.run(["gcc", "-O2", "-fopenmp", "-shared", "-fPIC", str(file), "-o", str(library)], check=True)
        arrays = [(ctypes.c_double * 900)(*[(k * step) % 97 for k in range(900)]) for step in (3, 5)]
        ctypes.CDLL(str(library)).scale(30, *arrays)
        seen.append([list(array) for array in arrays])
    assert seen[0] == seen[1]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (f"#pragma omp for\n {LOOP}", "the loop is shared by the threads of a parallel region that stays"),
        (f"#pragma omp parallel\n {{\n g();\n#pragma omp for\n {LOOP}\n }}", "a parallel region holds more than loops"),
        (f"#pragma omp parallel\n {{\n {LOOP}\n }}", "a parallel region holds more than loops"),
        (f"#pragma omp single\n {LOOP}", "OpenMP's directive is none of a parallel loop ('#pragma omp single')"),
        (
            "#pragma omp parallel for\n for (int i = 0; i < n; i++) {\n#pragma omp atomic\n x += a[i];\n }",
            "OpenMP's directive is none of a parallel loop ('#pragma omp atomic')",
        ),
        (f"#pragma omp parallel for ordered\n {LOOP}", "the clause 'ordered' means something"),
        (f"#pragma omp parallel for if(n = 3)\n {LOOP}", "the clause 'if(n = 3)' means something"),
        (f"#pragma omp parallel for reduction(mine : x)\n {LOOP}", "the clause 'reduction(mine : x)' means something"),
        (
            "#pragma omp parallel for private(x)\n for (int i = 0; i < n; i++) {\n x = b[i]; a[i] = x;\n }\n a[0] = x;",
            "each thread has its own 'x', which is read afterwards with its value from before",
        ),
        (
            "#pragma omp parallel for\n for (k = 0; k < n; k++)\n a[k] = b[k];\n a[0] = k;",
            "each thread has its own 'k', which is read afterwards",
        ),
        (
            "#pragma omp parallel for firstprivate(x)\n for (int i = 0; i < n; i++) {\n a[i] = x;\n x = b[i];\n }",
            "each thread begins with its own 'x' and changes it",
        ),
        (
            "#pragma omp parallel for private(g)\n for (int i = 0; i < n; i++) {\n g = b[i];\n a[i] = g;\n }",
            "each thread has its own 'g', which other functions may read afterwards",
        ),
        (
            "#pragma omp parallel for reduction(+ : x)\n for (int i = 0; i < n; i++)\n x += a[i];\n a[0] = x;",
            "it would not run in parallel any more, as its pragma says",
        ),
        (
            "#pragma omp parallel for\n for (int i = 0; i < n; i++)\n a[i] = own[i] + 1;",
            "'own' is another variable in each thread",
        ),
    ],
)
def test_what_threads_mean_stays(body: str, reason: str, tmp_path: Path) -> None:
    text = (
        "double g; static double own[100];\n#pragma omp threadprivate(own)\n"
        f"void f(int n, double *restrict a, double *restrict b)\n{{\n int k; double x = 0;\n {body}\n}}\n"
    )
    source = found_in(text, tmp_path, "replace", judged=True)
    assert source.regions == ()
    assert [one for one in told(source) if one.startswith(reason)], told(source)


def test_loops_beside_a_parallel_region_that_stays(tmp_path: Path) -> None:
    text = function(f"    {LOOP}\n    if (n > 3)\n#pragma omp task\n    {{\n        {LOOP}\n    }}\n    {LOOP}")
    source = found_in(text, tmp_path, "replace")
    assert [(r.scop.span.line, r.scop.end_line) for r in source.regions] == [(4, 5), (12, 13)]
    assert [(one.span and one.span.line) for one in source.left] == [9]


def test_clauses_of_a_directive() -> None:
    found = clauses(Pragma(0, "omp parallel for private(a, b) schedule(dynamic, 4) if(n > 3) reduction(max:m)"))
    assert (found.own, found.copied, found.wrong) == (["a", "b"], [], "")
    assert clauses(Pragma(0, "omp for linear(i) copyin(x)")).wrong == "copyin(x)"


@pytest.mark.parametrize("word", ["__thread", "_Thread_local"])
def test_variables_of_a_thread_are_refused(word: str, tmp_path: Path) -> None:
    file = tmp_path / "t.c"
    file.write_text(
        f"static {word} double t[9], *p;\nvoid f(double *a)\n{{\n#pragma scop\n    for (int i = 0; i < 9; i++)\n"
        "        a[i] = t[i];\n#pragma endscop\n}\n"
    )
    with pytest.raises(UserError, match="'t' is another variable in each thread"):
        read(str(file), InputOptions())
