"""Worker processes in which the stages run, each page within its CPU time."""
