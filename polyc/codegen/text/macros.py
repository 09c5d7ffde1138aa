"""The macros of a printed text, by name."""

from __future__ import annotations

from polyc.analysis.expressions.promoted import EXTREMA, FLAG, ROOTS, ROUNDED, VECTOR_EXTREMA, WHOLE
from polyc.analysis.expressions.selects import SELECTS, WHOLE_SELECT

MIN, MAX, FLOORD = "polyc_min", "polyc_max", "polyc_floord"
APART = "polyc_apart"
"""Whether two ranges of memory do not overlap, each from its start to just after its end."""
RANGES, RANGE, ALL_APART = "polyc_ranges", "polyc_range", "polyc_all_apart"
"""Room for a list of ranges; one more of them; and whether none that is written overlaps another one."""
PAYS = "polyc_pays"
"""Whether a region does so much work that a list of some ranges is worth its time."""
THREADS = "polyc_threads"
"""Whether threads are worth their start."""
SEVERAL = "polyc_several"
"""Whether there are several threads to run in."""
MANY = "polyc_many"
"""Whether there are so many that they are worth a search which takes as long as the loops."""
TILES = "polyc_tiles"
"""Whether tiles of registers, which the second number of multiply-adds takes, are worth it where the loops as written
take the time of the first: in one thread, unless there is enough for all. Without a word on what is likely gcc makes
less of the loops as written (rank-1 updates took 1.2 times as long)."""

SIMD = "polyc_simd"
"""Before a loop whose iterations do not depend on each other. clang warns where it makes no vectors of one that it was
told so of."""
PLAIN_SIMD = "polyc_plain_simd"
"""Before one of which it does."""
OUTER_SIMD = "polyc_outer_simd"
"""Before a loop with loops in it, of which clang makes none."""

UNJAMMED = "polyc_unjammed"
"""In a loop that gcc is not to unroll and jam: code with an effect that nobody may leave out, and no instruction."""


IN_VECTORS = (
    *(macro for macros in (EXTREMA, VECTOR_EXTREMA, ROOTS, ROUNDED, SELECTS) for macro in macros.values()),
    WHOLE_SELECT,
    FLAG,
)
"""In the place of calls and branches that keep loops from vectors."""


def _more_threads(name: str, count: int) -> str:
    """A macro that asks whether there are more threads. gcc takes what it leads to for likely without a word, and
    optimises the loops as written for size."""
    return f"""#ifdef _OPENMP
#define {name}() \\
  __extension__({{ int omp_get_max_threads(void); __builtin_expect(omp_get_max_threads() > {count}, 0); }})
#else
#define {name}() 0
#endif"""


def _extremum(function: str, macro: str) -> str:
    """A macro with the values of glibc's function, to the sign of zeros and of what is no number. gcc calls the
    function, which keeps loops from vectors, since it may not know that nobody looks at these."""
    element = "float" if function.endswith("f") else "double"
    op = "<" if "max" in function else ">"
    return f"""#if defined(__GLIBC__) && defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define {macro}(a, b) \\
  __extension__({{ {element} polyc_a = (a), polyc_b = (b); \\
    polyc_a != polyc_a ? polyc_b : polyc_a {op} polyc_b ? polyc_b : polyc_a; }})
#else
#define {macro}(a, b) {function}(a, b)
#endif"""


def _vector_extremum(function: str, macro: str) -> str:
    """The same without a jump: compilers make one of a choice where one of two numbers is a constant, and with it
    something else is. Without AVX, masks of whole numbers take them four times as long as a choice."""
    element, bits = ("float", "unsigned") if function.endswith("f") else ("double", "unsigned long long")
    op = "<" if "max" in function else ">"
    return f"""#if defined(__GLIBC__) && defined(__AVX__) && defined(__GNUC__) && !defined(__clang__)
#define {macro}(a, b) \\
  __extension__({{ union {{ {element} value; {bits} bits; }} polyc_a = {{(a)}}, polyc_b = {{(b)}}; \\
    const {bits} polyc_mask = \\
      -({bits})((polyc_a.value {op} polyc_b.value) | (polyc_a.value != polyc_a.value)); \\
    polyc_a.bits = (polyc_b.bits & polyc_mask) | (polyc_a.bits & ~polyc_mask); polyc_a.value; }})
#elif defined(__GLIBC__) && defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define {macro}(a, b) \\
  __extension__({{ {element} polyc_a = (a), polyc_b = (b); \\
    polyc_a {op} polyc_b ? polyc_b : polyc_a != polyc_a ? polyc_b : polyc_a; }})
#else
#define {macro}(a, b) {function}(a, b)
#endif"""


def _whole_select(macro: str) -> str:
    """The same for values of the type `int`."""
    return f"""#ifdef __GNUC__ /* both are computed: a branch keeps loops from vectors */
#define {macro}(test, a, b) \\
  __extension__({{ const int polyc_a = (a), polyc_b = (b), polyc_mask = -((test) != 0); \\
    (polyc_a & polyc_mask) | (polyc_b & ~polyc_mask); }})
#else
#define {macro}(test, a, b) ((test) ? (a) : (b))
#endif"""


