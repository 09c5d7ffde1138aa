"""Loops that add into cells which the data choose.

Sequential bands -> parallel ones with copies, atomic updates or owners of cells.
"""
