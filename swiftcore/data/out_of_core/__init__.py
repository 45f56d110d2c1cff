"""Tables larger than memory to a data set in shards: DuckDB counts within a memory limit."""
