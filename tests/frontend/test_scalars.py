"""Scalars: liveness, privatisation, final values of loop variables, local declarations."""

from __future__ import annotations

from collections.abc import Callable

import islpy as isl
import pytest

from polyc.codegen.text.printer import expression
from polyc.errors import UserError
from polyc.model import ctree as c
from polyc.model.scop import AccessKind, Scop, Storage

from .conftest import Modeller

Relations = Callable[[Scop, str], list[str]]


def function(region: str, before: str = "", after: str = "", arguments: str = "int n, double *a, double *b") -> str:
    return f"double f({arguments}) {{\n{before}\n#pragma scop\n{region}\n#pragma endscop\n{after}\n}}\n"


LOOP = "for (int i = 0; i < n; i++) { t = a[i]; b[i] = t * t; }"


@pytest.mark.parametrize(
    ("before", "after", "live"),
    [
        ("double t;", "", False),
        ("double t;", "return t;", True),
        ("double t;", "t = 0; return t;", False),
        ("double t;", "if (n) t = 0; return t;", True),
        ("double t;", "if (n) t = 0; else t = 1; return t;", False),
        ("double t;", "for (int k = 0; k < n; k++) t = 1; return t;", True),
        ("double t;", "{ double t = 1; return t; }", False),
        ("double t;", "for (double t = 0; t < 1; t++) a[0] = t;", False),
        ("double t; double *p = &t;", "return *p;", True),
        ("double t; g(&t);", "h();", True),
        ("double t; g(&t);", "", False),
        ("double t; g(&t);", 'printf("x");', False),
        ("static double t;", "", False),
        ("static double t; g();", "", False),
        ("static double t; a[0] = t;", "", True),
        ("static double t; double *p = &t;", "", True),
        ("static double t;", "if (n) t = 0; a[0] = t;", True),
        ("static double t;", "g();", True),
        ("static double t;", "sqrt(2);", False),
        ("static double t; again: ;", "goto again;", True),
        ("double t; again: ;", "goto again;", True),
    ],
)
def test_live_out_scalar(before: str, after: str, live: bool, scop: Modeller) -> None:
    found = scop(function(LOOP, before, after))
    assert found.live_out == ({"b", "t"} if live else {"b"})
    assert found.privatizable == (frozenset() if live else {"t"})


def test_globals_are_live_out_and_arguments_by_value_are_not(scop: Modeller) -> None:
    found = scop("double t;\n" + function(LOOP))
    assert "t" in found.live_out
    found = scop(function(LOOP, arguments="int n, double *a, double *b, double t"))
    assert found.live_out == {"b"}
    assert found.privatizable == {"t"}


@pytest.mark.parametrize(
    ("before", "after", "live"),
    [
        ("", "", False),
        ("", "return w[0];", True),
        ("g(w);", "return b[0];", False),
        ("g(w);", "h();", True),
        ("double *p = w;", "", True),
    ],
)
def test_live_out_local_array(before: str, after: str, live: bool, scop: Modeller) -> None:
    region = "for (int i = 0; i < 8; i++) w[i] = a[i]; for (int i = 0; i < 8; i++) b[i] = w[i];"
    found = scop(function(region, f"double w[8]; {before}", after))
    assert ("w" in found.live_out) is live
    assert ("w" in found.privatizable) is not live


def test_a_loop_around_the_region_reads_what_it_left(scop: Modeller) -> None:
    text = """void f(int n, double *a) {
  double s = 0, t;
  for (int k = 0; k < 10; k++) {
#pragma scop
    for (int i = 0; i < n; i++) { t = a[i]; s += t; a[i] = s; }
#pragma endscop
  }
}
"""
    found = scop(text)
    assert found.live_out == {"a", "s"}
    assert found.privatizable == {"t"}


def test_what_is_read_before_it_is_written_cannot_be_private(scop: Modeller) -> None:
    found = scop(function("for (int i = 0; i < n; i++) { b[i] = t; t = a[i]; }", "double t = 1;"))
    assert found.privatizable == frozenset()
    found = scop(function("for (int i = 0; i < n; i++) { if (i > 0) t = a[i]; b[i] = t; }", "double t = 1;"))
    assert found.privatizable == frozenset()
    found = scop(function("for (int i = 0; i < n; i++) { if (a[i] > 0) t = 1; b[i] = t; }", "double t = 1;"))
    assert found.privatizable == frozenset()


def test_large_arrays_are_not_private(scop: Modeller) -> None:
    region = "for (int i = 0; i < 600; i++) w[i] = a[i]; for (int i = 0; i < 600; i++) b[i] = w[i];"
    assert scop(function(region, "double w[600];")).privatizable == frozenset()


