"""The Python API: what the commands do, called from Python. `polyc` has its names; docs/api.md describes them.

It stands on `polyc.cli`: an option is defined once, with its values and what is said of a wrong one.
"""
