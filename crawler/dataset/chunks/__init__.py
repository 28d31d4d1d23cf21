"""Kept texts are cut into chunks for retrieval: by headings and parts, with their place in the page."""