def _root(function: str, macro: str) -> str:
    """A square root that compilers have an instruction for: they may take it for a function of its argument alone."""
    element = "float" if function[-1] == "f" else "double"
    return f"""#ifdef __GNUC__ /* errno, which nobody reads, keeps loops from vectors */
#define {macro}(x) \\
  __extension__({{ {element} ({function})({element}) __attribute__((const)); {function}(x); }})
#else
#define {macro}(x) {function}(x)
#endif"""


def _rounded(function: str, macro: str) -> str:
    """A number without its fraction, which gcc does not compute for several at once as long as somebody might look at
    the exceptions that this raises: `rint`, for which it does, and one less where that is greater than y.

    math: floor(y) = rint(y) - (rint(y) > y), with rint(y) any of the two whole numbers around y; ceil(x) = -floor(-x),
          trunc(x) = floor(|x|) and round(x) = floor(|x| + p) but for the sign, which is that of x. p is the greatest
          number below 1/2: 1/2 itself would round the number before 1/2 up
    """
    if function.endswith("f"):
        kind, f, element, bits, half = function[:-1], "f", "float", "unsigned", "0x1.fffffep-2f"
        needed = "__SSE4_1__"
    else:
        kind, f, element, bits, half = function, "", "double", "unsigned long long", "0x1.fffffffffffffp-2"
        needed = "__AVX2__"
    x = f"__builtin_fabs{f}(polyc_x)"
    y = {"floor": "polyc_x", "ceil": "-polyc_x", "trunc": x, "round": f"{x} + {half}"}[kind]
    return f"""#if defined(__GNUC__) && !defined(__clang__) && defined({needed}) \\
  && !defined(__NO_TRAPPING_MATH__)
#define {macro}(x) \\
  __extension__({{ union {{ {element} value; {bits} bits; }} polyc_1 = {{1}}; const {element} polyc_x = (x), \\
    polyc_y = {y}, polyc_r = __builtin_rint{f}(polyc_y); \\
    polyc_1.bits &= -({bits})(polyc_r > polyc_y); __builtin_copysign{f}(polyc_r - polyc_1.value, polyc_x); }})
#else
#define {macro}(x) {function}(x)
#endif"""


def _select(macro: str, element: str, bits: str) -> str:
    """A macro that computes two values, and takes one without a jump."""
    return f"""#ifdef __GNUC__ /* both are computed: a branch keeps loops from vectors */
#define {macro}(test, a, b) \\
  __extension__({{ union {{ {element} value; {bits} bits; }} polyc_a = {{(a)}}, polyc_b = {{(b)}}; \\
    const {bits} polyc_mask = -({bits})((test) != 0); \\
    polyc_a.bits = (polyc_a.bits & polyc_mask) | (polyc_b.bits & ~polyc_mask); polyc_a.value; }})
#else
#define {macro}(test, a, b) ((test) ? (a) : (b))
#endif"""


