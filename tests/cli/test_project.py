"""The report of a project: loops are counted, compiled ones are told from others, and reasons have their loops."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from polyc.errors import UserError
from polyc.explain.facts.changes import changes
from polyc.explain.facts.profile import read_profile
from polyc.explain.facts.source_loops import defined_functions, source_loops
from polyc.explain.facts.translation_unit import LEFT_OUT, from_data, unit_records
from polyc.frontend import read
from polyc.model.program import InputOptions, Options
from polyc.pipeline import compile_region

Polyc = Callable[..., Result]

TEXT = r"""
#define EACH(i, n) for (int i = 0; i < (n); i++) \
    for (;;)
/* for (;;) */ const char *s = "for (;;) {";
struct pair { int for_, each; } pairs[2] = {{1, 2}, {3, 4}};
int first(int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (i == j) { n--; } else n++;

    do
        n--;
    while (n > 0);
    while (n < 3) n++;
    return n;
}
static double second(a, n) double *a; int n; {
    for (;;) { break; }
}
"""
UNIT = """\
double a[400][400], b[400][400];
int count(void);
void scale(int n)
{
    for (int i = 0; i < 400; i++)
        for (int j = 0; j < 400; j++)
            a[i][j] = 2 * b[i][j];
    for (int i = 0; i < n; i++) {
        count();
        for (int j = 0; j < 400; j++)
            a[i][j] = a[i][j] + b[j][i];
    }
}
"""


def test_loops_of_a_text() -> None:
    found = [(one.kind, one.function, one.line, one.last, one.depth) for one in source_loops(TEXT)]
    assert found == [
        ("for", "first", 8, 10, 0),
        ("for", "first", 9, 10, 1),
        ("do", "first", 12, 14, 0),
        ("while", "first", 15, 15, 0),
        ("for", "second", 19, 19, 0),
    ]
    assert defined_functions(TEXT) == {"first", "second"}


def test_declarations_for_another_language() -> None:
    text = '#ifdef __cplusplus\nextern "C" {\n#endif\nvoid f(int n)\n{\n for (;;) ;\n}\n#ifdef __cplusplus\n}\n#endif\n'
    assert [(one.function, one.line) for one in source_loops(text)] == [("f", 6)]


def test_text_without_an_end() -> None:
    assert [one.line for one in source_loops("void f(void) {\n for (;;")] == [2]
    assert source_loops("{{{") == []


@pytest.fixture
def report(polyc: Polyc, tmp_path: Path) -> Callable[..., Result]:
    """`polyc report` of a folder with two files: one is compiled in part, one is no C."""
    source = tmp_path / "src"
    source.mkdir()
    (source / "unit.c").write_text(UNIT)
    (source / "bad.c").write_text("void f(void) {\n for (int i = 0; i < 3; i++) x[i] = ;\n}\n")
    return lambda *words: polyc("report", "src", *words)


def test_report_of_a_folder(report: Callable[..., Result]) -> None:
    result = report("--format", "json")
    assert result.exit_code == 0
    bad, unit = json.loads(result.stdout)["files"]
    assert bad["untouched"].startswith("the compiler refuses it: ")
    assert [(row["line"], row["compiled"], row["done"]) for row in unit["loops"]] == [
        (5, True, ["parallel"]),
        (6, True, ["parallel"]),
        (8, False, []),
        (10, False, []),
    ]
    assert "count" in unit["loops"][2]["reason"]


def test_loops_of_a_statement_have_its_reason(polyc: Polyc, tmp_path: Path) -> None:
    """Nothing else that is told of the region is a reason."""
    (tmp_path / "unit.c").write_text(
        "void mark(int n, int m, float *restrict out, const char *restrict bit)\n{\n"
        "    for (int i = 0; i < n; i++) {\n"
        "        if (bit[i])\n"
        "            for (int j = 0; j < m; j++) out[i * m + j] = 1;\n"
        "    }\n"
        "}\n"
    )
    (unit,) = json.loads(polyc("report", ".", "--format", "json").stdout)["files"]
    kept = "this condition depends on data: its statement is kept whole"
    assert [(row["line"], row["compiled"], row["reason"]) for row in unit["loops"]] == [(3, True, ""), (5, False, kept)]


def test_a_page_grows_with_the_build(polyc: Polyc, tmp_path: Path) -> None:
    (tmp_path / "one.c").write_text(UNIT)
    (tmp_path / "two.c").write_text(UNIT.replace("scale", "other").replace("count", "counted"))
    for name in ("one", "two"):
        assert polyc("cc", "--report=made.html", "-c", f"{name}.c").exit_code == 0
    page = (tmp_path / "made.html").read_text()
    assert "<b>4</b> of <b>8</b>" in page
    assert len(list((tmp_path / "made.parts").glob("*.json"))) == 2
    text = polyc("report", "made.parts").stdout
    assert "2 files" in text
    assert "50%" in text
    (tmp_path / "made.parts" / "one.json").write_text("{")
    result = polyc("report", "made.parts")
    assert result.exit_code == 1
    assert "[bad-record]" in result.stderr


def test_report_of_a_compilation_database(polyc: Polyc, tmp_path: Path) -> None:
    (tmp_path / "unit.c").write_text("#include SIZES\n" + UNIT)
    (tmp_path / "sizes.h").write_text("#define N 3\n")
    command = 'cc -DSIZES="\\"sizes.h\\"" -O2 -MD -MF unit.d -o unit.o -c unit.c'
    entry = {"directory": str(tmp_path), "file": "unit.c", "command": command}
    (tmp_path / "compile_commands.json").write_text(json.dumps([entry]))
    text = polyc("report", str(tmp_path)).stdout
    assert "50%" in text
    assert not (tmp_path / "unit.o").exists()
    assert not (tmp_path / "unit.d").exists()
    (tmp_path / "compile_commands.json").write_text('[{"file": 3}]')
    assert "[bad-database]" in polyc("report", str(tmp_path)).stderr


def test_a_place_with_nothing(polyc: Polyc, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    result = polyc("report", "empty")
    assert result.exit_code == 2
    assert "'empty' has no C files" in result.stderr


GPROF = """\
  %   cumulative   self              self     total
 time   seconds   seconds    calls  ms/call  ms/call  name
 80.00      0.24     0.24        1   240.00   300.00  gemm
 15.00      0.30     0.06      102     0.59     0.59  softmax.constprop.0
  5.00      0.32     0.02                             softmax
