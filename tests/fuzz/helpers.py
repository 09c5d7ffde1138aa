"""Functions of the file that generated programs call: said to be pure, or for polyc to look into."""

from __future__ import annotations

VALUES = ("mixed", "blend", "ramp", "bent")
"""Names of functions of two values; an `f` or `i` behind the name tells the type."""
ROUNDED = ("floor", "ceil", "trunc", "round")
"""Functions of C's library of one value."""
CLAMPED = "clamped"
WRAPPED = "wrapped"
FLAT = "flat"
PROMISED = ("mixed", "mixedf", "mixedi")
"""Functions with a pragma that says that they are pure."""

_REAL = {
    "mixed": "static T mixed(T a, T b)\n{\n    return 0.5 * a - 0.25 * b;\n}\n",
    "blend": "static inline T blend(T a, T b) { return 0.25 * a + 0.5 * b; }\n",
    "ramp": "static inline T ramp(T a, T b)\n{\n    if (a < b)\n        return 0.5 * a;\n    return b;\n}\n",
    "bent": "static T bent(T a, T b)\n{\n    T c = 0.75 * a;\n    if (b > c)\n        c = 0.5 * b;\n    return c;\n}\n",
}
_WHOLE = "(int)(((unsigned)a * {}u + (unsigned)b) % 1009u)"
_INTEGER = {
    "mixedi": f"static int mixedi(int a, int b)\n{{\n    return {_WHOLE.format(3)};\n}}\n",
    "blendi": f"static inline int blendi(int a, int b) {{ return {_WHOLE.format(5)}; }}\n",
    "rampi": "static inline int rampi(int a, int b)\n{\n    if (a < b)\n        return a % 100;\n    return b;\n}\n",
    "benti": "static int benti(int a, int b)\n{\n    int c;\n    c = a % 100;\n    if (b > c)\n        c = b % 50;\n"
    "    return c;\n}\n",
}
TEXTS = {
    **{name: text.replace("T ", "double ") for name, text in _REAL.items()},
    **{
        f"{name}f": text.replace("T ", "float ").replace(f" {name}(", f" {name}f(").replace("5 *", "5f *")
        for name, text in _REAL.items()
    },
    **_INTEGER,
    CLAMPED: f"static inline int {CLAMPED}(int i, int n) {{ return i < 0 ? 0 : i < n ? i : n - 1; }}\n",
    WRAPPED: f"static inline int {WRAPPED}(int i, int n)\n{{\n    int r = i % n;\n    if (r < 0)\n        r += n;\n"
    "    return r;\n}\n",
    FLAT: f"static inline int {FLAT}(int y, int x, int w) {{ return y * w + x; }}\n",
}
"""The text of each function, by its name."""


def text_of(names: set[str]) -> str:
    """The functions that a program calls."""
    return "".join(
        TEXTS[name] + (f"#pragma polyc pure({name})\n" if name in PROMISED else "") for name in sorted(names)
    )


def named(name: str, type_: str) -> str:
    """A function for values of a type."""
    return name + {"double": "", "float": "f"}.get(type_, "i")
