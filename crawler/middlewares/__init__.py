"""Thin Scrapy adapters that enforce policy on the wire, one short file each."""
