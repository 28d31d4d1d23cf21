"""May we? Pure functions: bytes and headers in, a decision with its evidence out."""
