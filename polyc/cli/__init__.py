"""The command line: one module a command, and no compiler logic in any of them."""
