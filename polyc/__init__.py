"""polyc: a polyhedral source-to-source compiler for C."""

__version__ = "0.1.0"
