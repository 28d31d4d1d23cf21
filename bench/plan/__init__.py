"""Plans under a real scheduler: killed at each task and started again, with the orphan alive."""
