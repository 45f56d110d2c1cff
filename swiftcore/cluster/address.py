"""Which cluster is meant, and whether it may be talked to: anything but loopback needs TLS."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from importlib.util import find_spec
from urllib.parse import urlsplit

from swiftcore.errors import InvalidSettings, SwiftError, refuse

_LOCAL = re.compile(r"local:(\d{1,3})")
EXAMPLES = "local:4, or tls://host:8786 (tcp://127.0.0.1:8786 on this machine)"


@dataclass(frozen=True)
class ClusterAddress:
    """A cluster to be started here, or one that runs.

    Attributes
    ----------
    workers : int
        Processes to start on this machine; 0: it runs already.
    url : str
        Of its scheduler.
    """

    workers: int = 0
    url: str = ""

    @property
    def secure(self) -> bool:
        return self.url.startswith("tls://")


def read_address(text: str) -> ClusterAddress:
    """What a text such as ``local:4`` or ``tls://host:8786`` means.

    Raises
    ------
    InvalidSettings
        When it is no address, when it is not safe to connect to, or without Dask.
    """
    if absent := [name for name in ("dask", "distributed") if find_spec(name) is None]:
        raise refuse(
            "cluster-missing",
            "Clusters need packages that are not installed",
            "--cluster",
            f"no package {', '.join(absent)}",
            'Install the extra [cluster]: pip install "swift-phenotyping[cluster]"',
            kind=InvalidSettings,
        )
    if (local := _LOCAL.fullmatch(text)) and int(local[1]) > 0:
        return ClusterAddress(workers=int(local[1]))
    try:
        parts = urlsplit(text)
        known = parts.scheme in ("tcp", "tls") and bool(parts.hostname) and bool(parts.port)
    except ValueError:
        known = False
    if not known:
        raise refuse(
            "cluster-address",
            "This is not the address of a cluster",
            "--cluster",
            repr(text)[:80],
            f"Give {EXAMPLES}.",
            kind=InvalidSettings,
        )
    if parts.scheme == "tcp" and not _is_loopback(str(parts.hostname)):
        raise refuse(
            "cluster-unsafe",
            "A cluster beyond this machine needs TLS: whoever reaches it could run anything",
            "--cluster",
            text[:80],
            "Start scheduler and workers with certificates (see the page Clusters), give tls://.",
            kind=InvalidSettings,
        )
    return ClusterAddress(url=text)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def unreachable(url: str, found: str) -> SwiftError:
    """The refusal of a cluster that does not answer."""
    return refuse(
        "cluster-unreachable",
        "The cluster does not answer",
        url,
        found[:200],
        "Check that its scheduler and a worker run, and that the certificates are its own.",
        kind=InvalidSettings,
    )
