"""A connection to a cluster: certificates, workers, and that all compute with the same."""

from __future__ import annotations

import logging
import os
import platform
import socket
import warnings
from collections.abc import Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from swiftcore.cluster.address import ClusterAddress, find_cluster, lost, unreachable
from swiftcore.errors import InvalidSettings, SwiftError, refuse
from swiftcore.spec import ALGORITHM_VERSION
from swiftcore.swift.fit_file import PACKAGES, processor

COMPARED = ("swift-phenotyping", *PACKAGES, "dask", "distributed")
PATIENCE = 60.0  # seconds for a worker to come, when there is none
IN_WORKERS = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"  # Ctrl-C is for us
TLS_FILES = ("ca-file", "client.cert", "client.key")
Worker = tuple[str, int]
"""A host and a process id."""


@contextmanager
def connected(text: str) -> Iterator[Any]:
    """A Dask client of the cluster that a text means, for the length of a ``with`` block.

    Raises
    ------
    InvalidSettings
        When it cannot be reached or trusted, or when a worker computes with something else.
    SwiftError
        When it gives up meanwhile.
    """
    address = find_cluster(text)
    import dask
    import distributed
    from distributed.comm.core import CommClosedError
    from distributed.utils import silence_logging_cmgr

    silent: Any = silence_logging_cmgr  # no types
    with (
        dask.config.set({"distributed.admin.large-graph-warning-threshold": "100GB"}),
        silent(logging.CRITICAL),  # what goes wrong is said in our words
        _client(address) as client,
    ):
        try:
            client.wait_for_workers(max(1, address.workers), timeout=PATIENCE)
        except TimeoutError as error:
            raise unreachable(text, "a scheduler without workers") from error
        _compare_equipment(client)
        try:
            yield client
        except (distributed.KilledWorker, CancelledError, CommClosedError) as error:
            raise lost(_last_line(error)) from error
        except SwiftError:
            raise
        except Exception as error:
            if alive(client):
                raise
            # a dead client fails in many ways, with an OSError too, which would look like a disk's
            raise lost(_last_line(error)) from error


def alive(client: Any) -> bool:
    """Whether the scheduler of a client is still there, as far as is known."""
    return bool(client.status == "running")


def _last_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[-1]


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
                silence_logs=logging.CRITICAL,
                preload=[IN_WORKERS],
            ) as cluster,
            dask_objects.Client(cluster, set_as_default=False) as client,
        ):
            yield client
        return
    security = _security(address) if address.secure else None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of versions: they are compared below, and refused
            client = dask_objects.Client(
                address.url, timeout=PATIENCE / 4, set_as_default=False, security=security
            )
    except (OSError, TimeoutError, ValueError) as error:
        raise unreachable(address.url, f"{type(error).__name__}: {error}") from error
    with client:
        yield client


def _security(address: ClusterAddress) -> Any:
    """Certificates of a configured cluster, or those that Dask is configured to use."""
    from distributed.security import Security

    if not address.tls:
        _check_certificates()
        return None
    if absent := [str(file) for file in address.tls if not file.is_file()]:
        raise refuse(
            "cluster-certificates",
            "TLS needs certificates",
            "clusters.toml",
            f"no file {', '.join(absent)}"[:300],
            "Put the certificates there, or name other files.",
            kind=InvalidSettings,
        )
    authority, own, key = map(str, address.tls)
    secured: Any = Security  # no types
    return secured(
        tls_ca_file=authority, tls_client_cert=own, tls_client_key=key, require_encryption=True
    )


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


def here() -> Worker:
    """Which process this is."""
    return socket.gethostname(), os.getpid()


def equipment() -> dict[str, str]:
    """What decides about the last bits of a fit, and about talking to each other."""
    found = {
        "processor": processor(),
        "algorithm": str(ALGORITHM_VERSION),
        "python": platform.python_version(),
    }
    for name in COMPARED:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "none"
    return found


def check_equipment(wanted: Mapping[str, str]) -> None:
    """In a worker, which may have come later: raise unless it has what the fit was begun with."""
    if other := _others(equipment(), wanted):
        raise _differing(platform.node(), other)


def _compare_equipment(client: Any) -> None:
    """Raise unless every worker that lives has the equipment of this process."""
    own = equipment()
    for worker, found in client.run(equipment, on_error="return").items():
        if isinstance(found, OSError):  # it has just died; whoever comes for it is compared then
            continue
        if isinstance(found, Exception):
            raise _differing("a worker", f"no SWIFT: {found}") from found
        if other := _others(found, own):
            raise _differing(worker, other)


def _others(found: Mapping[str, str], own: Mapping[str, str]) -> str:
    """What is another there, in words."""
    return ", ".join(
        f"{name} {found.get(name)} (here {own[name]})"
        for name in own
        if found.get(name) != own[name]
    )


def _differing(worker: str, found: str) -> InvalidSettings:
    return refuse(
        "cluster-equipment",
        "A worker runs other packages, or on another processor, and its numbers would differ",
        worker,
        found[:400],
        "Install the same versions everywhere (the lock files in requirements/ name them), and "
        "take processors of one kind.",
        kind=InvalidSettings,
    )
