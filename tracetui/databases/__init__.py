"""The profiler's databases: opened without touching them, their tables read as columns."""
