"""Functions of C as functions of Python: what each statement does, cell by cell.

C trees -> Python. Knows no region.
"""

from polyc.replay.translate.arithmetic import PLAIN, RESIDUES, ZEROS
from polyc.replay.translate.functions import ARGUMENTS, place_key, translated
from polyc.replay.translate.module import Module
from polyc.replay.translate.values import kind_of

__all__ = ["ARGUMENTS", "PLAIN", "RESIDUES", "ZEROS", "Module", "kind_of", "place_key", "translated"]
