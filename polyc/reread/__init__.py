"""The second check: what was printed is read again, and compared with the region."""

from polyc.reread.compare import text_faults
from polyc.reread.lookups import lookup_faults
from polyc.reread.nontemporal import row_faults
from polyc.reread.program import NotComparable

__all__ = ["NotComparable", "lookup_faults", "row_faults", "text_faults"]
