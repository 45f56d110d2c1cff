"""A data set as a folder of row shards: arrays that are mapped, not loaded, under one seal."""
