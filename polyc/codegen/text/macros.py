"""The macros of a printed text, by name."""

from __future__ import annotations

MIN, MAX, FLOORD = "polyc_min", "polyc_max", "polyc_floord"
APART = "polyc_apart"
"""Whether two ranges of memory do not overlap, each from its start to just after its end."""
MACROS = {
    MIN: f"#define {MIN}(a, b) ((a) < (b) ? (a) : (b))",
    MAX: f"#define {MAX}(a, b) ((a) > (b) ? (a) : (b))",
    FLOORD: f"#define {FLOORD}(n, d) ((n) < 0 ? -((-(n) + (d) - 1) / (d)) : (n) / (d))",
    APART: f"#define {APART}(a, a_end, b, b_end) "
    "((unsigned long)(a_end) <= (unsigned long)(b) || (unsigned long)(b_end) <= (unsigned long)(a))",
}
