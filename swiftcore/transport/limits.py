"""Sizes that the compiled loops work in, shared with the formula for their memory."""

from __future__ import annotations

BLOCK = 128  # columns worked on at a time
TILE = 512  # rows worked on at a time: block, tile and the kernel rows they share fit the L2 cache
# Largest sharpness * C for which the kernel itself is used. Beyond it float32 loses entries,
# and in any type the sweeps slow down: rows settle on one place, and Newton steps pay.
MAX_EXPONENT = 60.0
MAX_NEWTON = 512  # nonzeros of a column up to which Newton's matrix is full

# Cells of model per task. Fixed by the data alone, so that results do not depend on how
# many workers share the spans; small enough that eight workers find something to do.
# Each task holds numerators of its own, so there are not too many of them either.
TASK_CELLS = 2**16
MIN_TASK, MAX_TASKS = 64, 16
CELLS_OF_FIXED_COLUMN = 16
# Neighbourhoods of a part: its rows share nothing with those of other parts but the features, so
# its numerators of the features can be added up wherever it is worked on.
NEIGHBOURHOODS_OF_A_PART = 8
PARTS_BESIDE = 4  # whose tasks are there at once; a part is cut alike however many there are


def task_width(n_columns: int, n_rows: int, fixed: bool, blocks: int = 1) -> int:
    """How many columns of a mode make one task; where no mass moves a column is little work.

    Parameters
    ----------
    n_columns, n_rows : int
        Of the mode or, where it is cut into blocks of rows, of one of them.
    blocks : int
        How many of them are worked on at once.
    """
    by_work = TASK_CELLS // (CELLS_OF_FIXED_COLUMN if fixed else n_rows)
    return max(MIN_TASK, by_work, -(-n_columns // max(1, MAX_TASKS // blocks)))
