"""A site recognises the crawler by its signature (Web Bot Auth): the key, the signed headers, the key directory."""
