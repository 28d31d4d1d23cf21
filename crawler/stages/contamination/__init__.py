"""Does a text repeat an evaluation set?"""
