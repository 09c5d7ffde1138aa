"""Dependences of a program, and the order in which a tree runs its instances.

Program -> relations, with witnesses. Shared by the passes and the checks; decides nothing, and knows no C text.
"""
