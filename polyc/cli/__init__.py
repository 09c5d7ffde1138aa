"""The command line: options, messages, files.

Words -> calls of the frontend and the pipeline. No compiler logic.
"""
