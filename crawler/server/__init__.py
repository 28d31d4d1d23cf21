"""Redis or Valkey for frontier and duplicate index: one connection, the embedded server, what a restart means."""
