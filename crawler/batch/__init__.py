"""After the crawl: jobs over the sealed shards of a finished corpus. Stages and storage meet here; no Scrapy."""
