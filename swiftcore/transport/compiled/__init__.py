"""The loops that numba compiles; everything above them is plain numpy."""
