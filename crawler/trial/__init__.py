"""Does it matter? Corpora are judged by what a model learns from them (`gristmill dataset trial`, docs/trial.md)."""
