"""What is on the page? Links back to the frontier, one Document onward."""