MACROS = {
    MIN: f"#define {MIN}(a, b) ((a) < (b) ? (a) : (b))",
    MAX: f"#define {MAX}(a, b) ((a) > (b) ? (a) : (b))",
    FLOORD: f"#define {FLOORD}(n, d) ((n) < 0 ? -((-(n) + (d) - 1) / (d)) : (n) / (d))",
    APART: f"#define {APART}(a, a_end, b, b_end) "
    "((unsigned long)(a_end) <= (unsigned long)(b) || (unsigned long)(b_end) <= (unsigned long)(a))",
    WHOLE: f"""#ifdef __GNUC__ /* a choice as a whole: its branches converted one by one are no minimum to gcc */
#define {WHOLE}(x) __extension__({{ int polyc_x = (x); polyc_x; }})
#else
#define {WHOLE}(x) (x)
#endif""",
    SIMD: f"""#ifdef _OPENMP
#define {SIMD} _Pragma("omp simd")
#elif defined(__GNUC__) && !defined(__clang__)
#define {SIMD} _Pragma("GCC ivdep")
#else
#define {SIMD}
#endif""",
    OUTER_SIMD: f"""#if defined(_OPENMP) && !defined(__clang__)
#define {OUTER_SIMD} _Pragma("omp simd")
#else
#define {OUTER_SIMD}
#endif""",
    PLAIN_SIMD: f"""#ifdef _OPENMP
#define {PLAIN_SIMD} _Pragma("omp simd")
#elif defined(__clang__)
#define {PLAIN_SIMD} _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define {PLAIN_SIMD} _Pragma("GCC ivdep")
#else
#define {PLAIN_SIMD}
#endif""",
    UNJAMMED: f"""#if defined(__GNUC__) && !defined(__clang__) /* jammed, the loop would have no vectors */
#define {UNJAMMED}() __asm__ volatile ("")
#else
#define {UNJAMMED}() (void)0
#endif""",
    THREADS: f"#define {THREADS}(worth) (worth)",
    SEVERAL: _more_threads(SEVERAL, 1),
    MANY: _more_threads(MANY, 3),
    **{macro: _extremum(function, macro) for function, macro in EXTREMA.items()},
    **{macro: _vector_extremum(function, macro) for function, macro in VECTOR_EXTREMA.items()},
    **{macro: _root(function, macro) for function, macro in ROOTS.items()},
    **{macro: _rounded(function, macro) for function, macro in ROUNDED.items()},
    SELECTS["float"]: _select(SELECTS["float"], "float", "unsigned"),
    SELECTS["double"]: _select(SELECTS["double"], "double", "unsigned long long"),
    WHOLE_SELECT: _whole_select(WHOLE_SELECT),
    FLAG: f"""#ifdef __GNUC__ /* the byte of a bool, which is 0 or 1: gcc makes no vectors of loads of a bool */
#define {FLAG}(x) (*(const unsigned char *)&(x))
#else
#define {FLAG}(x) (x)
#endif""",
    TILES: f"""#ifdef _OPENMP
#define {TILES}(written, tiled) \\
  __extension__({{ int omp_get_max_threads(void); double polyc_w = (written); \\
    __builtin_expect((polyc_w > 2e5 ? polyc_w * omp_get_max_threads() : polyc_w) > (tiled), 1); }})
#elif defined(__GNUC__)
#define {TILES}(written, tiled) __builtin_expect((written) > (tiled), 1)
#else
#define {TILES}(written, tiled) ((written) > (tiled))
#endif""",
    PAYS: f"#define {PAYS}(work, ranges) ((work) > 24e3 && (work) > 64. * (ranges))",
    RANGES: f"""#define {RANGES}() /* a list that grows, and as much room again to sort it */ \\
  unsigned long (*polyc_list)[3] = 0, polyc_used = 0, polyc_places = 0, polyc_lost = 0""",
    RANGE: f"""#define {RANGE}(from, to, written) do {{ \\
    if ((unsigned long)(from) < (unsigned long)(to) && polyc_used == polyc_places) {{ \\
      void *polyc_more = __builtin_realloc(polyc_list, 48UL * (2 * polyc_places + 64)); \\
      if (polyc_more) polyc_list = polyc_more, polyc_places = 2 * polyc_places + 64; \\
      else polyc_lost = 1; \\
    }} \\
    if ((unsigned long)(from) < (unsigned long)(to) && polyc_used < polyc_places) {{ \\
      polyc_list[polyc_used][0] = (unsigned long)(from); \\
      polyc_list[polyc_used][1] = (unsigned long)(to); \\
      polyc_list[polyc_used++][2] = (written); \\
    }} \\
  }} while (0)""",
    ALL_APART: f"""#define {ALL_APART}(answer) do {{ /* merges sorted runs until one is left */ \\
    unsigned long polyc_k, polyc_end = 0, polyc_written_end = 0, polyc_runs = 2; \\
    unsigned long (*const polyc_room)[3] = polyc_list; \\
    unsigned long (*polyc_other)[3] = polyc_list ? polyc_list + polyc_places : 0; \\
    while (polyc_runs > 1) {{ \\
      unsigned long polyc_a, polyc_b, polyc_middle, polyc_behind, (*polyc_swapped)[3] = polyc_list; \\
      for (polyc_runs = polyc_k = 0; polyc_k < polyc_used; polyc_runs++) {{ \\
        polyc_a = polyc_k, polyc_middle = polyc_k + 1; \\
        while (polyc_middle < polyc_used && polyc_list[polyc_middle - 1][0] <= polyc_list[polyc_middle][0]) \\
          polyc_middle++; \\
        polyc_b = polyc_middle, polyc_behind = polyc_middle + (polyc_middle < polyc_used); \\
        while (polyc_behind < polyc_used && polyc_list[polyc_behind - 1][0] <= polyc_list[polyc_behind][0]) \\
          polyc_behind++; \\
        for (; polyc_k < polyc_behind; polyc_k++) {{ \\
          const unsigned long polyc_first = polyc_b == polyc_behind \\
            || (polyc_a < polyc_middle && polyc_list[polyc_a][0] <= polyc_list[polyc_b][0]); \\
          const unsigned long *polyc_one = polyc_list[polyc_first ? polyc_a++ : polyc_b++]; \\
          polyc_other[polyc_k][0] = polyc_one[0]; \\
          polyc_other[polyc_k][1] = polyc_one[1]; \\
          polyc_other[polyc_k][2] = polyc_one[2]; \\
        }} \\
      }} \\
      polyc_list = polyc_other, polyc_other = polyc_swapped; \\
    }} \\
    (answer) = (answer) && !polyc_lost; \\
    for (polyc_k = 0; polyc_k < polyc_used; polyc_k++) {{ \\
      const unsigned long *polyc_one = polyc_list[polyc_k]; \\
      if (polyc_one[0] < (polyc_one[2] ? polyc_end : polyc_written_end)) (answer) = 0; \\
      if (polyc_one[1] > polyc_end) polyc_end = polyc_one[1]; \\
      if (polyc_one[2] && polyc_one[1] > polyc_written_end) polyc_written_end = polyc_one[1]; \\
    }} \\
    __builtin_free(polyc_room); \\
  }} while (0)""",
}
