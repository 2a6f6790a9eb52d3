"""Questions in SQL over the tables that exist, answered by DuckDB (the extra `tracetui[sql]`)."""
