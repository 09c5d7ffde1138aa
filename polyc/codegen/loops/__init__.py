"""Loops: the schedule tree through isl's AST to C statements.

Program -> C tree. Decides nothing.
"""
