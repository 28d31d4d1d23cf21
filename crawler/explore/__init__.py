"""A local web application over a corpus: `scrapy explore`."""
