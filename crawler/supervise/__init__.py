"""How do several workers share one machine? `scrapy work` starts, watches and restarts them."""
