#!/usr/bin/env python3
"""Print the version that ``src/ksupport/__init__.py`` names, for meson."""

import re
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "ksupport" / "__init__.py"

if __name__ == "__main__":
    found = re.search(r'^__version__ = "(.+)"$', SOURCE.read_text(encoding="utf-8"), re.MULTILINE)
    if found is None:
        raise SystemExit(f"{SOURCE} names no __version__")
    print(found[1])
