"""The personal-data stage: personal data in a text becomes placeholders."""
