"""The second check: what was printed is read again, and compared with the region."""

from polyc.reread.compare import text_faults
from polyc.reread.halves import FEWEST_STATEMENTS, Begun, begin, shown_in_halves
from polyc.reread.program import NotComparable
from polyc.reread.rewriting import rewriting_faults

__all__ = [
    "FEWEST_STATEMENTS",
    "Begun",
    "NotComparable",
    "begin",
    "rewriting_faults",
    "shown_in_halves",
    "text_faults",
]
