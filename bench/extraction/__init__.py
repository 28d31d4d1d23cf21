"""The learned extractor's model: how it is trained, measured and described."""
