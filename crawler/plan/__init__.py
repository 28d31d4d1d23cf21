"""What is to be crawled, within which limits, and what happens then? `crawl.yaml`, read, run and looked after."""
