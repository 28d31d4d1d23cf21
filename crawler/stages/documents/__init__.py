"""Files that are no web pages become text: PDF, office files, EPUB. Each is read in a process that may die of it.

`call.py` is what the stages use. `nursery.py` is the process that has loaded the libraries and makes a child of itself
for every file; the readers (`pdf.py`, `docx.py`, …) run in those children alone.
"""
