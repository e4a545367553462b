"""Look over the manual that was built: broken links, TeX left over, what needs a network.

``python tools/manual.py docs/_build/html`` is part of ``make docs``, and fails if it finds any.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlparse

from bs4 import BeautifulSoup

LINKS = {"a": "href", "img": "src", "script": "src", "link": "href"}
TEX = re.compile(
    r"\\(?:[a-zA-Z]{2,}|[(\[])|[_^]\{"
)  # a command, the beginning of a formula, an index


def faults(root: Path) -> Iterator[str]:
    """What is wrong, page by page."""
    paths = [path for path in sorted(root.rglob("*.html")) if "_static" not in path.parts]
    pages = {path: BeautifulSoup(path.read_text("utf-8"), "html.parser") for path in paths}
    marks = {path: {str(each["id"]) for each in page(id=True)} for path, page in pages.items()}
    for path, page in pages.items():
        where = path.relative_to(root)
        for tag, attribute in LINKS.items():
            for each in page.find_all(tag, {attribute: True}):
                if fault := of_link(path, tag, str(each[attribute]), marks):
                    yield f"{where}: {fault}"
        for each in page(["pre", "code", "script", "style"]):
            each.decompose()
        if found := TEX.search(page.get_text(" ")):
            yield f"{where}: TeX was left over: {found[0]}"


def of_link(path: Path, tag: str, link: str, marks: dict[Path, set[str]]) -> str | None:
    """What is wrong with one link of a page."""
    parts = urlparse(link)
    if parts.scheme in ("http", "https"):
        return None if tag == "a" else f"{link} needs a network"
    if parts.scheme:
        return None
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not target.exists():
        return f"{link} is not there"
    if parts.fragment and target in marks and unquote(parts.fragment) not in marks[target]:
        return f"{link} has no such place"
    return None


if __name__ == "__main__":
    found = list(faults(Path(sys.argv[1]).resolve()))
    print(*found, sep="\n", end="\n" if found else "")
    sys.exit(bool(found))
