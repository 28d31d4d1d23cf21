"""Command line: each file parses arguments and calls a function in another room.

Scrapy loads every module of this package before each command, so before each crawl: what only one operation needs is
imported where it runs.
"""

# Scrapy makes a deprecated class here by `inspect.stack()`, which reads the source of every frame and, for each import
# frame, looks at every module: 0.04 s this early, 0.15 s where the download handler is loaded.
import scrapy.core.downloader.tls
import scrapy.core.downloader.contextfactory  # noqa: F401
