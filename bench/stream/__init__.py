"""What a stream promises, measured: kills, and how soon a page is in it."""
