"""Integer literals of C, and C's arithmetic on known integers."""

from __future__ import annotations

COMPARED = {
    "<": int.__lt__,
    "<=": int.__le__,
    ">": int.__gt__,
    ">=": int.__ge__,
    "==": int.__eq__,
    "!=": int.__ne__,
}


def literal_value(text: str) -> int | None:
    """The value of an integer or character literal, None for floats and strings."""
    escapes = {"n": 10, "t": 9, "0": 0, "r": 13, "\\": 92, "'": 39, '"': 34, "a": 7, "b": 8, "f": 12, "v": 11}
    if text.startswith("'"):
        inner = text[1:-1]
        if len(inner) == 1:
            return ord(inner) if ord(inner) < 128 else None
        return escapes.get(inner[1]) if len(inner) == 2 else None
    digits = text.rstrip("uUlL").replace("'", "")
    try:
        if len(digits) > 1 and digits[0] == "0" and digits.isdigit():
            return int(digits, 8)
        return int(digits, 0)
    except ValueError:
        return None


def fold(op: str, left: int, right: int) -> int | None:
    """C's arithmetic on two known integers."""
    if op in ("/", "%"):
        if right == 0:
            return None
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return quotient if op == "/" else left - quotient * right
    if op in ("<<", ">>"):
        return None if not 0 <= right < 64 else left << right if op == "<<" else left >> right
    known = {"+": left + right, "-": left - right, "*": left * right, "&": left & right, "|": left | right}
    return known.get(op)


def evaluated(op: str, left: int, right: int) -> int | None:
    """The same, with comparisons, which are 0 or 1, and the exclusive or."""
    if op in COMPARED:
        return int(COMPARED[op](left, right))
    return left ^ right if op == "^" else fold(op, left, right)
