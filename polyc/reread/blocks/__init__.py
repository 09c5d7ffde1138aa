"""Printed forms of C that stand for loops: streaming stores, permutations, owners' loops.

A block of C -> the loop that it stands for. Knows nothing of how it was printed.
"""
