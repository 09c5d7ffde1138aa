"""What the macros of a text have to be: the definitions that its checks take them for, as they were reviewed.

No check reads what stands in a macro, so that each of them is here a second time, without the code that prints it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

VectorTypes = Mapping[str, tuple[str, int, int]]

MEANINGS = {
    "polyc_min": "#define polyc_min(a, b) ((a) < (b) ? (a) : (b))",
    "polyc_max": "#define polyc_max(a, b) ((a) > (b) ? (a) : (b))",
    "polyc_floord": "#define polyc_floord(n, d) ((n) < 0 ? -((-(n) + (d) - 1) / (d)) : (n) / (d))",
    "polyc_apart": "#define polyc_apart(a, a_end, b, b_end) "
    "((unsigned long)(a_end) <= (unsigned long)(b) || (unsigned long)(b_end) <= (unsigned long)(a))",
    "polyc_int": """#ifdef __GNUC__ /* a choice as a whole: its branches converted one by one are no minimum to gcc */
#define polyc_int(x) __extension__({ int polyc_x = (x); polyc_x; })
#else
#define polyc_int(x) (x)
#endif""",
    "polyc_simd": """#ifdef _OPENMP
#define polyc_simd _Pragma("omp simd")
#elif defined(__GNUC__) && !defined(__clang__)
#define polyc_simd _Pragma("GCC ivdep")
#else
#define polyc_simd
#endif""",
    "polyc_outer_simd": """#if defined(_OPENMP) && !defined(__clang__)
#define polyc_outer_simd _Pragma("omp simd")
#else
#define polyc_outer_simd
#endif""",
    "polyc_plain_simd": """#ifdef _OPENMP
#define polyc_plain_simd _Pragma("omp simd")
#elif defined(__clang__)
#define polyc_plain_simd _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define polyc_plain_simd _Pragma("GCC ivdep")
#else
#define polyc_plain_simd
#endif""",
    "polyc_unjammed": """#if defined(__GNUC__) && !defined(__clang__) /* jammed, the loop would have no vectors */
#define polyc_unjammed() __asm__ volatile ("")
#else
#define polyc_unjammed() (void)0
#endif""",
    "polyc_threads": "#define polyc_threads(worth) (worth)",
    "polyc_several": """#ifdef _OPENMP
#define polyc_several() \\
  __extension__({ int omp_get_max_threads(void); __builtin_expect(omp_get_max_threads() > 1, 0); })
#else
#define polyc_several() 0
#endif""",
    "polyc_many": """#ifdef _OPENMP
#define polyc_many() \\
  __extension__({ int omp_get_max_threads(void); __builtin_expect(omp_get_max_threads() > 3, 0); })
#else
#define polyc_many() 0
#endif""",
    **{
        f"polyc_{name}": f"""#if defined(__GLIBC__) && defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define polyc_{name}(a, b) \\
  __extension__({{ {element} polyc_a = (a), polyc_b = (b); \\
    polyc_a != polyc_a ? polyc_b : polyc_a {op} polyc_b ? polyc_b : polyc_a; }})
#else
#define polyc_{name}(a, b) {name}(a, b)
#endif"""
        for name, element, op in (
            ("fmax", "double", "<"),
            ("fmaxf", "float", "<"),
            ("fmin", "double", ">"),
            ("fminf", "float", ">"),
        )
    },
    **{
        f"polyc_v{name}": f"""#if defined(__GLIBC__) && defined(__AVX__) && defined(__GNUC__) && !defined(__clang__)
#define polyc_v{name}(a, b) \\
  __extension__({{ union {{ {element} value; {bits} bits; }} polyc_a = {{(a)}}, polyc_b = {{(b)}}; \\
    const {bits} polyc_mask = \\
      -({bits})((polyc_a.value {op} polyc_b.value) | (polyc_a.value != polyc_a.value)); \\
    polyc_a.bits = (polyc_b.bits & polyc_mask) | (polyc_a.bits & ~polyc_mask); polyc_a.value; }})
#elif defined(__GLIBC__) && defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define polyc_v{name}(a, b) \\
  __extension__({{ {element} polyc_a = (a), polyc_b = (b); \\
    polyc_a {op} polyc_b ? polyc_b : polyc_a != polyc_a ? polyc_b : polyc_a; }})
#else
#define polyc_v{name}(a, b) {name}(a, b)
#endif"""
        for name, element, bits, op in (
            ("fmax", "double", "unsigned long long", "<"),
            ("fmaxf", "float", "unsigned", "<"),
            ("fmin", "double", "unsigned long long", ">"),
            ("fminf", "float", "unsigned", ">"),
        )
    },
    **{
        f"polyc_sqrt{letter}": f"""#ifdef __GNUC__ /* errno, which nobody reads, keeps loops from vectors */
#define polyc_sqrt{letter}(x) \\
  __extension__({{ {kind} (sqrt{letter})({kind}) __attribute__((const)); sqrt{letter}(x); }})
#else
#define polyc_sqrt{letter}(x) sqrt{letter}(x)
#endif"""
        for letter, kind in (("", "double"), ("f", "float"))
    },
    **{
        f"polyc_{kind}{f}": f"""#if defined(__GNUC__) && !defined(__clang__) && defined({needed}) \\
  && !defined(__NO_TRAPPING_MATH__)
#define polyc_{kind}{f}(x) \\
  __extension__({{ union {{ {element} value; {bits} bits; }} polyc_1 = {{1}}; const {element} polyc_x = (x), \\
    polyc_y = {y}, polyc_r = __builtin_rint{f}(polyc_y); \\
    polyc_1.bits &= -({bits})(polyc_r > polyc_y); __builtin_copysign{f}(polyc_r - polyc_1.value, polyc_x); }})
#else
#define polyc_{kind}{f}(x) {kind}{f}(x)
#endif"""
        for kind, f, element, bits, needed, y in (
            ("floor", "", "double", "unsigned long long", "__AVX2__", "polyc_x"),
            ("floor", "f", "float", "unsigned", "__SSE4_1__", "polyc_x"),
            ("ceil", "", "double", "unsigned long long", "__AVX2__", "-polyc_x"),
            ("ceil", "f", "float", "unsigned", "__SSE4_1__", "-polyc_x"),
            ("trunc", "", "double", "unsigned long long", "__AVX2__", "__builtin_fabs(polyc_x)"),
            ("trunc", "f", "float", "unsigned", "__SSE4_1__", "__builtin_fabsf(polyc_x)"),
            ("round", "", "double", "unsigned long long", "__AVX2__", "__builtin_fabs(polyc_x) + 0x1.fffffffffffffp-2"),
            ("round", "f", "float", "unsigned", "__SSE4_1__", "__builtin_fabsf(polyc_x) + 0x1.fffffep-2f"),
        )
    },
    **{
        f"polyc_select{letter}": f"""#ifdef __GNUC__ /* both are computed: a branch keeps loops from vectors */
#define polyc_select{letter}(test, a, b) \\
  __extension__({{ union {{ {element} value; {bits} bits; }} polyc_a = {{(a)}}, polyc_b = {{(b)}}; \\
    const {bits} polyc_mask = -({bits})((test) != 0); \\
    polyc_a.bits = (polyc_a.bits & polyc_mask) | (polyc_b.bits & ~polyc_mask); polyc_a.value; }})
#else
#define polyc_select{letter}(test, a, b) ((test) ? (a) : (b))
#endif"""
        for letter, element, bits in (("f", "float", "unsigned"), ("", "double", "unsigned long long"))
    },
    "polyc_selecti": r"""#ifdef __GNUC__ /* both are computed: a branch keeps loops from vectors */
#define polyc_selecti(test, a, b) \
  __extension__({ const int polyc_a = (a), polyc_b = (b), polyc_mask = -((test) != 0); \
    (polyc_a & polyc_mask) | (polyc_b & ~polyc_mask); })
#else
#define polyc_selecti(test, a, b) ((test) ? (a) : (b))
#endif""",
    "polyc_flag": """#ifdef __GNUC__ /* the byte of a bool, which is 0 or 1: gcc makes no vectors of loads of a bool */
#define polyc_flag(x) (*(const unsigned char *)&(x))
#else
#define polyc_flag(x) (x)
#endif""",
    "polyc_tiles": """#ifdef _OPENMP
#define polyc_tiles(written, tiled) \\
  __extension__({ int omp_get_max_threads(void); double polyc_w = (written); \\
    __builtin_expect((polyc_w > 2e5 ? polyc_w * omp_get_max_threads() : polyc_w) > (tiled), 1); })
#elif defined(__GNUC__)
#define polyc_tiles(written, tiled) __builtin_expect((written) > (tiled), 1)
#else
#define polyc_tiles(written, tiled) ((written) > (tiled))
#endif""",
    "polyc_pays": "#define polyc_pays(work, ranges) ((work) > 24e3 && (work) > 64. * (ranges))",
}
"""The macros that `affine.py` and the check of guards read as functions."""
LIST = {
    "polyc_ranges": r"""#define polyc_ranges() /* a list that grows, and as much room again to sort it */ \
  unsigned long (*polyc_list)[3] = 0, polyc_used = 0, polyc_places = 0, polyc_lost = 0""",
    "polyc_range": r"""#define polyc_range(from, to, written) do { \
    if ((unsigned long)(from) < (unsigned long)(to) && polyc_used == polyc_places) { \
      void *polyc_more = __builtin_realloc(polyc_list, 48UL * (2 * polyc_places + 64)); \
      if (polyc_more) polyc_list = polyc_more, polyc_places = 2 * polyc_places + 64; \
      else polyc_lost = 1; \
    } \
    if ((unsigned long)(from) < (unsigned long)(to) && polyc_used < polyc_places) { \
      polyc_list[polyc_used][0] = (unsigned long)(from); \
      polyc_list[polyc_used][1] = (unsigned long)(to); \
      polyc_list[polyc_used++][2] = (written); \
    } \
  } while (0)""",
    "polyc_all_apart": r"""#define polyc_all_apart(answer) do { /* merges sorted runs until one is left */ \
    unsigned long polyc_k, polyc_end = 0, polyc_written_end = 0, polyc_runs = 2; \
    unsigned long (*const polyc_room)[3] = polyc_list; \
    unsigned long (*polyc_other)[3] = polyc_list ? polyc_list + polyc_places : 0; \
    while (polyc_runs > 1) { \
      unsigned long polyc_a, polyc_b, polyc_middle, polyc_behind, (*polyc_swapped)[3] = polyc_list; \
      for (polyc_runs = polyc_k = 0; polyc_k < polyc_used; polyc_runs++) { \
        polyc_a = polyc_k, polyc_middle = polyc_k + 1; \
        while (polyc_middle < polyc_used && polyc_list[polyc_middle - 1][0] <= polyc_list[polyc_middle][0]) \
          polyc_middle++; \
        polyc_b = polyc_middle, polyc_behind = polyc_middle + (polyc_middle < polyc_used); \
        while (polyc_behind < polyc_used && polyc_list[polyc_behind - 1][0] <= polyc_list[polyc_behind][0]) \
          polyc_behind++; \
        for (; polyc_k < polyc_behind; polyc_k++) { \
          const unsigned long polyc_first = polyc_b == polyc_behind \
            || (polyc_a < polyc_middle && polyc_list[polyc_a][0] <= polyc_list[polyc_b][0]); \
          const unsigned long *polyc_one = polyc_list[polyc_first ? polyc_a++ : polyc_b++]; \
          polyc_other[polyc_k][0] = polyc_one[0]; \
          polyc_other[polyc_k][1] = polyc_one[1]; \
          polyc_other[polyc_k][2] = polyc_one[2]; \
        } \
      } \
      polyc_list = polyc_other, polyc_other = polyc_swapped; \
    } \
    (answer) = (answer) && !polyc_lost; \
    for (polyc_k = 0; polyc_k < polyc_used; polyc_k++) { \
      const unsigned long *polyc_one = polyc_list[polyc_k]; \
      if (polyc_one[0] < (polyc_one[2] ? polyc_end : polyc_written_end)) (answer) = 0; \
      if (polyc_one[1] > polyc_end) polyc_end = polyc_one[1]; \
      if (polyc_one[2] && polyc_one[1] > polyc_written_end) polyc_written_end = polyc_one[1]; \
    } \
    __builtin_free(polyc_room); \
  } while (0)""",
}
"""A list of ranges in memory, and whether one that is written overlaps another one: sorted by their begins, each has to
begin behind all written ones before it, and behind all others too where it is written itself."""
STREAMING = r"""#if (defined(__GNUC__) || defined(__clang__)) && defined(__SSE2__) \
    && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define polyc_stream(to, from, bytes) __extension__({ \
    typedef float polyc_line __attribute__((vector_size(polyc_bytes), may_alias)); \
    char *polyc_to = (char *)(to); const char *polyc_from = (const char *)(from); \
    long polyc_n = (long)(bytes), polyc_k = (long)(-(unsigned long)polyc_to % 64); \
    if (polyc_n > 0) { \
      if (polyc_k > polyc_n) polyc_k = polyc_n; \
      __builtin_memcpy(polyc_to, polyc_from, (unsigned long)polyc_k); \
      for (; polyc_k + 64 <= polyc_n; polyc_k += 64) \
        for (int polyc_l = 0; polyc_l < 64; polyc_l += polyc_bytes) { \
          polyc_line polyc_v; \
          __builtin_memcpy(&polyc_v, polyc_from + polyc_k + polyc_l, polyc_bytes); \
          polyc_put(polyc_to + polyc_k + polyc_l, polyc_v); \
        } \
      __builtin_memcpy(polyc_to + polyc_k, polyc_from + polyc_k, (unsigned long)(polyc_n - polyc_k)); \
    } \
  })
#define polyc_fence() __builtin_ia32_sfence()
#ifdef __AVX512F__
#define polyc_bytes 64
#define polyc_put(to, line) __builtin_ia32_movntps512((float *)(to), line)
#elif defined(__AVX__)
#define polyc_bytes 32
#define polyc_put(to, line) __builtin_ia32_movntps256((float *)(to), line)
#else
#define polyc_bytes 16
#define polyc_put(to, line) __builtin_ia32_movntps((float *)(to), line)
#endif
#ifdef __clang__
#undef polyc_put
#define polyc_put(to, line) __builtin_nontemporal_store(line, (polyc_line *)(to))
#endif
#else
#define polyc_stream(to, from, bytes) __builtin_memcpy(to, from, (long)(bytes) > 0 ? (bytes) : 0)
#define polyc_fence() ((void)0)
#endif"""
LOOKUP = """#if defined(__GNUC__) && !defined(__clang__)
#define polyc_lookup_{name}(row, n, k) __builtin_shuffle(polyc_{name}(*(row)), polyc_{name}((row)[(n) - {lanes}]), \
(k) + (((k) > {last}) & ({both} - (int)(n))))
#else
#define polyc_lookup_{name}(row, n, k) ((polyc_{name}){{{loads}}})
#endif"""
"""Elements k of a row of n: in its first and its last vector, which overlap."""
PAIR = "#define polyc_pair_{name}(row, k, p) __builtin_shuffle(polyc_{name}(*(row)), polyc_{name}((row)[64]), k)"
EITHER = """#define polyc_either_{name}(p, bit, one, other) \
(((polyc_{name})(((p) & (bit)) != 0) & (one)) | (~(polyc_{name})(((p) & (bit)) != 0) & (other)))"""
HALVES = """#define polyc_lookup{size}_{name}(row, k, p) \
polyc_either_{name}(p, {bit}, {inner}((row) + {half}, k, p), {inner}(row, k, p))"""
BYTES = """#else
#define polyc_lookup{count}_{name}(row, k, p) __extension__({{ polyc_{name} polyc_v; \
for (int polyc_l = 0; polyc_l < 64; polyc_l++) \
polyc_v[polyc_l] = (row)[(k)[polyc_l] % 128 + 128 * (p)[polyc_l]]; polyc_v; }})
#endif"""
_LOOKUP = re.compile(r"polyc_lookup(\d*)_(\w+)")


