"""Machines as data: CPUs and GPUs, and how many blocks of threads fit.

Names and TOML files -> descriptions. Knows no programs.
"""

from polyc.machine.cpu import Cpu, Level, Memory
from polyc.machine.description import Machine
from polyc.machine.gpu import Gpu
from polyc.machine.load import load, load_cpu, load_gpu
from polyc.machine.shipped import DEFAULTS, GENERIC, HOST, is_file, known, shipped, spelled

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
    "spelled",
]
