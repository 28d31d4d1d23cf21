"""WARC: writing, reading (ours and others'), index, erasure."""