"""
PERF = """\
# Overhead  Command  Shared Object  Symbol
    61.20%  run      run            [.] matmul
     8.80%  run      libm.so.6      [.] exp
"""


@pytest.mark.parametrize(
    ("text", "shares"),
    [(GPROF, {"gemm": 80.0, "softmax": 20.0}), (PERF, {"matmul": 61.2, "exp": 8.8})],
    ids=["gprof", "perf"],
)
def test_profiles(tmp_path: Path, text: str, shares: dict[str, float]) -> None:
    file = tmp_path / "profile.txt"
    file.write_text(text)
    assert read_profile(str(file)) == pytest.approx(shares)


@pytest.mark.parametrize("data", [b"gmon\1\0", b"PERFILE2", b"nothing\n"])
def test_what_is_no_profile(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "profile"
    file.write_bytes(data)
    with pytest.raises(UserError) as told:
        read_profile(str(file))
    assert told.value.diagnostics[0].code == "bad-profile"
    assert told.value.diagnostics[0].hint


def rows(*reasons: str) -> list[dict[str, object]]:
    return [
        {
            "kind": "for",
            "function": f"f{n}",
            "line": n,
            "last": n,
            "depth": 0,
            "compiled": False,
            "done": [],
            "reason": r,
        }
        for n, r in enumerate(reasons, 1)
    ]


def test_changes_come_by_the_loops_that_they_free() -> None:
    reasons = ["'get' is called, which may have side effects", "'printf' is called, which may have side effects",
               *[f"which elements of '{name}' are touched depends on data" for name in "xy"]]  # fmt: skip
    data = {
        "path": "a.c",
        "untouched": "",
        "seconds": 0,
        "loops": rows(*reasons),
        "source": "int get(void) { return 1; }",
    }
    found = changes([from_data(data)], {})
    assert [(len(one.loops), one.what) for one in found] == [
        (2, "`restrict` on `x`, `y` in `a.c`"),
        (1, "`#pragma polyc pure(get)` where it only computes a value; otherwise a call outside of the loops"),
    ]
    assert [one.hot for one in changes([from_data(data)], {"f1": 90.0})] == [90.0, 0.0]


def test_loops_that_the_preprocessor_leaves_out_do_not_count(tmp_path: Path) -> None:
    text = """void twice(int n, float *restrict a, const float *restrict b)
{
#ifdef USE_BLAS
    for (int i = 0; i < n; i++)
        a[i] = b[i];
#else
    for (int i = 0; i < n; i++)
        a[i] = b[i] * 2;
#endif
}
"""
    source = read("t.c", InputOptions(detect=True), text=text)
    record, *_ = unit_records(source, [compile_region(region, Options()) for region in source.regions], 0.0)
    assert [(one.loop.line, one.compiled, one.reason) for one in record.loops] == [(4, False, LEFT_OUT), (7, True, "")]
    assert [one.loop.line for one in record.counted] == [7]
    assert not any(one.is_left for one in record.loops)
