"""The files beside a trace: what profilers write of the same run in tables and documents of their own."""
