"""Functions of which polyc knows that they have no side effects that matter."""

from __future__ import annotations

_MATH = (
    "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma "
    "fmax fmin fmod hypot ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround nearbyint nextafter pow "
    "remainder rint round scalbn sin sinh sqrt tan tanh tgamma trunc"
)
_INTEGER = "abs labs llabs imaxabs isnan isinf isfinite signbit isnormal fpclassify isdigit isalpha toupper tolower"
_BUILTIN = (
    "__builtin_isnan __builtin_isinf __builtin_isfinite __builtin_isinf_sign __builtin_signbit __builtin_isnormal "
    "__builtin_nan __builtin_inf __builtin_huge_val __builtin_expect __builtin_popcount __builtin_clz __builtin_ctz "
    "__builtin_isgreater __builtin_isgreaterequal __builtin_isless __builtin_islessequal __builtin_islessgreater "
    "__builtin_isunordered __isnan __isinf __finite __signbit"
)

PURE: frozenset[str] = frozenset(
    [name + suffix for name in _MATH.split() for suffix in ("", "f", "l")]
    + [f"__builtin_{name}{suffix}" for name in _MATH.split() for suffix in ("", "f", "l")]
    + [f"{name}{suffix}" for name in _BUILTIN.split() for suffix in ("", "f", "l")]
    + _INTEGER.split()
)
"""May be called in a region."""

HARMLESS: frozenset[str] = PURE | frozenset(
    ["printf", "fprintf", "puts", "fputs", "putchar", "fputc", "fflush", "free", "exit", "abort", "assert", "__assert_fail", "time", "clock", "rand", "srand", "gettimeofday", "clock_gettime", "omp_get_wtime", "perror", "scanf", "fscanf", "sscanf", "snprintf", "memset", "memcpy", "memcmp", "strcmp", "polybench_timer_start", "polybench_timer_stop", "polybench_timer_print", "polybench_free_data", "polybench_flush_cache"]
)
"""Neither keep an address that they are given nor read the caller's variables by another way."""
