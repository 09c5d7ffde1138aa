"""Regions in files: pragmas, places, macros, and C around them that no parser reads."""

from __future__ import annotations

import re
import subprocess
import time
from pathlib import Path

import pytest

from polyc.errors import UserError
from polyc.frontend import read
from polyc.frontend.text.codes import ERRORS, NOTES
from polyc.model.program import InputOptions

from .conftest import Modeller, Reader

LOOP = "  for (int i = 0; i < n; i++) a[i] = 0;\n"
REGION = f"#pragma scop\n{LOOP}#pragma endscop\n"


def test_several_regions(read_text: Reader) -> None:
    text = f"void f(int n, double *a) {{\n{REGION}  n = 3;\n  {{\n  {REGION}  }}\n}}\n"
    text += f"void g(int n, double *a) {{\n{REGION}}}\n"
    source = read_text(text)
    assert [r.scop.function for r in source.regions] == ["f", "f", "g"]
    for region in source.regions:
        piece = source.text[region.start : region.end]
        assert piece.strip().startswith("#pragma scop")
        assert piece.endswith("#pragma endscop\n")
        assert piece.count("#pragma") == 2
    assert [r.indent for r in source.regions] == ["", "  ", ""]
    assert source.regions[1].original.strip() == LOOP.strip()


def test_a_function_of_several_regions_may_be_unused_after_the_last_one(read_text: Reader) -> None:
    loop = LOOP.replace("a[i]", "a[at(i)]")
    region = f"#pragma scop\n{loop}#pragma endscop\n"
    text = "static inline int at(int i) { return i + 1; }\n"
    text += "".join(f"void {name}(int n, double *a) {{\n{region}{region}}}\n" for name in "fg")
    assert [r.scop.orphan_functions for r in read_text(text).regions] == [(), (), (), ("at",)]
    assert not any(r.scop.orphan_functions for r in read_text(f"{text}int one(void) {{ return at(0); }}\n").regions)


def test_pragmas_in_comments_strings_and_dead_code_do_not_count(read_text: Reader) -> None:
    text = f"""/* #pragma scop */
// #pragma scop
char *s = "\\
#pragma scop";
#if 0
#pragma scop
#endif
void f(int n, double *a) {{
#ifdef NOT
#pragma endscop
#endif
{REGION}}}
"""
    assert len(read_text(text).regions) == 1


def test_the_rest_of_the_file_need_not_parse(read_text: Reader) -> None:
    text = f"""class foo {{ public: int x; }};
template <typename T> T ff(T x) {{ return x; }}
void h(int *x) {{ ({{ int y = 3; y; }}); auto z = [](int x) {{ return x; }}; }}
void f(int n, double *a) {{
  int s = ({{ int y = n; y + 1; }});
  int nested(int q) {{ return q + s; }}
  __typeof__(n) mm = n;
  for (;;) foo::baz(a); asm("nop" : : "r"(n));
  #pragma omp parallel
{REGION}  foo::bar(a, mm);
}}
static inline __attribute__((always_inline)) void last(void) {{ @ }}
"""
    (region,) = read_text(text).regions
    assert region.scop.live_out == {"a"}


def test_what_cannot_be_read_counts_as_read(scop: Modeller) -> None:
    region = "#pragma scop\nfor (int i = 0; i < 4; i++) t[i] = a[i];\n#pragma endscop\n"
    text = f"void f(int n, double *a) {{\ndouble t[4];\n{region}"
    assert scop(text + "foo::bar(t);\n}\n").live_out == {"t"}
    assert scop(text + "foo::bar(a);\n}\n").live_out == frozenset()


def test_statement_expressions_count_as_read_and_have_no_value_that_is_known(read_text: Reader) -> None:
    region = "#pragma scop\nfor (int i = 0; i < 4; i += s) { t = a[i]; w[i] = t; }\n#pragma endscop\n"
    head = "#include <stddef.h>\nvoid f(int n, double *a) {\ndouble t, w[4];\nconst int s = "
    (known,) = read_text(f"{head}1 + 1;\n{region}}}\n").regions
    assert (known.scop.live_out, known.scop.parameters) == (frozenset(), ())
    (found,) = read_text(f"{head}({{ int k = n; k; }}) + 1;\n{region}a[0] = ({{ size_t k = t; w[k]; }});\n}}\n").regions
    assert found.scop.live_out == {"t", "w"}
    assert [one.name for one in found.scop.parameters] == ["s"]


@pytest.mark.parametrize("what", ["__builtin_types_compatible_p(pair, int);", "n = offsetof(struct two, pair);"])
def test_names_of_types_in_what_cannot_be_read(what: str, read_text: Reader) -> None:
    text = f"""#include <stddef.h>
typedef struct two {{ int two, pair; }} pair;
void f(int n, double *restrict a, const double *restrict b) {{
  {what}
  for (int i = 0; i < n; i++) a[i] += b[i];
}}
"""
    (region,) = read_text(text, detect=True).regions
    assert region.scop.live_out == {"a"}


