"""A job of many ranks: what each did, whom they waited for, and which line of which rank it was."""
