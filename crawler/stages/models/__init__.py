"""Models that stages ask: runtimes (trees, net, linear, table), their file, the features they read, preloading."""
