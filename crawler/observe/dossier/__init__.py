"""What does a corpus have of a site, a page or a person, and on what basis? One page for whoever answers for it."""
