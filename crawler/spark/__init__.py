"""The batch job that runs the same stages on a Spark cluster."""
