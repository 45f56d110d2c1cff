"""A data set in memory, written as one in row shards."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from swiftcore.data.dataset import Dataset
from swiftcore.data.shards.writer import About, new_shards


def write_shards(dataset: Dataset, path: Path, rows_per_shard: int) -> None:
    tensor = dataset.tensor
    with new_shards(path, tensor.modes[1:]) as shards:
        for first in range(0, tensor.shape[0], rows_per_shard):
            rows = np.arange(first, min(first + rows_per_shard, tensor.shape[0]))
            block = tensor.select(0, rows)
            shards.add(block.modes[0].labels, block.coordinates, block.values)
        about = About(dataset.name, dataset.origin, tensor.modes[0].name, dataset.outcome_name)
        shards.finish(about, dataset.outcome)
