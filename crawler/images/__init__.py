"""Which images belong to which texts? Image and text pairs of the pages that a corpus keeps (`docs/images.md`)."""
