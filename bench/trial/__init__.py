"""What the trial separates, what it does not, and the comparisons of docs/experiment.md."""