def test_live_out_is_what_the_user_says(scop: Modeller) -> None:
    assert scop(function(LOOP, "double t;"), live_out=("t",)).live_out == {"t"}
    text = function(LOOP, "double t;\n#pragma polyc live-out(b)\n", "return t;")
    assert scop(text).live_out == {"b"}


def test_pragma_at_file_level_counts_for_the_next_function(scop: Modeller) -> None:
    text = "#pragma polyc live-out(t)\n" + function(LOOP, "double t;")
    assert scop(text).live_out == {"t"}


def test_local_declarations(scop: Modeller, relations: Relations) -> None:
    found = scop(
        function(
            """for (int i = 0; i < n; i++) {
    double s = 0, w[2][2] = {{1, 2}, {3}}, u;
    for (int j = 0; j < n; j++) { double s = a[j]; b[j] = s; }
    u = s;
    b[i] += u * w[1][0];
  }"""
        )
    )
    assert {k: a.c_name for k, a in found.arrays.items() if a.storage is Storage.REGION} == {
        "s": "s",
        "s_2": "s",
        "w": "w",
        "u": "u",
    }
    assert found.privatizable == {"s", "s_2", "w", "u"}
    assert relations(found, "S1") == [f"write {{ S1[i] -> w[{i}, {j}] }}" for i in (0, 1) for j in (0, 1)]
    values = [node.value for node in c.walk(found.statements["S1"].body) if isinstance(node, c.Assign)]
    assert values == [c.Literal("1"), c.Literal("2"), c.Literal("3"), c.Literal("0")]


def exits(scop: Scop) -> list[tuple[str, str]]:
    found = [s for s in scop.statements.values() if "after its loop" in s.text]
    return [(s.text.split()[0], str(s.domain).partition("{ ")[2]) for s in found]


def test_final_value_of_a_loop_variable(scop: Modeller) -> None:
    found = scop(
        function("for (i = 0; i < n; i++) for (j = 0; j < i; j++) a[j] += a[i];", "int i, j;", "return i + j;")
    )
    assert exits(found) == [("j", "S1[i = -1 + n] : n > 0 }"), ("i", "S2[] }")]
    assert found.live_out == {"a", "i", "j"}
    match found.statements["S2"].body:
        case c.ExprStmt(c.Assign("=", c.ArrayRef("i"), c.Ternary(c.Binary("<"), c.Name("n"), c.Literal("0")))):
            pass
        case other:
            pytest.fail(str(other))


def test_no_final_value_where_nobody_reads_it(scop: Modeller) -> None:
    region = "for (i = 0; i < n; i++) for (j = 0; j < i; j++) a[j] += a[i];"
    assert exits(scop(function(region, "int i, j;"))) == []
    assert exits(scop(function(region, "int i, j;", "for (i = 0; i < 3; i++) for (j = 0; j < i; j++) b[i] = j;"))) == []
    assert exits(scop(function(region, "int i, j;", "i = 3; return i;"))) == []


def test_final_value_read_in_the_region(scop: Modeller) -> None:
    region = "for (int i = 0; i < n; i++) { for (j = 0; j < i; j += 2) a[j] = 0; b[i] = j; }"
    found = scop(function(region, "int j;"))
    assert exits(found) == [("j", "S1[i] : 0 <= i < n }")]
    assert found.privatizable == {"j"}


def test_final_values_of_loops_that_run_in_one_iteration_only(scop: Modeller) -> None:
    """The value that i == 1 reads is of the second loop: isl alone believes that the first one wrote it last."""
    region = """for (int i = 0; i < 2; i++) {
        if (i == 1) b[0] = k;
        for (k = 0; k < 3; k++) a[i] += k;
        if (i == 0) for (k = 0; k < 5; k++) b[k + 1] = k;
    }"""
    found = scop(function(region, "int k = 0;"))
    assert exits(found) == [("k", "S3[i = 0] }")]


def test_a_final_value_without_one_bound_is_computed_by_its_loop(scop: Modeller) -> None:
    found = scop(function("for (i = 0; i < n && i < 9; i++) a[i] = 0;", "int i;", "return i;"))
    body = found.statements["S1"].body
    assert isinstance(body, c.For)
    assert body.body == c.Block(())
    assert [a.kind for a in found.statements["S1"].accesses] == [AccessKind.WRITE]


