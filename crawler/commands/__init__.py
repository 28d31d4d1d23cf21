"""Command line: each file parses arguments and calls a function in another room.

`scrapy` loads every module of this package before each command, so before each crawl: what only one operation needs is
imported where it runs. `gristmill` loads the module of its command alone.
"""
