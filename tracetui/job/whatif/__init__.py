"""What fixing a part of a job brings: its ranks replayed with other durations."""
