"""What the panes say in words: of a slice, a gap, a line, a synchronisation, a piece of advice."""
