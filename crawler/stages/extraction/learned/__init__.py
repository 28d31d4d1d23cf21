"""A learned extractor: a page becomes blocks, blocks become numbers, a model keeps those of the main text."""