def definitions(used: Iterable[str], vectors: VectorTypes) -> Iterator[str]:
    """The lines that have to stand in a text which uses such words, several of them together.

    vectors: name of a vector type -> its element type, lanes, bytes of an element
    """
    words = set(used)
    yield from (text for name, text in MEANINGS.items() if name in words)
    yield from LIST.values() if words & set(LIST) else ()
    yield from (f"#define {name}(x) (*({name} *)&(x))" for name in vectors if name in words)
    if words & {"polyc_stream", "polyc_fence"}:
        yield STREAMING
    for word in sorted(words):
        match = _LOOKUP.fullmatch(word)
        if match is not None:
            count, name = match.groups()
            yield _of_bytes(name, int(count)) if count else _of_elements(name, vectors[f"polyc_{name}"][1])


def _of_elements(name: str, lanes: int) -> str:
    loads = ", ".join(f"(row)[(k)[{lane}]]" for lane in range(lanes))
    return LOOKUP.format(name=name, lanes=lanes, last=lanes - 1, both=2 * lanes, loads=loads)


def _of_bytes(name: str, count: int) -> str:
    """Rows of bytes: halves of halves, of which the last have 128 elements."""
    lines = [BYTES.format(count=count, name=name)]
    inner = f"polyc_pair_{name}"
    steps = [PAIR.format(name=name)] + [EITHER.format(name=name)] * (count > 128)
    for size in (256, 512, 1024):
        if size <= count:
            steps.append(HALVES.format(size=size, name=name, bit=size // 256, inner=inner, half=size // 2))
            inner = f"polyc_lookup{size}_{name}"
    if count == 128:
        steps.append(f"#define polyc_lookup128_{name}(row, k, p) {inner}(row, k, p)")
    return "\n".join(("#if defined(__AVX512VBMI__) && !defined(__clang__)", *reversed(steps), *lines))
