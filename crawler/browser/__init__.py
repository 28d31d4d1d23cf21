"""The browser tier: pages whose text exists only after their scripts have run."""
