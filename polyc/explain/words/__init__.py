"""Reports in words: text, JSON, summaries, reasons.

Facts -> text.
"""
