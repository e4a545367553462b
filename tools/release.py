"""Whether everything that names the version names the same one; and what a version brought.

``python tools/release.py [v1.2.3]`` fails where files differ, from the tag too if one is given;
``--notes`` prints that version's part of the changelog.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLACES = {
    "src/ksupport/__init__.py": r'^__version__ = "(.+)"$',
    "CITATION.cff": r"^version: (.+)$",
    "recipe/recipe.yaml": r'^  version: "(.+)"$',
    "CHANGELOG.md": r"^## \[(\d.*?)\] - \d{4}-\d{2}-\d{2}$",  # the first, which is the newest
}


def named() -> dict[str, str]:
    """The version that each place names."""
    found = {
        place: re.search(pattern, (ROOT / place).read_text(encoding="utf-8"), re.MULTILINE)
        for place, pattern in PLACES.items()
    }
    return {place: match[1] if match else "none" for place, match in found.items()}


def notes(version: str) -> str:
    """What the changelog says of a version, without its heading."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    part = re.search(rf"^## \[{re.escape(version)}\].*?\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    return part[1].strip() if part else ""


def main(*arguments: str) -> int:
    places = named()
    version = places["CHANGELOG.md"]
    for each in arguments:
        if not each.startswith("--"):
            places["tag"] = each.removeprefix("v")
    if len(set(places.values())) > 1:
        print(
            "versions differ:",
            *(f"  {place}: {found}" for place, found in places.items()),
            sep="\n",
        )
        return 1
    print(notes(version) if "--notes" in arguments else version)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
