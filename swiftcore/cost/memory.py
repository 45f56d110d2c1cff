"""How much memory cost matrices take, known before they are built."""

from __future__ import annotations

from collections.abc import Iterable

from swiftcore.runtime.memory import not_enough_memory, usable_memory

ROWS_AT_A_TIME = 512  # of a cosine cost: their products are in memory beside the cost itself
PER_PRODUCT = 24  # bytes: as an entry of a sparse matrix, and as a cell of a full one


def kept_bytes(sizes: Iterable[int]) -> int:
    """What full costs of modes of these sizes take."""
    return sum(8 * size * size for size in sizes)


def making_bytes(sizes: Iterable[int]) -> int:
    """What building them takes on top of that, one after the other."""
    return max((PER_PRODUCT * min(size, ROWS_AT_A_TIME) * size for size in sizes), default=0)


def refuse_costs(sizes: Iterable[int]) -> None:
    """Raise :class:`NotEnoughMemory` if these costs would not fit."""
    modes = tuple(sizes)
    needed, had = kept_bytes(modes) + making_bytes(modes), usable_memory()
    if needed > had:
        where = f"cost matrices of size {', '.join(f'{size:,}' for size in modes)}"
        cure = (
            "Compare rows within neighbourhoods (--row-relation neighbourhoods), or use no cost "
            "for the largest mode (None; --row-relation none), or fewer rows."
        )
        raise not_enough_memory(where, needed, had, cure)
