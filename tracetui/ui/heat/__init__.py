"""The heat maps as people read them: a question, rows with labels and totals, a sentence for each cell."""
