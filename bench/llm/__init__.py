"""Jobs with language models: killed again and again, and with a real small model."""
