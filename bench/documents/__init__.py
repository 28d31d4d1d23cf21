"""How well are documents read? Files made by real tools from known texts, read by this project and by others."""
