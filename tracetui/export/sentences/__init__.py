"""What results say, in sentences: for the commands and the viewer alike."""
