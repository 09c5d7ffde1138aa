"""What the hardware is: machines as data, and how much of one a block of threads takes."""

from polyc.machine.gpu import Gpu
from polyc.machine.load import Machine, is_file, load, shipped

__all__ = ["Gpu", "Machine", "is_file", "load", "shipped"]
