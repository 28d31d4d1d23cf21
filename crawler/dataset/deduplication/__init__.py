"""Duplicates in one finished corpus, or among several: `gristmill dataset dedup`."""
