"""Is a text worth keeping? Signals, score, rule sets."""
