"""Result objects to text, JSON and CSV. Knows nothing of how a result was computed."""
