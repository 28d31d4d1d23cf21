"""Which version of this program is it? The one place; the package's metadata is read from here."""

__version__ = "1.0.0"
