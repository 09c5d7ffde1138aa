"""Text: C trees as characters.

Knows no schedule.
"""
