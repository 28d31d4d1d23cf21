"""Parts that gristmill finds by the entry points of this package."""
