"""Where phenotypes stand on a flat map, so that near means similar."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

STEPS = 300
Array = NDArray[np.float64]


def flat_map(distances: Array) -> Array:
    """Places in the plane whose distances are as near as possible to those given.

    Metric multidimensional scaling. Most phenotypes have next to nothing in common and are all
    equally far from each other; a projection would put such points on top of one another, so its
    places are only the start from which the stress is lowered (SMACOF). Nothing is random: a map
    looks the same each time.

    Parameters
    ----------
    distances : ndarray, (n x n)
        Symmetric, 0 on the diagonal.

    Returns
    -------
    ndarray, (n x 2)
        Around the origin.
    """
    places = _projected(distances)
    for _ in range(STEPS):
        found = _distances(places)
        ratio = np.divide(distances, found, out=np.zeros_like(distances), where=found > 1e-12)
        pull = np.diag(ratio.sum(axis=1)) - ratio  # the Guttman transform
        places = pull @ places / len(places)
    return places - places.mean(axis=0) if len(places) else places


def _distances(places: Array) -> Array:
    return np.asarray(np.linalg.norm(places[:, None] - places[None], axis=2))


def _projected(distances: Array) -> Array:
    """Classical scaling, nudged apart on a circle where points would coincide."""
    count = len(distances)
    centring = np.eye(count) - 1 / max(count, 1)
    inner = -0.5 * centring @ (distances**2) @ centring
    values, vectors = np.linalg.eigh((inner + inner.T) / 2)
    places = np.zeros((count, 2))
    for axis, part in enumerate(np.argsort(-values)[:2]):
        column = vectors[:, part] * np.sqrt(max(values[part], 0.0))
        places[:, axis] = column * (np.sign(column[np.abs(column).argmax()]) or 1.0)
    angle = 2 * np.pi * np.arange(count) / max(count, 1)
    return places + 1e-3 * np.column_stack([np.cos(angle), np.sin(angle)])
