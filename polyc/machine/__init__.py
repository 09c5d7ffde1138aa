"""What the hardware is: machines as data, and how much of one a block of threads takes."""

from polyc.machine.gpu import Gpu
from polyc.machine.load import GENERIC, Machine, is_file, load, shipped

__all__ = ["GENERIC", "Gpu", "Machine", "is_file", "load", "shipped"]
