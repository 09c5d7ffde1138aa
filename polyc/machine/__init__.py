"""What the hardware is: machines as data, and how much of one a block of threads takes."""

from polyc.machine.cpu import Cpu, Level, Memory
from polyc.machine.description import Machine
from polyc.machine.gpu import Gpu
from polyc.machine.load import DEFAULTS, GENERIC, HOST, is_file, known, load, load_cpu, load_gpu, shipped

__all__ = [
    "DEFAULTS",
    "GENERIC",
    "HOST",
    "Cpu",
    "Gpu",
    "Level",
    "Machine",
    "Memory",
    "is_file",
    "known",
    "load",
    "load_cpu",
    "load_gpu",
    "shipped",
]
