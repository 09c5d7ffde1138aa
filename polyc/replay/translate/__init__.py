"""Functions of C as functions of Python: what each statement does, cell by cell."""

from polyc.replay.translate.arithmetic import PLAIN, RESIDUES, ZEROS
from polyc.replay.translate.functions import ARGUMENTS, translated
from polyc.replay.translate.module import Line, Translation
from polyc.replay.translate.values import kind_of

__all__ = ["ARGUMENTS", "PLAIN", "RESIDUES", "ZEROS", "Line", "Translation", "kind_of", "translated"]
