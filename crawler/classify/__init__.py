"""How does judgement become a model? Labels in, a model's file with its card out, and what a model is worth."""
