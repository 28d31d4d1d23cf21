// Everything works without this file; it makes some of it quicker.
