"""The cells and values of a replayed run.

Knows no program.
"""
