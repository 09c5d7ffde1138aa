"""The text of a file: preprocessing, the places of tokens, the pragmas, what stands between regions.

Characters -> chunks. Knows no C types.
"""
