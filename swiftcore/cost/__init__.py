"""Cost matrices: how far apart two rows or two features of a mode are."""

from swiftcore.cost.checks import check_cost, check_costs
from swiftcore.cost.recipe import CostRecipe, build_costs, row_cost

__all__ = ["CostRecipe", "build_costs", "check_cost", "check_costs", "row_cost"]
