"""Sizes that the compiled loops work in, shared with the formula for their memory."""

from __future__ import annotations

BLOCK = 128  # columns worked on at a time
TILE = 512  # rows worked on at a time: block, tile and the kernel rows they share fit the L2 cache
# Largest sharpness * C for which the kernel itself is used. Beyond it float32 loses entries,
# and in any type the sweeps slow down: rows settle on one place, and Newton steps pay.
MAX_EXPONENT = 60.0
MAX_NEWTON = 512  # nonzeros of a column up to which Newton's matrix is full
