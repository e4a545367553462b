#!/usr/bin/env python3
"""Print the folders of bytecode below a folder, for meson to leave out of what it installs."""

import sys
from pathlib import Path

if __name__ == "__main__":
    root = Path(__file__).parents[1] / sys.argv[1]
    for folder in sorted(root.rglob("__pycache__")):
        print(folder.relative_to(root).as_posix())
