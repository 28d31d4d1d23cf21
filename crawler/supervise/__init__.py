"""How do several workers share one machine? `gristmill work` starts, watches and restarts them."""
