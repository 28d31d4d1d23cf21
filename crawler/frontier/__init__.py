"""Which URL next? Redis keys and scripts, leases, seen-set, politeness."""
