"""The wire: Scrapy's downloader without its own delays, guarded connections, bounded decompression."""
