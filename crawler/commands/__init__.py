"""Command line: each file parses arguments and calls a function in another room.

Scrapy loads every module of this package before each command, so before each crawl: what only one operation needs is
imported where it runs.
"""

# Scrapy makes a deprecated class in each of these by `inspect.stack()`, which looks at every module for every frame of
# an import: 0.05 s this early, 0.15 s where the download handler is loaded. `tls` first: it is imported by the other.
import scrapy.core.downloader.tls  # isort: skip
import scrapy.core.downloader.contextfactory  # noqa: F401
