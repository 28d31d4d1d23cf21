"""Signals that the middlewares send to whoever listens (the spider connects to them)."""

from __future__ import annotations

robots_sitemaps = object()
"""`async handler(authority: str, urls: list[str])`: absolute Sitemap URLs of a robots.txt, once per host and worker."""
