"""Bytes to one parsed tree: character set, hostile input, links and metas."""
