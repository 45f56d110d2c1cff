"""Which cluster is meant: addresses, and names from a file that is its owner's alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from swiftcore.cluster.address import (
    FILE,
    ClusterAddress,
    find_cluster,
    named_clusters,
    read_address,
)
from swiftcore.errors import InvalidSettings

GOOD = """
[lab]
address = "tls://scheduler.example:8786"
ca_file = "ca.pem"
cert = "cert.pem"
key = "key.pem"

[here]
address = "local:2"
"""


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "clusters.toml"
    monkeypatch.setenv(FILE.variable, str(path))
    return path


def write(path: Path, text: str, mode: int = 0o600) -> None:
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)


def test_names_mean_addresses(settings: Path) -> None:
    assert named_clusters() == {}
    write(settings, GOOD)
    assert list(named_clusters()) == ["lab", "here"]
    assert find_cluster("here") == ClusterAddress(workers=2)
    lab = find_cluster("lab")
    assert lab.url == "tls://scheduler.example:8786" and lab.tls[2].name == "key.pem"
    assert find_cluster("local:3").workers == 3
    with pytest.raises(InvalidSettings, match="configured: lab, here"):
        find_cluster("elsewhere")


def test_a_file_that_others_can_read_is_refused(settings: Path) -> None:
    write(settings, GOOD, 0o644)
    with pytest.raises(InvalidSettings, match="chmod 600"):
        find_cluster("lab")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[lab]\naddress = "tcp://10.0.0.7:8786"', "needs TLS"),
        ('[lab]\naddress = "nonsense"', "not the address"),
        ('[lab]\naddress = "local:2"\nkey = "k"', "tls://"),
        ('[lab]\naddress = "tls://h:1"\nkey = "k"', "three files"),
        ('[lab]\nhost = "h"', "cannot be understood"),
        ("[lab]\naddress = 3", "cannot be understood"),
        ('["a b"]\naddress = "local:2"', "cannot be understood"),
        ("lab = 1", "cannot be understood"),
        ("[lab", "cannot be read"),
    ],
)
def test_what_cannot_be_used_is_said(settings: Path, text: str, said: str) -> None:
    write(settings, text)
    with pytest.raises(InvalidSettings, match=said):
        named_clusters()


def test_all_faults_are_said_at_once(settings: Path) -> None:
    write(settings, '[a]\naddress = "x"\n[b]\naddress = "tcp://10.0.0.7:1"')
    with pytest.raises(InvalidSettings) as found:
        named_clusters()
    assert [problem.where for problem in found.value.problems] == ["cluster 'a'", "cluster 'b'"]


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("tcp://10.0.0.7:8786", "needs TLS"),
        ("tcp://scheduler.example:8786", "needs TLS"),
        ("tcp://0.0.0.0:8786", "needs TLS"),
        ("local:0", "not the address"),
        ("local:many", "not the address"),
        ("http://127.0.0.1:8786", "not the address"),
        ("tls://host", "not the address"),
        ("tls://host:99999999", "not the address"),
        ("", "not the address"),
    ],
)
def test_unsafe_and_odd_addresses_are_refused(address: str, said: str) -> None:
    with pytest.raises(InvalidSettings, match=said):
        read_address(address)
