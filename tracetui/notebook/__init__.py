"""What people write down about a trace: notes at places, kept in the user's data directory."""
