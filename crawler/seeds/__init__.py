"""Where may a crawl begin and go? Seeds, sitemaps, allowlists with licences, scope. Pure."""