def test_orphans_are_names_that_only_the_region_uses(scop: Modeller) -> None:
    found = scop(function("for (i = 0; i < n; i++) a[i] = m;", "int i, j = n;", arguments="int n, int m, double *a"))
    assert found.orphans == ("m", "a", "i")
    assert found.orphans_read == {"m", "i"}


def test_a_variable_that_nobody_needs_the_reader_of_was_read(scop: Modeller) -> None:
    """Else a C compiler says of the printed code that it is set but not used (20281290:1246)."""
    region = "for (i = 0; i < n; i++) { v = 2 * a[i]; w = v; w = a[i]; a[i] = w; v = a[i] + a[i + 1]; }"
    found = scop(function(region, "int i; double v = 0, w;", arguments="int n, double *a"))
    assert found.orphans_read >= {"v", "w"}


def test_a_member_of_the_same_name_is_no_mention(scop: Modeller) -> None:
    after = "return p[0].x > q->\ny;"
    text = function(
        "for (y = 0; y < n; y++) a[y] = x;", "int x = 1, y;", after, arguments="int n, double *a, P *p, P *q"
    )
    assert scop("typedef struct { int x, y; } P;" + text).orphans == ("n", "a", "x", "y")


def test_what_the_region_declares_is_no_orphan(scop: Modeller) -> None:
    """Its declaration is gone with the original loops, whatever else in the file has the same name."""
    found = scop("typedef struct { int t; } other;" + function("double t = 1; a[0] = t;"))
    assert "t" not in found.orphans


@pytest.mark.parametrize(
    ("before", "orphan"),
    [
        ("for (int j = 0; j < n; j++) { for (int i = 0; i < j; i++) a[i] = 1; }", True),
        ("for (unsigned long i = 0, k = 1; i < n; i++) if (k) for (;;) { a[i] = 2; }", True),
        ("for (int j = 0; j < n; j++) i = j;", False),
        ("for (int i = 0; i < n; i++) a[i] = 1; i = 3;", False),
    ],
)
def test_loops_that_declare_the_name_are_no_uses(scop: Modeller, before: str, orphan: bool) -> None:
    text = f"void f(int n, double *a) {{\nint i;\n{before}\n"
    loop = "#pragma scop\nfor (i = 0; i < n; i++) a[i] = 0;\n#pragma endscop\n}\n"
    assert ("i" in scop(text + loop).orphans) == orphan


def test_names_in_strings_are_no_uses(scop: Modeller) -> None:
    text = "int printf(const char *, ...);\nvoid f(double *a) {\nlong t;\nprintf(\"t\\t%d\", 't');\n"
    loop = "#pragma scop\nfor (t = 0; t < 9; t++) a[t] = 0;\n#pragma endscop\n}\n"
    assert scop(text + loop).orphans == ("a", "t")


def test_variable_length_arrays(scop: Modeller) -> None:
    """One at the top of the region has a positive size; elsewhere the region is compiled for positive sizes."""
    found = scop(function("double t[n]; for (int i = 0; i < n; i++) { t[i] = a[i]; b[i] = t[i]; }"))
    assert found.arrays["t"].storage is Storage.REGION
    assert found.context.is_subset(isl.Set("[n] -> { : n > 0 }"))
    assert not found.notes
    found = scop(function("for (int i = 0; i < n; i++) { double t[n]; t[i] = a[i]; b[i] = t[i]; }"))
    assert found.assumed.is_equal(isl.Set("[n] -> { : n > 0 }"))
    assert [note.code for note in found.notes] == ["assumed"]
    for region in ("n = 3; double t[n]; a[0] = 1;", "for (int i = 1; i < n; i++) { double t[i]; t[0] = a[i]; }"):
        with pytest.raises(UserError) as caught:
            scop(function(region))
        assert [d.code for d in caught.value.diagnostics] == ["unsupported-declaration"]


def test_labels_without_jumps_are_names(scop: Modeller) -> None:
    found = scop(function("first: for (int i = 0; i < n; i++) second: b[i] = a[i];"))
    assert [s.text for s in found.statements.values()] == ["b[i] = a[i];"]
    with pytest.raises(UserError) as caught:
        scop(function("again: b[0] = a[0];", after="if (b[0] > 0) goto again;"))
    assert [d.code for d in caught.value.diagnostics] == ["goto"]


def test_what_the_region_declares_ends_with_it(scop: Modeller) -> None:
    found = scop(function("double t = 1; for (int i = 0; i < n; i++) b[i] = t;"))
    assert found.arrays["t"].c_name == "t"
    with pytest.raises(UserError) as caught:
        scop(function("double t = 1; for (int i = 0; i < n; i++) b[i] = t;", after="return t;"))
    assert [d.code for d in caught.value.diagnostics] == ["unsupported-declaration"]


