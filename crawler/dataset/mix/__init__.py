"""A mixture takes documents of several sources in given parts: `scrapy dataset mix`."""
