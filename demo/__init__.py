"""The demo web: a small web of the project's own, served on loopback, with every expected outcome beside its page."""
