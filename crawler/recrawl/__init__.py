"""When is a page worth another visit, and is what came back still that page? Pure."""
