"""What is known about the features of a data set beyond the data: codes, and tables of costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from swiftcore.cost.outside.cost_table import CostTable
from swiftcore.cost.outside.matching import named_features, places_of
from swiftcore.tensor import Mode


@dataclass(frozen=True, eq=False)
class OutsideKnowledge:
    """Travels with a data set; costs look features up in it by their labels.

    Attributes
    ----------
    codes : mapping of str to mapping of str to str
        By mode and label, the source's code where the label is a description: 4280, or
        icd9:4280 where the source names the edition.
    tables : mapping of str to CostTable
        By digest; a spec names one as ``table:<digest>``.
    """

    codes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    tables: Mapping[str, CostTable] = field(default_factory=dict)

    def of_mode(self, name: str) -> Mapping[str, str]:
        """The codes of one mode's labels."""
        return self.codes.get(name, {})

    def with_tables(self, tables: Iterable[CostTable]) -> OutsideKnowledge:
        """The same and some tables more."""
        return replace(self, tables={**self.tables, **{one.digest: one for one in tables}})

    def fitted_to(self, table: CostTable, mode: Mode) -> CostTable:
        """A table without what the features of a mode have no use for."""
        features = named_features(mode.labels, self.of_mode(mode.name))
        places = [place for place in places_of(features, table.labels) if place >= 0]
        return table.cut_to(places) if places else table
