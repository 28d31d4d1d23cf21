"""What does an answer say, byte for byte? Heads, chunks, codings and media types, as browsers read them. Pure."""
