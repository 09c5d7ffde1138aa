"""Hints to the machine: prefetches, streaming stores, table rows in registers.

Final loops -> the same with other loads and stores. Changes no order of dependent instances.
"""
