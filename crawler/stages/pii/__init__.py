"""Personal data becomes placeholders."""
