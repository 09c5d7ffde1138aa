"""What the hardware is: machines as data, and how much of one a block of threads takes."""

from polyc.machine.cpu import Cpu, Level, Memory
from polyc.machine.description import Machine
from polyc.machine.gpu import Gpu
from polyc.machine.load import GENERIC, is_file, load, load_cpu, load_gpu, shipped

__all__ = ["GENERIC", "Cpu", "Gpu", "Level", "Machine", "Memory", "is_file", "load", "load_cpu", "load_gpu", "shipped"]
