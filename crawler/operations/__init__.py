"""What a person or a program may ask of a corpus, a frontier or a key, one declared operation each; no Scrapy in it.

`gristmill dataset`, `frontier` and `botkey` are the commands of these operations. A module is loaded when its
operation is called: what only some calls need is imported where it runs.
"""
