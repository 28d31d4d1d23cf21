"""The records of a corpus as tables, and the language in which they are asked for."""
