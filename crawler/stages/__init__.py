"""Pure stages: Document in, Document or Drop out. No Scrapy, no Redis."""
