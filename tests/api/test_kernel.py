"""`polyc.load`: a function, built and called on NumPy arrays."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polyc

ROOT = Path(__file__).parents[2]
BLUR = ROOT / "docs" / "example" / "blur.c"
pytestmark = pytest.mark.slow
TWICE = """void twice(int n, double A[n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    A[i] *= 2;
#pragma endscop
}
"""
MANY = """typedef float real;
enum kind { FEW, MANY };
struct pixel { float r, g; };
double sum(int n, long m, real *restrict a, const double B[n][2 * m], unsigned char c, enum kind k,
           const struct pixel *p, void *any, float (*rows)[m], short s, float x, _Bool b, char letter)
{
  double total = 0;
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] *= 2;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 2 * m; j++)
      total += B[i][j];
#pragma endscop
  return total + c + k + p[1].g + s + x + b + letter;
}
static long seven(void) { return 7; }
_Bool odd(int n) { return n % 2; }
char next(char c) { return c + 1; }
float half(float x) { return x / 2; }
"""


def arguments() -> dict[str, Any]:
    pixels = np.zeros(2, dtype=[("r", "f4"), ("g", "f4")])
    pixels["g"] = 10
    return {
        "n": 3, "m": 2, "a": np.ones(3, np.float32), "B": np.ones((3, 4)), "c": 200, "k": 1, "p": pixels,
        "any": np.zeros(3, np.int16), "rows": np.zeros((5, 2), np.float32), "s": -4, "x": 0.25, "b": True, "letter": 1,
    }  # fmt: skip


@pytest.fixture(scope="module")
def many() -> polyc.Kernel:
    return polyc.load(MANY, "sum")


def test_the_example_and_its_original() -> None:
    blur = polyc.load(BLUR, cflags=["-O2", "-ffp-contract=off"])
    picture = np.random.default_rng(0).random((70, 90), dtype=np.float32)
    made, expected = (np.zeros((68, 88), dtype=np.float32) for _ in range(2))
    assert blur(70, 90, picture, made) is None
    assert blur.original(height=70, width=90, **{"in": picture, "out": expected}) is None
    assert np.array_equal(made, expected)
    window = np.lib.stride_tricks.sliding_window_view(picture, (3, 3))
    assert np.allclose(made, window.mean(axis=(2, 3)))
    assert blur.original is blur.original
    assert blur.result.verified
    assert [parameter.name for parameter in blur.parameters] == ["height", "width", "in", "out"]
    assert blur.parameters[2].dtype == np.float32
    assert blur.parameters[2].shape == ("height", "width")
    assert repr(blur).startswith("<polyc.Kernel void blur(int height, int width, float in[height][width], ")


def test_all_kinds_of_parameters(many: polyc.Kernel) -> None:
    given = arguments()
    given["B"].flags.writeable = False
    assert many(**given) == 12 + 200 + 1 + 10 - 4 + 0.25 + 1 + 1
    assert given["a"].tolist() == [2, 2, 2]
    assert many(*given.values()) == many.original(*given.values())
    given |= {"n": np.int64(3), "m": np.array(2), "x": np.float32(0.5), "b": np.bool_(False), "k": np.uint8(0)}
    assert many(**given) == 12 + 200 + 10 - 4 + 0.5 + 1


def test_pointers_take_any_shape(many: polyc.Kernel) -> None:
    given = arguments()
    grid = given["a"] = np.ones((2, 2), np.float32)
    many(**given)
    assert grid.tolist() == [[2, 2], [2, 1]]


@pytest.mark.parametrize(
    ("function", "values", "answer"),
    [("seven", (), 7), ("odd", (3,), True), ("next", (65,), 66), ("half", (3,), 1.5), ("half", (np.float32(1),), 0.5)],
)
def test_what_is_returned(function: str, values: tuple[Any, ...], answer: object) -> None:
    found = polyc.load(MANY, function)(*values)
    assert found == answer
    assert type(found) is type(answer)


def test_a_function_of_the_file_may_have_the_name_of_one_of_libc() -> None:
    text = TWICE.replace("*= 2", "= select(A[i])")
    values = np.arange(4.0)
    polyc.load("double select(double x) { return x + 1; }\n" + text, "twice")(4, values)
    assert values.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("B", np.ones((3, 4), np.float32),
         "sum(): B is an array of float32: 'const double B[n][2 * m]' takes an array of float64"),
        ("B", np.ones((3, 4), ">f8"),
         "sum(): B is an array of >f8: 'const double B[n][2 * m]' takes an array of float64"),
        ("B", [[1.0] * 4] * 3, "sum(): B is a list: 'const double B[n][2 * m]' takes a NumPy array of float64"),
        ("B", None, "sum(): B is None: 'const double B[n][2 * m]' takes a NumPy array of float64"),
        ("p", np.ones(2, "f4,f4,f4"),
         "sum(): p is an array of records of 12 bytes: 'const struct pixel *p' takes an array of records of 8 bytes"),
        ("n", 3.0, "sum(): n is 3.0: 'int n' takes an integer"),
        ("n", "3", "sum(): n is '3': 'int n' takes an integer"),
        ("n", np.ones(3, int), "sum(): n is an array of int64: 'int n' takes an integer"),
        ("x", 1j, "sum(): x is 1j: 'float x' takes a real number"),
        ("x", "1", "sum(): x is '1': 'float x' takes a real number"),
    ],
)  # fmt: skip
def test_types_that_are_refused(many: polyc.Kernel, name: str, value: object, message: str) -> None:
    with pytest.raises(TypeError) as caught:
        many(**{**arguments(), name: value})
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("B", np.ones((4, 3)), "sum(): B has shape (4, 3): 'const double B[n][2 * m]' is (3, 4)"),
        ("B", np.ones(12), "sum(): B has shape (12,): 'const double B[n][2 * m]' is (3, 4), with 2 dimensions"),
        ("n", 4, "sum(): B has shape (3, 4): 'const double B[n][2 * m]' is (4, 4)"),
        ("B", np.ones((4, 3)).T, "sum(): B is not contiguous in C order: pass np.ascontiguousarray(B)"),
        ("B", np.ones((3, 8))[:, ::2], "sum(): B is not contiguous in C order: pass np.ascontiguousarray(B)"),
        ("B", np.ones(8 * 12 + 1, np.uint8)[1:].view(np.float64).reshape(3, 4),
         "sum(): B is not aligned for float64: pass a copy of it"),
        ("rows", np.ones((5, 3), np.float32), "sum(): rows has shape (5, 3): 'float (*rows)[m]' is (any, 2)"),
        ("a", np.broadcast_to(np.float32(1), (1,)), "sum(): a is read-only: 'real * restrict a' is not const"),
        ("c", 256, "sum(): c is 256: 'unsigned char c' holds 0 to 255"),
        ("s", -40000, "sum(): s is -40000: 'short s' holds -32768 to 32767"),
        ("b", 2, "sum(): b is 2: '_Bool b' holds 0 to 1"),
    ],
)  # fmt: skip
def test_values_that_are_refused(many: polyc.Kernel, name: str, value: object, message: str) -> None:
    with pytest.raises(ValueError, match=r"^sum\(\): ") as caught:
        many(**{**arguments(), name: value})
    assert str(caught.value) == message


def test_arrays_that_overlap(many: polyc.Kernel) -> None:
    memory = np.ones(20)
    given = {**arguments(), "B": memory[:12].reshape(3, 4), "any": memory[11:]}
    with pytest.raises(ValueError, match="B and any overlap: polyc takes arrays with different names for different"):
        many(**given)
    many(**{**given, "any": memory[12:]})


def test_arguments_that_are_missing_or_too_many(many: polyc.Kernel) -> None:
    given = arguments()
    with pytest.raises(TypeError, match=r"sum\(\) takes 13 arguments, not 14: double sum\(int n, long m"):
        many(*given.values(), 1)
    with pytest.raises(TypeError, match=r"sum\(\) has no parameter 'z'"):
        many(**given, z=1)
    with pytest.raises(TypeError, match=r"sum\(\) got two values for 'n'"):
        many(3, **given)
    del given["a"], given["letter"]
    with pytest.raises(TypeError, match=r"sum\(\) lacks a, letter"):
        many(**given)


HEAD = "struct pixel { float r, g; };\n"


@pytest.mark.parametrize(
    ("function", "code", "message"),
    [
        ("void f(double **A)", "cannot-load", "'double **A' is more than an array of values"),
        ("void f(int (*g)(int))", "cannot-load", "'int (*g)(int)' is more than an array of values"),
        ("void f(struct pixel p)", "cannot-load", "'struct pixel p' is no number that can be passed"),
        ("void f(int n, ...)", "cannot-load", "'f' takes any number of arguments, or some without a name"),
        ("double *f(double *A)", "cannot-load", "'f' returns a pointer"),
        ("struct pixel f(void)", "cannot-load", "'f' returns what is no number"),
        ("void g(void)", "cannot-load", "the file defines no function 'f'"),
        ("void f(void) { extern int missing(void); missing(); } void g(void)", "cannot-build", "'f' was not built: "),
    ],
)
def test_functions_that_cannot_be_loaded(function: str, code: str, message: str) -> None:
    with pytest.raises(polyc.UserError) as caught:
        polyc.load(f"{HEAD}{function} {{ while (1); }}\n", "f", allow_no_scop=True)
    (problem,) = caught.value.diagnostics
    assert problem.code == code
    assert problem.message.startswith(message)
    assert problem.span is not None
    assert problem.span.file == "source.c"


DECLARED = """#include <stddef.h>
typedef double vector[3];
typedef double *pointer;
typedef const float *readonly;
typedef struct { int count; } box;
unsigned long long f(size_t n, const vector v, const pointer p, readonly r, double *const q, double A[restrict n],
                     const double B[static 2], _Float16 *h, double _Complex *z, long double *g, _Bool *b, box *s,
                     double C[2][sizeof(int)], const char *text, long double x)
{
  p[0] = q[0] = n + x;
  s->count = text[0];
  return -1;
}
"""


def test_declarations_of_all_kinds() -> None:
    f = polyc.load(DECLARED, "f", allow_no_scop=True)
    found = {p.name: (p.dtype and p.dtype.str, p.shape, p.writable) for p in f.parameters}
    assert found == {
        "n": ("<u8", None, False),
        "v": ("<f8", ("3",), False),
        "p": ("<f8", (None,), True),
        "r": ("<f4", (None,), False),
        "q": ("<f8", (None,), True),
        "A": ("<f8", ("n",), True),
        "B": ("<f8", ("2",), False),
        "h": ("<f2", (None,), True),
        "z": ("<c16", (None,), True),
        "g": (np.dtype("g").str, (None,), True),
        "b": ("|b1", (None,), True),
        "s": ("|V4", (None,), True),
        "C": ("<f8", ("2", "sizeof(int)"), True),
        "text": ("|i1", (None,), False),
        "x": (np.dtype("g").str, None, False),
    }
    p, q, s = np.zeros(1), np.zeros(1), np.zeros(1, dtype=[("count", "i4")])
    text = np.frombuffer(b"a", np.uint8)
    answer = f(2, np.zeros(3), p, np.zeros(1, "f4"), q, np.zeros(2), np.zeros(2), np.zeros(1, "f2"), np.zeros(1, "c16"),
               np.zeros(1, "g"), np.zeros(1, bool), s, np.zeros((2, 4)), text, 0.5)  # fmt: skip
    assert (answer, p[0], q[0], s["count"][0]) == (2**64 - 1, 2.5, 2.5, 97)


def test_which_function() -> None:
    assert polyc.load(TWICE).__name__ == "twice"
    with pytest.raises(polyc.UserError, match=r"there are regions in twice, thrice \[cannot-load\]"):
        polyc.load(TWICE + TWICE.replace("twice", "thrice"))
    with pytest.raises(polyc.UserError, match="the file has no region"):
        polyc.load("int f(void);\n", allow_no_scop=True)
    with pytest.raises(polyc.UserError, match=r"load\(\) runs on the CPU, and the target cuda on a GPU"):
        polyc.load(TWICE, target="cuda")


def test_headers_macros_and_libraries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the file's own folder, of -I, and more C files for the build."""
    source, other = tmp_path / "source", tmp_path / "other"
    source.mkdir()
    other.mkdir()
    (source / "own.h").write_text("#define TWO 2\n")
    (other / "given.h").write_text("double start(void);\n")
    (tmp_path / "start.c").write_text("double start(void) { return 100; }\n")
    text = '#include "own.h"\n#include <given.h>\n' + TWICE.replace("*= 2", "= A[i] * TWO + FACTOR")
    text += "double first(void) { return start(); }\n"
    (source / "file.c").write_text(text)
    monkeypatch.chdir(tmp_path)
    file = Path("source", "file.c")
    keywords: dict[str, Any] = {"include_dirs": "other", "defines": {"FACTOR": 10}, "cflags": str(tmp_path / "start.c")}
    twice = polyc.load(file, **keywords)
    monkeypatch.chdir(other)  # what was given relative to a folder stays so
    data = np.arange(3.0)
    twice(3, data)
    assert data.tolist() == [10, 12, 14]
    twice.original(3, data)
    assert data.tolist() == [30, 34, 38]
    monkeypatch.chdir(tmp_path)
    assert polyc.load(file, "first", **keywords)() == 100


