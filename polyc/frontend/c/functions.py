"""Functions of which polyc knows that they have no side effects that matter."""

from __future__ import annotations

from polyc.analysis.expressions.facts import lvalues
from polyc.frontend.text.asserts import ASSERTED
from polyc.model import ctree as c
from polyc.model.ctree import NUMBERS

_MATH = """
acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma fmax fmin
fmod hypot ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround nan nearbyint nextafter pow remainder rint
round scalbn scalbln sin sinh sqrt tan tanh tgamma trunc ilogb
"""
_COMPLEX = """
cabs cacos cacosh carg casin casinh catan catanh ccos ccosh cexp cimag clog conj cpow cproj creal csin csinh csqrt ctan
ctanh
"""
_OTHER = """
abs labs llabs imaxabs isnan isinf isfinite signbit isnormal fpclassify isdigit isalpha isspace isupper islower toupper
tolower __builtin_abs __builtin_labs __builtin_fpclassify __builtin_expect __builtin_popcountl __builtin_popcountll
__builtin_popcount __builtin_clz __builtin_ctz __builtin_isgreater __builtin_isgreaterequal __builtin_isless
__builtin_islessequal __builtin_islessgreater __builtin_isunordered __builtin_isinf_sign offsetof
"""
_HINTS = "__pencil_assume __pencil_kill __builtin_assume"
_MEMORY = "memset memcpy memmove memcmp strcmp"
_CLASSES = ("isnan", "isinf", "isfinite", "isnormal", "signbit", "finite")
_QUIET = """
printf fprintf puts fputs putchar fputc fflush free assert __assert_fail time clock rand srand gettimeofday
clock_gettime omp_get_wtime perror scanf fscanf sscanf snprintf polybench_timer_start
polybench_timer_stop polybench_timer_print polybench_free_data polybench_flush_cache
"""

PURE: frozenset[str] = frozenset(
    [
        f"{prefix}{name}{suffix}"
        for name in (_MATH + _COMPLEX).split()
        for prefix in ("", "__builtin_")
        for suffix in ("", "f", "l")
    ]
    + [f"{prefix}{name}{suffix}" for name in _CLASSES for prefix in ("__builtin_", "__") for suffix in ("", "f", "l")]
    + _OTHER.split()
    + [*NUMBERS]
)
"""Compute a value from their arguments."""

ENDS: frozenset[str] = frozenset(
    ["abort", "exit", "_exit", "_Exit", "quick_exit", "__assert_fail", "__builtin_trap", "__builtin_unreachable"]
)
"""End the program."""

HINTS: frozenset[str] = frozenset([*_HINTS.split(), ASSERTED])
"""Tell the compiler something, and do nothing."""

MEMORY: frozenset[str] = frozenset(_MEMORY.split())
"""Touch what they are given, and nothing else."""

QUIET: frozenset[str] = frozenset(_QUIET.split())
"""Touch what they are given, and the world outside: their order matters."""

HARMLESS: frozenset[str] = PURE | HINTS | MEMORY | QUIET | {"exit", "abort"}
"""Neither keep an address that they are given nor read the caller's variables by another way."""


def has_no_effect(expr: c.Expr) -> bool:
    """Whether an expression only has a value."""
    calls = (node.function for node in c.walk(expr) if isinstance(node, c.Call))
    return not any(True for _ in lvalues(expr)) and PURE.issuperset(calls)


def real_type(name: str) -> str | None:
    """The type of what a function of `<math.h>` computes, where that is a floating one."""
    plain = name.removeprefix("__builtin_")
    if plain in _REAL:
        return "double"
    return "float" if plain[:-1] in _REAL and plain.endswith("f") else None


_REAL = frozenset(_MATH.split()) - {"ilogb", "llrint", "llround", "lrint", "lround"}
