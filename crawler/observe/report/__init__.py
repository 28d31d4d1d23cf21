"""What came of a crawl: summary, report, samples."""
