"""The spec of a model: every setting of a fit is one field here.

Command-line flags, forms, request keys, titles, evaluation grids and the estimators' defaults
are derived from it. To add a setting, add one field.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from swiftcore.errors import InvalidData, InvalidSettings, Problem, refuse
from swiftcore.spec.cost_text import mode_cost_problems, short_cost
from swiftcore.spec.earlier_names import renamed, with_earlier_names
from swiftcore.spec.row_relation import DENSE_ROWS, RELATIONS
from swiftcore.spec.setting import Setting, setting

ALGORITHM_VERSION = "2"  # raise it when the same fit would come out differently
SPEC_VERSION = 2  # raise it when stored specs must be read in another way
SPEC_VERSIONS = (1, SPEC_VERSION)  # that can be read
# phi = product / (product + 1) must differ from 0 and 1 by more than rounding.
MIN_PRODUCT, MAX_PRODUCT = 1e-8, 1e8


@dataclass(frozen=True)
class ModelSpec:
    """A model to be fitted: with the data it determines every number of the result.

    Each field is one setting; see :data:`SETTINGS` for its range and its words.

    Raises
    ------
    InvalidSettings
        With every value that is out of its range.
    """

    rank: int = setting(
        10,
        "How many groups of features to look for; 5 to 40 are usual.",
        "Number of phenotypes",
        "Rank R",
        minimum=1,
        offered=(1, 500),
        in_every_key=True,
    )
    sharpness: float = setting(
        2.0,
        "Larger: mass moves to the nearest features only (rho).",
        "Strictness",
        "Sharpness (rho)",
        minimum=0.0,
        above=True,
        offered=(0.1, 100_000.0),
        in_every_key=True,
    )
    marginal_weight: float = setting(
        1.0,
        "Larger: the model must match the data more closely.",
        "Weight of the fit to the data",
        "Marginal weight (lambda)",
        minimum=0.0,
        above=True,
        offered=(0.001, 1000.0),
        in_every_key=True,
    )
    max_iterations: int = setting(
        500,
        "Iterations after which the fit ends even if it has not converged.",
        "Most rounds",
        "Iteration limit",
        minimum=0,
        offered=(1, 5000),
        flag="iterations",
        in_every_key=True,
    )
    tolerance: float = setting(
        3e-6,
        "The fit has converged when an iteration changes it by less (relative).",
        "Stop when it changes by less than",
        "Tolerance (relative)",
        minimum=0.0,
        offered=(0.0, 0.1),
        in_every_key=True,
    )
    start: str = setting(
        "kl",
        "From a cheap sparse KL factorization, or from random profiles.",
        "How to start",
        "Initialisation",
        choices=("kl", "random"),
        in_every_key=True,
    )
    n_restarts: int = setting(
        4,
        "Starts tried; the best one goes on.",
        "Starts to choose from",
        "Restarts",
        minimum=1,
        offered=(1, 50),
        flag="restarts",
        in_every_key=True,
    )
    seed: int = setting(
        0,
        "Another number gives another random start.",
        "Starting number",
        "Seed",
        minimum=0,
        offered=(0, 2**31 - 1),
        in_every_key=True,
    )
    costs: str = setting(
        "cosine",
        "How far apart two features are.",
        "Similarity of features",
        "Cost recipe",
        choices=("cosine", "one-minus-identity", "random"),
        in_every_key=True,
    )
    row_relation: str = setting(
        "auto",
        "Mass moves between any two rows, within neighbourhoods of similar ones, or not at all; "
        f"auto: any two of up to {DENSE_ROWS:,} rows, else neighbourhoods.",
        "Similarity of rows",
        "Row relation",
        choices=RELATIONS,
        in_every_key=True,
    )
    dtype: str = setting(
        "float32",
        "Digits inside the compiled loops; sums have all of them.",
        "Digits of the numbers",
        "dtype",
        choices=("float32", "float64"),
        in_every_key=True,
    )
    method: str = setting(
        "swift",
        "The factorization; a key of the catalogue of methods.",
        "Method",
        "Method",
        in_form=False,
        in_every_key=True,
    )
    momentum: float = setting(
        0.8,
        "How far steps are carried on; 0 for plain steps.",
        "Momentum",
        "Momentum",
        minimum=0.0,
        in_form=False,
        in_every_key=True,
    )
    value_unit: float = setting(
        1.0,
        "The value that counts as 1 in the entropy, or 'mean'.",
        "Unit of the values",
        "Value unit",
        minimum=0.0,
        above=True,
        words=("mean",),
        in_form=False,
        in_every_key=True,
    )
    entry_values: str = setting(
        "log counts",
        "What an entry counts: its value, 1 however large it is, or its logarithm.",
        "What an entry counts",
        "Entry values",
        choices=("counts", "presence", "log counts"),
        in_every_key=True,
    )
    row_mass: str = setting(
        "equal",
        "equal: every row has the same weight, however much was recorded of it.",
        "Weight of each row",
        "Row mass",
        choices=("as recorded", "equal"),
        in_every_key=True,
    )
    feature_weighting: str = setting(
        "rarity",
        "Which features weigh more: rare ones, or those that go with the outcome.",
        "Which features weigh more",
        "Feature weighting",
        choices=("none", "rarity", "outcome", "rarity and outcome"),
        in_every_key=True,
    )
    outcome_power: float = setting(
        1.0,
        "How strongly features are weighed by the outcome, where they are.",
        "Strength of the weighting by the outcome",
        "Outcome weighting (power)",
        minimum=0.0,
        above=True,
        offered=(0.1, 10.0),
        in_every_key=True,
    )
    outcome_share: float = setting(
        0.0,
        "How much the outcome counts as a further feature of the rows of the fit; 0: not at all.",
        "Weight of the outcome as a feature",
        "Label term (share)",
        minimum=0.0,
        offered=(0.0, 100.0),
        in_every_key=True,
    )
    consensus: int = setting(
        1,
        "How many fits, each from another start, must agree; what they share starts the last one.",
        "Fits that must agree",
        "Consensus of N fits",
        minimum=1,
        offered=(1, 200),
        in_every_key=True,
    )
    consensus_rows: float = setting(
        1.0,
        "Share of the rows that each of these fits sees, drawn at random.",
        "Share of the rows in each of these fits",
        "Resampled rows (share per fit)",
        minimum=0.0,
        above=True,
        maximum=1.0,
        offered=(0.1, 1.0),
    )
    mode_costs: Mapping[str, str] = setting(
        {},
        "A cost for one mode, in place of that of all modes: a file, icd, icd9, icd10, ccs, atc, "
        "none, or a blend such as 0.5*icd+0.5*cosine.",
        "Similarity of features, by kind",
        "Costs by mode",
        items=str,
        in_form=False,
        flag="cost",
        in_every_key=True,
    )
    options: Mapping[str, float] = setting(
        {},
        "Numbers that only this method has, by name.",
        "Options of the method",
        "Options of the method",
        in_form=False,
        flag="option",
    )

    def __post_init__(self) -> None:
        if problems := value_problems({name: getattr(self, name) for name in SETTINGS}):
            raise InvalidSettings(problems)
        for name, known in SETTINGS.items():
            object.__setattr__(self, name, known.as_stored(getattr(self, name)))

    def plain(self) -> dict[str, Any]:
        """Every setting by name, as values that JSON can hold."""
        return {name: getattr(self, name) for name in SETTINGS}

    def changed(self, usual: Mapping[str, Any]) -> dict[str, Any]:
        """The settings that are not at their usual values."""
        return {name: value for name, value in self.plain().items() if value != usual[name]}

    def to_json(self) -> dict[str, Any]:
        """The spec with its version, for files."""
        return {"version": SPEC_VERSION, **self.plain()}

    @classmethod
    def from_json(cls, plain: Any) -> ModelSpec:
        """Read what :meth:`to_json` wrote; settings that were added since get their defaults.

        Raises
        ------
        InvalidData
            If it is no spec, or one of a later version.
        """
        try:
            values = dict(plain)
            version = values.pop("version")
            if version not in SPEC_VERSIONS:
                raise ValueError(f"version {version!r}")
            return cls.of(values)
        except (LookupError, TypeError, ValueError) as error:
            raise refuse(
                "spec-file",
                "This is not the spec of a model, or of another version",
                "the spec",
                f"{type(error).__name__}: {error}"[:200],
                "Fit the model again.",
                kind=InvalidData,
            ) from error

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> ModelSpec:
        """A spec from some settings by name; raises InvalidSettings for unknown names.

        Names that settings had in earlier versions are understood.
        """
        values = renamed(values)
        unknown = [name for name in values if name not in SETTINGS]
        if unknown:
            raise refuse(
                "setting-unknown",
                "There is no such setting",
                "the settings",
                ", ".join(map(repr, unknown))[:80],
                f"Choose from {', '.join(SETTINGS)}.",
                kind=InvalidSettings,
            )
        return cls(**values)

    def cost_texts(self, modes: Sequence[str]) -> list[str]:
        """The text of every mode's cost, by the modes' names; that of the rows is the first."""
        usual = ["none" if self.row_relation == "none" else self.costs, *[self.costs] * len(modes)]
        return [self.mode_costs.get(mode, text) for mode, text in zip(modes, usual, strict=False)]

    def title(self, usual: Mapping[str, Any] | None = None) -> str:
        """A short name that tells fits of one data set apart: R = 12, sharpness 5.

        Parameters
        ----------
        usual : mapping, optional
            What is usual for the method; by default the defaults of all specs.
        """
        return ", ".join(filter(None, (f"R = {self.rank}", self.difference(usual))))

    def difference(self, usual: Mapping[str, Any] | None = None) -> str:
        """The settings that are not as usual, the rank aside, in words."""
        return ", ".join(
            f"{name.replace('_', ' ')} {_shown(value)}"
            for name, value in self.changed(usual or DEFAULTS).items()
            if name != "rank"
        )


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return " and ".join(f"{name} = {_shown(one)}" for name, one in value.items())
    return f"{value:g}" if isinstance(value, float) else short_cost(str(value))


SETTINGS: dict[str, Setting] = {
    one.name: replace(one.metadata["setting"], name=one.name) for one in fields(ModelSpec)
}
"""Every setting by name, in the order in which people are asked for them."""
DEFAULTS: dict[str, Any] = {name: known.default for name, known in SETTINGS.items()}


def value_problems(values: Mapping[str, Any]) -> list[Problem]:
    """What is wrong with some settings by name; names that are no settings are left aside."""
    problems = [
        SETTINGS[name].problem(value)
        for name, value in values.items()
        if name in SETTINGS and not SETTINGS[name].allows(value)
    ]
    if not problems:
        problems += mode_cost_problems(values.get("mode_costs", {}))
    if not problems and {"marginal_weight", "sharpness"} <= set(values):
        product = values["marginal_weight"] * values["sharpness"]
        if not MIN_PRODUCT <= product <= MAX_PRODUCT:
            problems.append(
                Problem(
                    "setting-product",
                    "Sharpness and marginal weight do not go together",
                    "sharpness x marginal_weight",
                    f"{product:.3g}",
                    f"Keep their product from {MIN_PRODUCT:g} to {MAX_PRODUCT:g}: "
                    "beyond, the numbers cannot tell the plans apart.",
                )
            )
    return problems


def key_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """What a request key names of a spec: later settings only where they are not at default.

    Settings stand under the names of the first results, so that these are still found.
    """
    return with_earlier_names(
        {
            name: value
            for name, value in values.items()
            if SETTINGS[name].in_every_key or value != DEFAULTS[name]
        }
    )
