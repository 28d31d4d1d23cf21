"""How many workers does the autoscaler run? Its algorithm over a simulated frontier, and over real processes."""
