"""A simulated job of many ranks: what each of them records, and who made whom wait."""
