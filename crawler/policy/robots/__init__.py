"""robots.txt: parse, match, and what a failed fetch of it means (RFC 9309)."""
