"""Durable outputs: shard writer, WARC writer and reader, manifest."""
