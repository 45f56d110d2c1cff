"""A link to one screen of the dashboard: the page, and what is chosen on it, by id."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

DATASET, RUN, PHENOTYPE = "data", "run", "p"  # what a link calls them
FIRST_PAGE = "phenotypes"  # has no name in the address
PAGE_OF = {  # that shows the result of a kind of run
    **{"fit": FIRST_PAGE, "evaluation": "prediction", "projection": "patients"},
    "tune": "runs",
    **dict.fromkeys(("noise", "ablation", "stability", "ranks"), "robustness"),
}


def browser_cookie(port: int) -> str:
    """The cookie by which a server knows a browser again; cookies do not know ports."""
    return f"swift-{port}-browser"


@dataclass(frozen=True)
class Link:
    """Where to look, whichever server shows it.

    Attributes
    ----------
    page : str
        Its name.
    chosen : mapping of str to str
        Ids by :data:`DATASET`, :data:`RUN`, :data:`PHENOTYPE`; empty ones are left out.
    """

    page: str = FIRST_PAGE
    chosen: Mapping[str, str] = field(default_factory=dict, hash=False)

    def at(self, address: str) -> str:
        """The link on the server that this address opens; what the address names is kept."""
        parts = urlsplit(address)
        named = [(name, one) for name, one in self.chosen.items() if one]
        query = urlencode([*parse_qsl(parts.query), *named])
        path = "/" if self.page == FIRST_PAGE else f"/{self.page}"
        return urlunsplit(parts._replace(path=path, query=query))
