"""One corpus folder: its manifest, recovery, sources and bookmarks."""
