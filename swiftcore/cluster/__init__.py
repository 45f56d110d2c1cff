"""Fits over the processes of a Dask cluster: addresses, safety, and who holds which rows."""
