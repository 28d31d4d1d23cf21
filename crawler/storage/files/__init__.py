"""Files that are whole or absent: journal, locks, shards, records."""
