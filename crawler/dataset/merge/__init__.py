"""Several corpora become one."""
