"""What duplicates cost at scale: made documents of every kind, and the rounds over them."""
