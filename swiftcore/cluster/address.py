"""Which cluster is meant, and whether it may be talked to: anything but loopback needs TLS."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from swiftcore.errors import InvalidSettings, Problem, SwiftError, refuse
from swiftcore.runtime.private_settings import NAME, PrivateSettings

USUAL_SETTINGS = "~/.config/swift-phenotyping/clusters.toml"
FILE = PrivateSettings(
    "SWIFT_CLUSTERS",
    USUAL_SETTINGS,
    "the addresses of clusters",
    'address = "tls://host:8786", ca_file = "...", cert = "...", key = "..."',
)
TLS = ("ca_file", "cert", "key")
EXAMPLES = (
    "local:4, or tls://host:8786 (tcp://127.0.0.1:8786 on this machine), or the name of a "
    f"cluster in {USUAL_SETTINGS}"
)
_LOCAL = re.compile(r"local:(\d{1,3})")


@dataclass(frozen=True)
class ClusterAddress:
    """A cluster to be started here, or one that runs.

    Attributes
    ----------
    workers : int
        Processes to start on this machine; 0: it runs already.
    url : str
        Of its scheduler.
    tls : tuple of Path
        Certificate of the authority, own certificate, key; empty: those in Dask's settings.
    """

    workers: int = 0
    url: str = ""
    tls: tuple[Path, ...] = ()

    @property
    def secure(self) -> bool:
        return self.url.startswith("tls://")


def find_cluster(text: str) -> ClusterAddress:
    """The cluster that an address or the name of a configured one means.

    Raises
    ------
    InvalidSettings
        As :func:`read_address` and :func:`named_clusters`, or when there is none of this name.
    """
    if not NAME.fullmatch(text):
        return read_address(text)
    known = named_clusters()
    if text not in known:
        raise refuse(
            "cluster-unknown",
            "There is no cluster of this name",
            f"--cluster {text}",
            f"configured: {', '.join(known) or 'none'}",
            f"Give {EXAMPLES}.",
            kind=InvalidSettings,
        )
    return known[text]


def named_clusters() -> dict[str, ClusterAddress]:
    """The clusters of the settings file by name; none when there is no file.

    Raises
    ------
    InvalidSettings
        When others can read the file, or with everything in it that cannot be used.
    """
    found, problems = {}, []
    for name, plain in FILE.read().items():
        try:
            found[name] = _named(name, plain)
        except InvalidSettings as error:
            problems += [replace(one, where=f"cluster {name[:64]!r}") for one in error.problems]
    if problems:
        raise InvalidSettings(problems)
    return found


def _named(name: str, plain: Any) -> ClusterAddress:
    """One cluster of the file."""
    texts = isinstance(plain, dict) and all(isinstance(one, str) for one in plain.values())
    if not NAME.fullmatch(name) or not texts or not {"address"} <= set(plain) <= {"address", *TLS}:
        cure = f"Write [name] of letters, digits, - and _, and below it {FILE.example}."
        found = "another name or other settings than address, ca_file, cert and key"
        raise InvalidSettings(
            [Problem("cluster-setting", "A cluster cannot be understood", name, found, cure)]
        )
    address = read_address(plain["address"])
    files = tuple(Path(plain[one]).expanduser() for one in TLS if one in plain)
    if files and (len(files) < len(TLS) or not address.secure):
        raise refuse(
            "cluster-certificates",
            "Certificates go with tls:// and come as three files",
            name,
            f"{plain['address'][:80]} with {', '.join(one for one in TLS if one in plain)}",
            "Give ca_file, cert and key, or none of them.",
            kind=InvalidSettings,
        )
    return replace(address, tls=files)


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


class ClusterLost(SwiftError):
    """A cluster that was there and is gone, or whose workers die of a task."""


def lost(found: str) -> ClusterLost:
    """What is said then."""
    return refuse(
        "cluster-lost",
        "The cluster gave up while it computed",
        "--cluster",
        found[:200].rstrip("."),
        "Look at its scheduler and at the memory of its workers, then ask for the same again: "
        "it goes on from what was kept.",
        kind=ClusterLost,
    )


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
