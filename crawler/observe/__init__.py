"""Progress, metrics, statistics, the report."""
