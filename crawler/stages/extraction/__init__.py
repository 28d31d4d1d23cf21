"""Main text and metadata of a parsed page."""
