"""The test suites of other polyhedral compilers as inputs: `python -m tests.peers FOLDER`."""