KNOWN = {
    "an index": ("int k = i + 1; a[i] = b[k];", ["a[i] = b[k];"], set()),
    "clamped": ("int k = i < 1 ? 0 : i - 1; a[i] = b[k];", ["a[i] = b[k];"], set()),
    "of another one": ("int k = i + 1; int m = 2 * k; a[k] = b[m];", ["a[k] = b[m];"], set()),
    "in a condition": ("int k = n - 1 - i; if (k > 3) a[i] = b[i];", ["a[i] = b[i];"], set()),
    "as a bound": ("int k = i + 1; for (int j = 0; j < k; j++) a[j] = b[i];", ["a[j] = b[i];"], set()),
    "as a value": ("int k = i + 1; a[i] = b[k] * k;", ["int k = i + 1;", "a[i] = b[k] * k;"], {"k"}),
    "as a value of another one": (
        "int k = i + 1; int m = k + 1; a[i] = m;",
        ["int k = i + 1;", "int m = k + 1;", "a[i] = m;"],
        {"k", "m"},
    ),
    "assigned again": (
        "int k = i; k = 3 * k; a[i] = b[k % 9];",
        ["int k = i;", "k = 3 * k;", "a[i] = b[k % 9];"],
        {"k"},
    ),
    "of data": ("int k = (int)b[i]; a[k] = 0;", ["int k = (int)b[i];", "a[k] = 0;"], {"k"}),
    "in a loop of data": (
        "int k = i + 1; while (b[k] > 0) b[k] -= a[i];",
        ["while (b[k] > 0) b[k] -= a[i];"],
        set(),
    ),
    "beside data": (
        "int k = i + 1; a[(int)b[k] + k] = 0;",
        ["int k = i + 1;", "a[(int)b[k] + k] = 0;"],
        {"k"},
    ),
}


@pytest.mark.parametrize("name", KNOWN)
def test_variables_whose_values_are_known(name: str, scop: Modeller) -> None:
    """They are stored only where somebody reads them: in affine subscripts and conditions stands their value."""
    body, texts, read = KNOWN[name]
    found = scop(function(f"for (int i = 0; i < n; i++) {{ {body} }}"))
    assert [s.text for s in found.statements.values()] == texts
    accesses = [a for s in found.statements.values() for a in s.accesses]
    assert {a.array for a in accesses if a.kind is AccessKind.READ} & {"k", "m"} == read
    assert {"k", "m"} & set(found.arrays) == read


def test_known_values_stand_in_subscripts_as_c_has_them(scop: Modeller, relations: Relations) -> None:
    found = scop(function("for (int i = 0; i < n; i++) { unsigned k = i + 1; int m = 2 * k; a[m + 1] = b[k]; }"))
    (statement,) = found.statements.values()
    assert relations(found, "S0") == ["read { S0[i] -> b[1 + i] }", "write { S0[i] -> a[3 + 2i] }"]
    assert [expression(n.subscripts[0]) for n in c.walk(statement.body) if isinstance(n, c.ArrayRef)] == [
        "(int)(2 * (unsigned)(i + 1)) + 1",
        "(unsigned)(i + 1)",
    ]


def test_nothing_is_left_of_variables_that_nobody_reads(scop: Modeller) -> None:
    assert not scop(function("for (int i = 0; i < n; i++) { int k = i + 1; int m = k; }")).statements


@pytest.mark.parametrize(
    ("flag", "use"),
    [
        ("i + k >= 1 && i + k <= n", "if (flag)"),
        ("!(i + k < 1 || i + k > n)", "if (!!flag)"),
        ("(i + k >= 1) + (i + k <= n)", "if (flag == 2)"),
        ("i + k < 1 || i + k > n", "if (flag) continue;"),
    ],
)
def test_a_condition_with_a_name(flag: str, use: str, scop: Modeller, same: Callable[[object, str], None]) -> None:
    found = scop(
        "void f(int n, double *a, double *b)\n{\n#pragma scop\n    for (int i = 0; i < n; i++)\n"
        "        for (int k = 0; k < 3; k++) {\n"
        f"            const int flag = {flag};\n            {use}\n                a[i] += b[i + k - 1];\n"
        "        }\n#pragma endscop\n}\n"
    )
    (statement,) = found.statements.values()
    domain = "[n] -> { %s[i, k] : 0 <= i < n and 0 <= k <= 2 and 1 <= i + k <= n }"
    same(statement.domain, domain % statement.name)
