"""The first screen shows phenotypes without a click; links lead where they say."""

from __future__ import annotations

import http.client
import re
import socket
from urllib.parse import urlsplit

import pytest

from browser.conftest import Visit
from browser.server import Server


def test_the_first_open_shows_ranked_phenotypes_and_charts(
    sample_server: Server, visit: Visit
) -> None:
    visitor = visit(sample_server).open()
    visitor.shows_chosen("Data set", "heart_failure (synthetic)")
    visitor.lists("P01").shows_card("P").shows_charts(1)
    visitor.choose("Data set", "news (synthetic)").sees(re.compile("topics in news"))
    visitor.shows_chosen("Data set", "news (synthetic)")
    visitor.lists("P01").shows_charts(1)
    visitor.is_well()


def test_a_link_opens_its_phenotype(sample_server: Server, visit: Visit) -> None:
    card = next(one for one in sample_server.store.datasets() if one.name == "news")
    run = sample_server.store.runs(card.id, "fit")[0].id
    for path in ("/", "/review"):
        visitor = visit(sample_server).open(path, data=card.id, run=run, p="P03")
        visitor.shows_chosen("Data set", "news (synthetic)")
        if path == "/review":
            visitor.type("Your name (saved with each judgement)", "Ann")
        visitor.shows_card("P03").is_well()


def test_a_link_to_nothing_says_so_and_goes_on(sample_server: Server, visit: Visit) -> None:
    known = sample_server.store.datasets()[0].id
    visitor = visit(sample_server)
    for ids, words in (
        ({"data": "0" * 32, "run": "f" * 32, "p": "P01"}, "The data set of this link is not"),
        ({"data": known, "run": "f" * 32}, "The result of this link is not in this store"),
        ({"run": "f" * 32}, "The result of this link is not in this store"),
        ({"p": "P99"}, "The phenotype of this link is not in this result"),
        ({"data": "<img src=x onerror=alert(1)>", "p": "../../etc"}, "The data set of this link"),
    ):
        visitor.open(**ids).sees(re.compile(words)).lists("P01")
        visitor.is_well()


def test_two_wordings(sample_server: Server, visit: Visit) -> None:
    visitor = visit(sample_server).open()
    assert "Factor weight" not in visitor.words()
    visitor.sees("Which features come first")
    visitor.press_choice("Data scientist").sees("Relevance weight (lambda)")
    assert "Which features come first" not in visitor.words()
    visitor.go_to("Runs").sees("Rank R")  # it holds on every page
    visitor.is_well()


def test_the_server_is_closed_to_others(sample_server: Server) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", sample_server.port, timeout=60)
    connection.request("GET", "/", headers={"Cookie": sample_server.cookie})
    own = connection.getresponse()
    policy = own.headers["content-security-policy"]
    assert own.status == 200
    assert "default-src 'self'" in policy and "frame-ancestors 'none'" in policy
    assert "unsafe-inline" not in policy.split("script-src")[1]
    address = urlsplit(sample_server.url).hostname
    assert address == "127.0.0.1"
    for other in _own_addresses() - {address}:
        with pytest.raises(OSError, match=r"refused|timed out|unreachable|Network"):
            socket.create_connection((other, sample_server.port), timeout=5)


def _own_addresses() -> set[str]:
    """Addresses under which others reach this machine."""
    try:
        found = socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)
    except socket.gaierror:
        return set()
    return {str(entry[4][0]) for entry in found if not str(entry[4][0]).startswith("127.")}
