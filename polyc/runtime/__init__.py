"""Building and running a region from Python: the original and the result on the same input."""

from polyc.runtime.build import BuildError
from polyc.runtime.check import Report, check, compare
from polyc.runtime.differences import Difference

__all__ = ["BuildError", "Difference", "Report", "check", "compare"]
