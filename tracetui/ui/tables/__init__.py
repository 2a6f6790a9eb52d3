"""The columns of the tables: what they show of a row, and how rows are sorted and filtered."""
