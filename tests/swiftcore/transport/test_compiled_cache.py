"""Numbers do not depend on whether loops were compiled here or came from the cache."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FITS = """
import hashlib, numpy as np
from swiftcore import SparseTensor, Swift, build_costs
rng = np.random.default_rng(0)
places = np.stack([rng.integers(0, size, 600) for size in (20, 15, 10)], axis=1)
data = SparseTensor.from_coordinates(places, rng.integers(1, 5, 600), shape=(20, 15, 10))
costs = build_costs(data, reference=data)
for dtype in ("float32", "float64"):
    for sharpness, given in ((10.0, costs), (1000.0, costs), (10.0, [None, *costs[1:]])):
        model = Swift(3, sharpness=sharpness, dtype=dtype, random_state=0, n_jobs=1,
                      max_iterations=6).fit(data, given)
        alone = model.transform(data, independent=True)
        parts = b"".join(part.tobytes() for part in (*model.factors_, alone))
        print(dtype, sharpness, hashlib.sha256(parts).hexdigest())
"""


@pytest.mark.nightly  # compiling every loop takes a minute or two
def test_freshly_compiled_loops_round_like_cached_ones(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}

    def fitted() -> list[str]:
        command = [sys.executable, "-c", FITS]
        answer = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert answer.returncode == 0, answer.stderr
        return answer.stdout.splitlines()

    compiled = fitted()
    assert any(tmp_path.rglob("*.nbi")) and len(compiled) == 6
    assert fitted() == compiled
