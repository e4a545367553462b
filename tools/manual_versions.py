"""The first page of a site that holds the manual of every version, each in a folder by its number.

``python tools/manual_versions.py SITE`` writes ``index.html``, and ``stable/``, which leads on to
the newest release.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>{title}</title>
{head}<h1>{title}</h1>
<ul>
{items}
</ul>
</html>
"""


def versions(site: Path) -> list[str]:
    """The versions whose manuals are there, the newest first."""
    there = [each.name for each in site.iterdir() if re.fullmatch(r"\d+\.\d+\.\d+", each.name)]
    return sorted(there, key=lambda name: [int(part) for part in name.split(".")], reverse=True)


def write(site: Path) -> None:
    there = versions(site)
    items = "\n".join(f'<li><a href="{each}/index.html">{each}</a></li>' for each in there)
    title = "ksupport: the manual of each version"
    (site / "index.html").write_text(PAGE.format(title=title, head="", items=items), "utf-8")
    if there:
        address = f"../{there[0]}/index.html"
        head = f'<meta http-equiv="refresh" content="0; url={address}">\n'
        item = f'<li><a href="{address}">{there[0]}</a></li>'
        (site / "stable").mkdir(exist_ok=True)
        page = PAGE.format(title="ksupport: the newest manual", head=head, items=item)
        (site / "stable" / "index.html").write_text(page, "utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
