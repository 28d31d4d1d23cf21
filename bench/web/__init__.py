"""The webs and texts that benches crawl: documentation packages, a known site, a server that keeps the time."""
