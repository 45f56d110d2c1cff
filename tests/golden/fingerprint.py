"""Which kind of machine computes: equal fingerprints promise equal bits."""

from __future__ import annotations

import hashlib
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import scipy.linalg  # noqa: F401 - so that its library is loaded
from llvmlite import binding
from numba import config
from threadpoolctl import threadpool_info

PACKAGES = ("numpy", "scipy", "numba", "llvmlite", "scikit-learn", "pandas")


def fingerprint() -> dict[str, Any]:
    """Processor, as the compilers and libraries use it, and the versions of packages."""
    host = binding.get_host_cpu_features()
    features = config.CPU_FEATURES or ",".join(sorted(name for name, has in host.items() if has))
    return {
        "cpu": config.CPU_NAME or binding.get_host_cpu_name(),
        "features": hashlib.sha256(features.encode()).hexdigest()[:16],
        "numpy_loops": hashlib.sha256(_numpy_loops().encode()).hexdigest()[:16],
        "blas": _blas(),
        "libc": " ".join(platform.libc_ver()),
        "versions": {name: version(name) for name in PACKAGES},
    }


def _blas() -> list[str]:
    """Versions and kernels of the libraries that NumPy and SciPy bring along."""
    return sorted(
        f"{one['internal_api']} {one['version']} {one.get('architecture')}"
        for one in threadpool_info()
        if one["user_api"] == "blas" and Path(one["filepath"]).parent.stem in ("numpy", "scipy")
    )


def _numpy_loops() -> str:
    """The processor features for which NumPy chooses its loops."""
    found = np.show_config(mode="dicts")
    return str(sorted(found["SIMD Extensions"].get("found", [])))
