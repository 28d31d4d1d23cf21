"""Crawls through real forward proxies: what passes, what a proxy's death costs, how often a site is asked."""
