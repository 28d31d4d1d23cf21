"""What a crawl, a replay and each part of them cost, beside what others take for the same."""
