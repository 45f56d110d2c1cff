"""The report is a file that needs nothing but itself."""

from __future__ import annotations

from pathlib import Path

from browser.conftest import Visit
from browser.server import Server


def test_the_report_opens_from_a_file_and_asks_for_nothing(
    sample_server: Server, visit: Visit, tmp_path: Path
) -> None:
    visitor = visit(sample_server).open()
    visitor.lists("P01")
    shown = visitor.page.locator(".phenotype-list .key").all_inner_texts()
    file = visitor.download("Report to print (HTML)", tmp_path / "report.html")
    assert file.stat().st_size < 6e6
    visitor.context.set_offline(True)
    reader = visitor.context.new_page()
    asked: list[str] = []
    said: list[str] = []
    reader.on("request", lambda request: asked.append(request.url))
    reader.on("console", lambda line: said.append(line.text))
    reader.goto(file.as_uri())
    assert asked == [file.as_uri()] and said == []
    words = reader.inner_text("body")
    assert shown and all(identifier in words for identifier in shown)
    assert "not a diagnosis" in words
