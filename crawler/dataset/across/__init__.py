"""Duplicates between finished corpora: `scrapy dataset across`."""
