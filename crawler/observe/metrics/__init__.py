"""What a monitoring system sees: Prometheus metrics of a worker and of the frontier."""
