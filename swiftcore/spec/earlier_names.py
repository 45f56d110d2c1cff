"""Settings under the names they had in earlier versions, as files and stored requests hold them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# The row relations that there were as long as the setting was called row_cost. Every two rows
# were compared then, as auto does up to a number of rows.
ROW_COSTS = {"as costs": "auto", "none": "none"}
EARLIER = ("presence", "equal_rows", "rarity_weighting", "label_weighting")


def renamed(values: Mapping[str, Any]) -> dict[str, Any]:
    """The same settings under the names of today.

    A value that no earlier version could have written is left under its old name, where it
    is refused.
    """
    found = {name: value for name, value in values.items() if name not in EARLIER}
    presence, equal = values.get("presence", False), values.get("equal_rows", False)
    rare, power = values.get("rarity_weighting", False), values.get("label_weighting", 0.0)
    sound = all(isinstance(one, bool) for one in (presence, equal, rare))
    sound &= values.get("row_cost", "none") in tuple(ROW_COSTS)
    if not sound or isinstance(power, bool) or not isinstance(power, int | float) or power < 0:
        return dict(values)
    if "row_cost" in values:
        del found["row_cost"]
        found["row_relation"] = ROW_COSTS[values["row_cost"]]
    if "presence" in values:
        found["entry_values"] = "presence" if presence else "counts"
    if "equal_rows" in values:
        found["row_mass"] = "equal" if equal else "as recorded"
    if "rarity_weighting" in values or "label_weighting" in values:
        kinds = [name for name, on in (("rarity", rare), ("outcome", power > 0)) if on]
        found["feature_weighting"] = " and ".join(kinds) or "none"
        if power > 0:
            found["outcome_power"] = power
    return found


def with_earlier_names(values: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of today, as far as they could be said earlier under the names they had then."""
    named = dict(values)
    for earlier, relation in ROW_COSTS.items():
        if named.get("row_relation") == relation:
            del named["row_relation"]
            named["row_cost"] = earlier
    return named
