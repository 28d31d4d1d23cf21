"""What is this page called? Canonical names, tracking parameters, traps, links. Pure."""
