"""A crawler for text that is worth training on, and that can be defended. Start reading at `settings.py`."""

__version__ = "1.0.0"
