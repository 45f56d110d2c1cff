"""A connection to a cluster: certificates, workers, and that all run the same packages."""

from __future__ import annotations

import platform
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from swiftcore.cluster.address import ClusterAddress, read_address, unreachable
from swiftcore.errors import InvalidSettings, refuse
from swiftcore.swift.fit_file import PACKAGES

COMPARED = ("swift-phenotyping", *PACKAGES, "dask", "distributed")
PATIENCE = 60.0  # seconds for the first worker to come
TLS_FILES = ("ca-file", "client.cert", "client.key")


@contextmanager
def connected(text: str) -> Iterator[Any]:
    """A Dask client of the cluster that a text means, for the length of a ``with`` block.

    Raises
    ------
    InvalidSettings
        When it cannot be reached or trusted, or when a worker runs other packages.
    """
    address = read_address(text)
    import dask
    import distributed  # noqa: F401  brings its own part of the configuration

    with (
        dask.config.set({"distributed.admin.large-graph-warning-threshold": "100GB"}),
        _client(address) as client,
    ):
        try:
            client.wait_for_workers(max(1, address.workers), timeout=PATIENCE)
        except TimeoutError as error:
            raise unreachable(text, "a scheduler without workers") from error
        _compare_packages(client)
        yield client


@contextmanager
def _client(address: ClusterAddress) -> Iterator[Any]:
    import distributed

    dask_objects: Any = distributed  # its classes have no types

    if address.workers:
        with (
            dask_objects.LocalCluster(
                n_workers=address.workers,
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                dashboard_address=None,
                memory_limit=0,
            ) as cluster,
            dask_objects.Client(cluster) as client,
        ):
            yield client
        return
    if address.secure:
        _check_certificates()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of versions: they are compared below, and refused
            client = dask_objects.Client(address.url, timeout=PATIENCE / 4, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise unreachable(address.url, f"{type(error).__name__}: {error}") from error
    with client:
        yield client


def _check_certificates() -> None:
    """Refuse TLS without certificates before Dask says so in its own words."""
    import dask

    lacking = [
        name for name in TLS_FILES if not dask.config.get(f"distributed.comm.tls.{name}", None)
    ]
    if lacking:
        wanted = ", ".join(
            "DASK_DISTRIBUTED__COMM__TLS__" + name.replace("-", "_").replace(".", "__").upper()
            for name in lacking
        )
        raise refuse(
            "cluster-certificates",
            "TLS needs certificates",
            "--cluster",
            f"nothing for {', '.join(lacking)}",
            f"Set {wanted} to the files.",
            kind=InvalidSettings,
        )


def packages() -> dict[str, str]:
    """What decides about the last bits of a fit, and about talking to each other."""
    found = {"python": platform.python_version()}
    for name in COMPARED:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "none"
    return found


def _compare_packages(client: Any) -> None:
    """Raise unless every worker runs the packages of this process."""
    own = packages()
    try:
        theirs = client.run(packages)
    except (ImportError, AttributeError) as error:
        raise _differing("a worker", f"no SWIFT: {error}") from error
    for worker, found in theirs.items():
        other = [
            f"{name} {found.get(name)} (here {own[name]})"
            for name in own
            if found.get(name) != own[name]
        ]
        if other:
            raise _differing(worker, ", ".join(other))


def _differing(worker: str, found: str) -> InvalidSettings:
    return refuse(
        "cluster-packages",
        "A worker runs other packages, and its numbers would differ",
        worker,
        found[:400],
        "Install the same versions everywhere (the lock files in requirements/ name them).",
        kind=InvalidSettings,
    )
