"""The duplicate index: which texts the corpus has, shared by all workers."""
