"""How things look: colours, characters, and lines of styled text. Pure: knows no widget."""
