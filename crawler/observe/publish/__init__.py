"""Documents about a corpus for others: EU summary, Croissant, dataset card."""
