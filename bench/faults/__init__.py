"""What is lost, doubled or pressed when workers are killed, bytes are hostile and files are torn."""
