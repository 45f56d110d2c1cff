"""Everything a fit depends on, stated once; light enough for every page to import."""

from swiftcore.spec.earlier_names import renamed
from swiftcore.spec.model_spec import (
    ALGORITHM_VERSION,
    DEFAULTS,
    SETTINGS,
    SPEC_VERSION,
    SPEC_VERSIONS,
    ModelSpec,
    key_values,
    value_problems,
)
from swiftcore.spec.setting import Setting

__all__ = [
    "ALGORITHM_VERSION",
    "DEFAULTS",
    "SETTINGS",
    "SPEC_VERSION",
    "SPEC_VERSIONS",
    "ModelSpec",
    "Setting",
    "key_values",
    "renamed",
    "value_problems",
]
