"""A mixture takes documents of several sources in given parts: `gristmill dataset mix`."""