def test_a_header_that_changed_is_built_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = '#include "two.h"\n' + TWICE.replace("*= 2", "*= two()")
    data = np.ones(2)
    for factor in (2, 3):
        Path("two.h").write_text(f"static inline int two(void) {{ return {factor}; }}\n")
        polyc.load(text)(2, data)
    assert data.tolist() == [6, 6]


def test_nothing_is_left_in_the_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    assert polyc.load(TWICE, cflags="-O0")(0, np.zeros(0)) is None
    assert list(tmp_path.iterdir()) == []


THREADS = """#include <omp.h>
int threads(int n, int A[n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    A[i] = i;
#pragma endscop
  int found = 0;
#pragma omp parallel
#pragma omp master
  found = omp_get_num_threads();
  return found;
}
"""


def test_the_number_of_threads() -> None:
    data = np.zeros(3, np.int32)
    environment = polyc.load(THREADS)
    two, three = polyc.load(THREADS, num_threads=2), polyc.load(THREADS, num_threads=3)
    before = environment(3, data)
    assert (two(3, data), three(3, data), three.original(3, data)) == (2, 3, 3)
    assert environment(3, data) == before
    code = f"import numpy, polyc; print(polyc.load({THREADS!r})(1, numpy.zeros(1, 'i4')))"
    command = [sys.executable, "-c", code]
    told = {**os.environ, "OMP_NUM_THREADS": "5"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, env=told)
    assert done.stdout == "5\n"
    with pytest.raises(ValueError, match="num_threads has to be 1 or more, not 0"):
        polyc.load(THREADS, num_threads=0)
    with pytest.raises(TypeError, match="num_threads is a number, not 'two'"):
        polyc.load(THREADS, num_threads="two")  # type: ignore[arg-type]


def test_threads_may_call_at_once() -> None:
    twice = polyc.load(TWICE, num_threads=1)
    arrays = [np.full(1000, float(k)) for k in range(8)]

    def work(data: Any) -> None:
        for _ in range(50):
            twice(1000, data)

    threads = [threading.Thread(target=work, args=(data,)) for data in arrays]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k, data in enumerate(arrays):
        assert np.array_equal(data, np.full(1000, k * 2.0**50))
