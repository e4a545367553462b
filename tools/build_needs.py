"""Print what pyproject.toml needs to build, one a line, for pip; and ninja, which meson calls."""

import tomllib
from pathlib import Path

if __name__ == "__main__":
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
    print(*project["build-system"]["requires"], "ninja>=1.11", sep="\n")
