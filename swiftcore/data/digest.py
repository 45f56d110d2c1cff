"""Which data a result is of: two data sets of one digest are the same to every computation.

However they lie on the disk: rows in shards are read a shard at a time, to the same digest.
"""

from __future__ import annotations

import hashlib

import numpy as np

from swiftcore.data.dataset import Dataset
from swiftcore.data.shards.reader import ShardedDataset
from swiftcore.tensor.sparse_tensor import digest_of_blocks


def data_digest(data: Dataset | ShardedDataset) -> str:
    """Of everything in a data set that an experiment can see."""
    if isinstance(data, ShardedDataset):
        return _digest_of_shards(data)
    sha = hashlib.sha256(data.tensor.digest().encode())
    if data.outcome is not None:
        sha.update("\n".join(str(value) for value in data.outcome).encode())
    if data.word_counts is not None:
        counts = data.word_counts.tocsr()
        for array in (counts.data, counts.indices, counts.indptr):
            sha.update(np.ascontiguousarray(array).tobytes())
    sha.update("\n".join(data.row_groups).encode())
    return sha.hexdigest()


def _digest_of_shards(shards: ShardedDataset) -> str:
    """The same; shards have neither words nor groups of rows."""
    tensor = digest_of_blocks(shards.modes(), lambda: (one.tensor for one in shards.row_blocks()))
    sha = hashlib.sha256(tensor.encode())
    for block in shards.row_blocks():
        if block.outcome is not None:
            between = "\n" if block.first_row else ""
            sha.update((between + "\n".join(str(value) for value in block.outcome)).encode())
    return sha.hexdigest()
