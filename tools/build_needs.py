"""Print what pyproject.toml needs to build, one a line, for pip; ninja too, unless it is there.

With a second ninja beside that of the machine, each would do over what the other has built.
"""

import shutil
import tomllib
from pathlib import Path

if __name__ == "__main__":
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
    ninja = [] if shutil.which("ninja") else ["ninja>=1.11"]
    print(*project["build-system"]["requires"], *ninja, sep="\n")
