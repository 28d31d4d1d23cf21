"""What a person sees while a crawl works."""
