"""Command line: each file parses arguments and calls a function in another room."""
