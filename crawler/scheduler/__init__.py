"""Scrapy's side of a worker: leases in, requests out, outcomes back, and the gate before the wire."""
