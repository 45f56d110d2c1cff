"""Term frequency times inverse document frequency, for choosing words and comparing documents."""

from __future__ import annotations

import numpy as np
from scipy import sparse


def tf_idf(counts: sparse.csr_array, reference: sparse.csr_array | None = None) -> sparse.csr_array:
    """Word counts of documents, each word weighted by how rare it is among the reference.

    Smoothed as if one more document held every word, so that no word divides by zero.

    Parameters
    ----------
    counts : sparse array, (documents x words)
    reference : sparse array, (training documents x words), optional
        Where rarity comes from; give the training documents whenever results are evaluated.
    """
    source = counts if reference is None else reference
    holding = np.bincount(source.tocoo().coords[1], minlength=source.shape[1])
    rarity = np.log((1 + source.shape[0]) / (1 + holding)) + 1
    return sparse.csr_array(counts @ sparse.diags_array(rarity))
