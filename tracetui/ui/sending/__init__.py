"""What goes to the terminal, and when."""
