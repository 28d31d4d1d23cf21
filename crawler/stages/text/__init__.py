"""What several stages ask of a text: normal form, words, units."""
