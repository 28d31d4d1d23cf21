"""What a page says about itself: title, description, author, date and licence."""