def test_real_headers(scop: Modeller) -> None:
    headers = [
        "stdio",
        "stdlib",
        "string",
        "math",
        "stdint",
        "stddef",
        "limits",
        "float",
        "time",
        "complex",
        "assert",
        "ctype",
        "errno",
        "stdbool",
    ]
    text = "".join(f"#include <{h}.h>\n" for h in headers)
    text += 'void f(int32_t n, double *a, FILE *out) {\n  fprintf(out, "x");\n#pragma scop\n'
    text += (
        "  for (size_t i = 0; i < (size_t)n; i++) a[i] = sqrt(a[i]) + (double)INT32_MAX + M_PI;\n#pragma endscop\n}\n"
    )
    found = scop(text)
    assert [p.type.text for p in found.parameters] == ["int32_t"]
    assert {"printf", "size_t", "INT_MAX", "sqrt", "f"} <= found.used_names


def test_preamble_compiles_with_the_region(read_text: Reader, tmp_path: Path) -> None:
    text = """#include <math.h>
#include <stdint.h>
typedef double real;
struct pair { real x; uint8_t y; };
enum { K = 3 };
static int unused(int x) { return x; }
static real two(void) { return 2; }
static real twice(real x) { return two() * x; }
int N;
#pragma polyc pure(twice)
void f(int n, real *a, struct pair *p) {
  enum { Q = 7 };
#pragma scop
  for (int i = 0; i < n + N; i++) a[i] = twice(sqrt(a[i])) + K + Q + p[i].x;
#pragma endscop
}
"""
    (region,) = read_text(text).regions
    assert "unused" not in region.preamble
    assert "int N" not in region.preamble
    whole = f"{region.preamble}void g(int n, int N, real *a, struct pair *p) {{\n{region.original}}}\n"
    (tmp_path / "g.c").write_text(whole)
    subprocess.run(["gcc", "-std=gnu11", "-c", "-Wall", "-Werror", "-o", "/dev/null", tmp_path / "g.c"], check=True)


def test_dependencies(tmp_path: Path) -> None:
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "h.h").write_text("#define M 3\n")
    path = tmp_path / "t.c"
    path.write_text(f'#include "h.h"\n#include <stddef.h>\nvoid f(int n, double *a) {{\n{REGION}}}\n')
    source = read(str(path), InputOptions(include_dirs=(str(tmp_path / "inc"),)))
    assert source.dependencies[0] == str(path)
    assert str(tmp_path / "inc" / "h.h") in source.dependencies
    assert any(name.endswith("stddef.h") for name in source.dependencies)
    assert not any("<" in name for name in source.dependencies)


def test_defines(scop: Modeller) -> None:
    text = "void f(double *a) {\n#pragma scop\nfor (int i = 0; i < N; i++) a[i] = 0;\n#pragma endscop\n}\n"
    found = scop(text, defines=("N=7",))
    assert str(found.statements["S0"].domain) == "{ S0[i] : 0 <= i <= 6 }"


def test_macros_point_to_their_use(read_text: Reader) -> None:
    text = """#define LOOP(v) for (int v = 0; v < n; v++)
#define MUL(x, y) ((x) * (y))
void f(int n, double *a, double *b) {
#pragma scop
	LOOP(i) /* to do */ a[i] = /* x */ MUL(b[i], b[i][a[ i ]]) + worse[1][
      2];
#pragma endscop
}
"""
    with pytest.raises(UserError) as caught:
        read_text(text)
    lines = text.splitlines()
    shown = []
    for item in caught.value.diagnostics:
        assert item.span is not None
        shown.append(lines[item.span.line - 1][item.span.column - 1 :][: item.span.length])
    assert shown == ["b[i][a[ i ]]", "worse"]


def test_bytes_come_out_again(tmp_path: Path) -> None:
    path = tmp_path / "t.c"
    data = b"// \xff\xfe caf\xc3\xa9\r\n" + f"void f(int n, double *a) {{\n{REGION}}}\n".encode().replace(
        b"\n", b"\r\n"
    )
    path.write_bytes(data)
    source = read(str(path), InputOptions())
    assert source.text.encode("utf-8", "surrogateescape") == data
    assert source.regions[0].scop.span.line == 3


def test_a_file_name_that_looks_like_an_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("-o.c").write_text(f"void f(int n, double *a) {{\n{REGION}}}\n")
    assert read("-o.c", InputOptions()).dependencies == ("-o.c", *read("-o.c", InputOptions()).dependencies[1:])


def test_no_region_may_be_allowed(read_text: Reader) -> None:
    assert read_text("int x;\n", allow_no_scop=True).regions == ()


