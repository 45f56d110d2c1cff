"""From a tensor to one cost matrix per mode, by a named recipe."""

from __future__ import annotations

from enum import Enum

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from swiftcore.cost.cosine import cosine_cost, feature_cost, row_features, unit_rows
from swiftcore.cost.memory import refuse_costs
from swiftcore.cost.neighbourhoods import CosineRows, EqualRows, Neighbourhoods, RandomRows
from swiftcore.cost.tf_idf import tf_idf
from swiftcore.errors import InvalidCost, InvalidSettings, refuse
from swiftcore.tensor import SparseTensor


class CostRecipe(Enum):
    """The cost matrices of the paper's main experiments and of its ablation."""

    COSINE = "cosine"
    ONE_MINUS_IDENTITY = "one-minus-identity"
    RANDOM = "random"


def build_costs(
    tensor: SparseTensor,
    recipe: CostRecipe | str = CostRecipe.COSINE,
    *,
    reference: SparseTensor,
    word_counts: sparse.csr_array | None = None,
    reference_counts: sparse.csr_array | None = None,
    seed: int = 0,
) -> list[NDArray[np.float64]]:
    """One cost matrix per mode of ``tensor``.

    Parameters
    ----------
    tensor : SparseTensor
        The rows (first mode) to be factorized or projected.
    recipe : CostRecipe or str
        Cosine: two rows are close when they share features, two features are close when
        the same rows of ``reference`` have them.
    reference : SparseTensor
        The training rows. Feature costs come from them alone, so that nothing of a test
        row enters; pass the tensor itself when it is the training data.
    word_counts : sparse array, (rows x words), optional
        For documents: the row cost is then the cosine distance of their TF-IDF vectors.
    reference_counts : sparse array, (training rows x words), optional
        Where the rarity of words comes from; by default the rows themselves.
    seed : int
        For the random recipe.
    """
    chosen = _checked_recipe(recipe)
    _check_reference(tensor, reference)
    refuse_costs(tensor.shape)
    if chosen is CostRecipe.COSINE:
        others = range(1, tensor.n_modes)
        features = [feature_cost(reference, mode) for mode in others]
        return [row_cost(tensor, word_counts, reference_counts), *features]
    rng = np.random.default_rng(seed)
    return [recipe_cost(tensor, mode, chosen, rng=rng) for mode in range(tensor.n_modes)]


def recipe_cost(
    tensor: SparseTensor,
    mode: int,
    recipe: CostRecipe | str,
    *,
    rng: np.random.Generator,
    word_counts: sparse.csr_array | None = None,
) -> NDArray[np.float64]:
    """The cost of one mode of training rows; the random recipe draws from ``rng``."""
    match _checked_recipe(recipe):
        case CostRecipe.COSINE:
            if mode == 0:
                return row_cost(tensor, word_counts)
            return feature_cost(tensor, mode)
        case CostRecipe.ONE_MINUS_IDENTITY:
            return _one_minus_identity(tensor.shape[mode])
        case CostRecipe.RANDOM:
            return _random_cost(tensor.shape[mode], rng)


def row_cost(
    tensor: SparseTensor,
    word_counts: sparse.csr_array | None = None,
    reference_counts: sparse.csr_array | None = None,
) -> NDArray[np.float64]:
    """Cosine distance between rows: of their TF-IDF vectors if given, else of their features."""
    return cosine_cost(compared_features(tensor, word_counts, reference_counts))


def row_neighbourhoods(
    tensor: SparseTensor,
    recipe: CostRecipe | str = CostRecipe.COSINE,
    *,
    word_counts: sparse.csr_array | None = None,
    seed: int = 0,
) -> Neighbourhoods:
    """The row cost within neighbourhoods of similar rows, whatever the recipe of the costs."""
    features = unit_rows(compared_features(tensor, word_counts))
    match _checked_recipe(recipe):
        case CostRecipe.COSINE:
            return Neighbourhoods.of_similar(features, CosineRows(features))
        case CostRecipe.ONE_MINUS_IDENTITY:
            return Neighbourhoods.of_similar(features, EqualRows())
        case CostRecipe.RANDOM:
            return Neighbourhoods.of_similar(features, RandomRows(seed))


def compared_features(
    tensor: SparseTensor,
    word_counts: sparse.csr_array | None = None,
    reference_counts: sparse.csr_array | None = None,
) -> sparse.csr_array:
    """What rows are compared by: documents by their TF-IDF vectors, others by features."""
    if word_counts is not None:
        return tf_idf(word_counts.astype(np.float64), reference_counts)
    return row_features(tensor)


def _check_reference(tensor: SparseTensor, reference: SparseTensor) -> None:
    for mode in range(1, max(tensor.n_modes, reference.n_modes)):
        mine = tensor.modes[mode].labels if mode < tensor.n_modes else ()
        theirs = reference.modes[mode].labels if mode < reference.n_modes else ()
        if mine != theirs:
            raise refuse(
                "reference-features",
                "The reference has other features than the tensor",
                f"mode {mode + 1}",
                f"{len(theirs)} labels against {len(mine)}, or in another order",
                "Use training rows with the same features, same order.",
                kind=InvalidCost,
            )


def _one_minus_identity(size: int) -> NDArray[np.float64]:
    cost = np.ones((size, size))
    np.fill_diagonal(cost, 0.0)
    return cost


def _random_cost(size: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Uniform above the diagonal and mirrored below it, in one matrix and no copy."""
    cost = rng.uniform(size=(size, size))
    for index in range(size):
        cost[index:, index] = cost[index, index:]
    np.fill_diagonal(cost, 0.0)
    return cost


def _checked_recipe(recipe: CostRecipe | str) -> CostRecipe:
    try:
        return CostRecipe(recipe)
    except ValueError:
        names = ", ".join(known.value for known in CostRecipe)
        raise refuse(
            "cost-recipe",
            "There is no such cost recipe",
            "costs",
            repr(recipe),
            f"Choose one of {names}.",
            kind=InvalidSettings,
        ) from None
