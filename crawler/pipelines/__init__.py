"""Is it worth keeping? Thin Scrapy adapters in the order of the stages, the process pool, the dedup index, the sink."""
