"""The commands: a file each, with its options and its click command."""
