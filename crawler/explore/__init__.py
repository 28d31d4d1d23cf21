"""A local web application over a corpus: `gristmill explore`."""
