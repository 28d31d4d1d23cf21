"""Which language is a text in?"""
