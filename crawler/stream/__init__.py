"""What a corpus holds, and what leaves it, as messages to Redis Streams or Kafka (docs/stream.md)."""
