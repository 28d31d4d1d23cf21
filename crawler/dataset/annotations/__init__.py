"""What was computed about documents after the crawl: tables beside the shards, a row a document."""