def test_promises(scop: Modeller) -> None:
    text = f"void f(int n, int m, double *a) {{\n{REGION.replace('< n', '< n + m')}}}\n"
    found = scop(text, params=(("m", 4),), assume=("n >= 4 && n <= 2 * m", "n % 2 == 0"))
    expected = type(found.context)("[n, m] -> { : m = 4 and 4 <= n <= 8 and n mod 2 = 0 }")
    assert found.context.is_equal(expected)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"assume": ("n >=",)}, "bad-assume"),
        ({"assume": ("n * n > 3",)}, "bad-assume"),
        ({"assume": ("n + 1",)}, "bad-assume"),
        ({"assume": ("__import__('os')",)}, "bad-assume"),
        ({"assume": ("q > 1",)}, "bad-assume"),
        ({"params": (("q", 1),)}, "bad-assume"),
        ({"assume": ("n > 1", "n < 1")}, "impossible-assume"),
        ({"live_out": ("nope",)}, "unknown-array"),
        ({"cc": "no-such-compiler"}, "no-compiler"),
    ],
)
def test_bad_options(options: dict[str, object], code: str, read_text: Reader) -> None:
    with pytest.raises(UserError) as caught:
        read_text(f"void f(int n, double *a) {{\n{REGION}}}\n", **options)
    assert [d.code for d in caught.value.diagnostics] == [code]


def test_live_out_of_an_array_that_is_never_used(read_text: Reader) -> None:
    never = REGION.replace("#pragma endscop", "  for (int i = 4; i < 4; i++) b[i] = 0;\n#pragma endscop")
    (region,) = read_text(f"void f(int n, double *a, double *b) {{\n{never}}}\n", live_out=("b",)).regions
    assert region.scop.live_out == frozenset()


def test_ten_megabytes(tmp_path: Path) -> None:
    lines = "".join(f"static int g{n}(int x) {{ return x + {n}; }} /* padding padding */\n" for n in range(160_000))
    path = tmp_path / "big.c"
    path.write_text(f"{lines}void f(int n, double *a) {{\n{REGION}}}\n")
    assert path.stat().st_size > 10_000_000
    start = time.process_time()
    assert len(read(str(path), InputOptions()).regions) == 1
    assert time.process_time() - start < 20


def test_the_list_of_codes_is_whole() -> None:
    folder = Path(__file__).parents[2] / "polyc" / "frontend"
    text = "".join(p.read_text() for p in folder.rglob("*.py") if p.name != "codes.py")
    used = set(re.findall(r'(?:Diagnostic|refuse|note|of|NotAffine)\(\s*"([a-z-]+)"', text))
    assert used == set(ERRORS) | set(NOTES)


def test_pragmas_inside_a_region_are_dropped(scop: Modeller) -> None:
    found = scop(
        f"void f(int n, double *a) {{\n{REGION.replace('  for', '#pragma omp parallel for' + chr(10) + '  for')}}}\n"
    )
    assert [(n.code, n.span.line if n.span else 0) for n in found.notes] == [("ignored-pragma", 3)]


def test_buffers_that_are_swapped_are_no_aliases(scop: Modeller) -> None:
    found = scop(
        """void f(int n, double *a, double *b) {
  double *cur = a, *next = b;
  for (int t = 0; t < 10; t++) {
#pragma scop
    for (int i = 1; i < n - 1; i++) next[i] = cur[i - 1] + cur[i + 1];
#pragma endscop
    double *tmp = cur; cur = next; next = tmp;
  }
}
"""
    )
    assert found.live_out == {"next"}


def test_pointers_that_are_set_to_one_array_once_are_aliases(read_text: Reader) -> None:
    region = REGION.replace("a[i] = 0", "a[i] = b[i]")
    text = f"void f(int n, double *m) {{\ndouble *a, *b;\na = m;\nb = (double *)m;\n{region}}}\n"
    with pytest.raises(UserError) as caught:
        read_text(text)
    assert [d.code for d in caught.value.diagnostics] == ["aliased-pointer"]


def test_texts_over_several_lines(scop: Modeller) -> None:
    text = REGION.replace("a[i] = 0", "a[i] = \\\n   a[i]\n     + 2")
    assert scop(f"void f(int n, double *a) {{\n{text}}}\n").statements["S0"].text == "a[i] = a[i] + 2;"


def test_an_empty_region(scop: Modeller) -> None:
    found = scop("void f(int n, double *a) {\n#pragma scop\n;\n#pragma endscop\n}\n")
    assert found.statements == {}
    assert found.domain.is_empty()


def test_sizeof_in_bounds(scop: Modeller) -> None:
    region = REGION.replace("< n", "< sizeof(w) / sizeof(w[0])")
    found = scop(f"void f(double *a) {{\nfloat w[30];\n{region}}}\n")
    assert str(found.statements["S0"].domain) == "{ S0[i] : 0 <= i <= 29 }"


