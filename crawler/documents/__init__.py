"""Where a Document begins: made of a live response or of an archived exchange."""
