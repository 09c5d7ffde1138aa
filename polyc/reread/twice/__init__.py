"""The text compared with the region, in the place of the program: the check of `--check-twice`.

The frontend reads the statements as if a user had written them, and their flow is compared with the region's.
"""
