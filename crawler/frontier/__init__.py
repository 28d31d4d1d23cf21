"""Which URL next? One queue on the server for all workers: scripts, leases, politeness, memory of visits."""