def test_the_preamble_has_the_struct_of_a_variable_of_its_name(read_text: Reader) -> None:
    text = (
        "struct s { int a; };\nvoid f(void)\n{\n    struct s s[9];\n#pragma scop\n    s[0].a = 1;\n#pragma endscop\n}\n"
    )
    (region,) = read_text(text).regions
    assert region.preamble == "struct s { int a; };\n"


def test_a_folder_called_as_a_function(tmp_path: Path) -> None:
    """The preprocessor names the file inside of the region, behind a long gap: `# 30 "…/main/f.c"`."""
    folder = tmp_path / "main"
    folder.mkdir()
    gap = "\n" * 20
    text = f"void f(int n, double *a)\n{{\n#pragma scop\n    for (int i = 0; i < n; i++) {{{gap}a[i] = 1;\n    }}\n"
    text += "#pragma endscop\n}\nint main(void)\n{\n    return 0;\n}\n"
    (folder / "f.c").write_text(text)
    (region,) = read(str(folder / "f.c"), InputOptions()).regions
    assert region.preamble == ""


PAIRS = "struct pair { double x, y; };\n"
SETS_MEMBERS = "for (int i = 0; i < n; i++) { p[i].x = a[i]; p[i].y = 2; a[i] = p[i].x + p[i].y; }\n"


@pytest.mark.parametrize(
    ("before", "unset"),
    [
        ("struct pair p[n];", True),
        ("struct pair p[n]; /* p[0] */ (void)p;", True),
        ("struct pair p[n]; if (n > 3) {", True),
        ("struct pair p[9] = {{1, 2}};", False),
        ("static struct pair p[9];", False),
        ("struct pair p[n]; p[0].x = 1;", False),
        ("struct pair p[n]; init(p);", False),
        ("struct pair p[n]; struct pair *q = p; q->x = 1;", False),
        ("struct pair *p = malloc(n * sizeof *p);", False),
        ("struct pair p[n]; for (int t = 0; t < 3; t++) {", False),
        ("for (int t = 0; t < 3; t++) { struct pair p[n];", True),
        ("struct pair p[n]; again:; if (n > 3) goto again;", False),
    ],
)
def test_local_arrays_without_values(scop: Modeller, before: str, unset: bool) -> None:
    head = f"#include <stdlib.h>\n{PAIRS}void init(struct pair *);\nvoid f(int n, double *a)\n{{\n{before}\n"
    tail = "}" * (before.count("{") - before.count("}"))
    found = scop(f"{head}#pragma scop\n{SETS_MEMBERS}#pragma endscop\n{tail}}}\n")
    assert found.unset == (frozenset({"p"}) if unset else frozenset())


def test_what_is_written_for_certain_is_read_as_it_was(scop: Modeller) -> None:
    loop = "for (int i = 0; i < n; i++) b[i] = a[i];\nfor (int i = 0; i < n; i++) a[i] = b[i];\n"
    found = scop(f"void f(int n, double *a)\n{{\ndouble b[n];\n#pragma scop\n{loop}#pragma endscop\n}}\n")
    assert found.unset == frozenset()


def test_the_type_of_an_enum_without_a_name(scop: Modeller) -> None:
    """What is printed has a name for it."""
    region = REGION.replace("= 0;\n", "= kind;\n")
    found = scop(f"void f(int n, double *a)\n{{\n  enum {{ ONE = 1, FOUR = 4 }} kind = FOUR;\n{region}}}\n")
    assert [one.type for one in found.always] == ["unsigned int"]


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("#pragma scop\n@\n#define K 3\n#pragma endscop", "'#define' stands in it"),
        ("#if 1\n#pragma scop\n#else\n#pragma scop\n#endif\n@\n#pragma endscop", "an '#else' in it belongs to"),
        ("#pragma scop\n@\n#if 1 && \\\n  1\n#pragma endscop\n#endif", "a condition ('#if') that begins in it"),
        ("#pragma scop\n@\n#if 1 && \\\n  1\n#else\n#endif\n#pragma endscop", ""),
        ("switch (n) {\ncase 1:\n#pragma scop\n@\n#pragma endscop\n}", ""),
        ("here:\n#pragma scop\n@\n#pragma endscop\nif (n-- > 9) goto here;", ""),
    ],
)
def test_directives_and_labels_around_a_region(lines: str, told: str, read_text: Reader) -> None:
    loop = "for (int i = 0; i < n; i++) a[i] = 0;"
    text = f"void f(int n, double *a)\n{{\n{lines.replace('@', loop)}\n}}\n"
    if not told:
        assert len(read_text(text).regions) == 1
        return
    with pytest.raises(UserError, match=re.escape(f"the region cannot be replaced: {told}")):
        read_text(text)
