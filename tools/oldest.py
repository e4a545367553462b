"""Print, as constraints for pip, the oldest version that pyproject.toml allows of each package."""

import re
import tomllib
from itertools import chain
from pathlib import Path

FILE = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
BUILD, PROJECT = FILE["build-system"], FILE["project"]

# What the oldest versions did not know would become too new for them.
TOO_NEW = ["pyparsing<3.3"]  # matplotlib 3.9 calls names that warn since


def constraints() -> list[str]:
    """``name==version`` for every ``name>=version``, with or without extras."""
    extras = PROJECT["optional-dependencies"].values()
    wanted = chain(BUILD["requires"], PROJECT["dependencies"], *extras)
    bounds = (re.match(r"([\w.-]+)(?:\[.*?\])?>=([\d.]+)", each) for each in wanted)
    return sorted({f"{bound[1]}=={bound[2]}" for bound in bounds if bound})


if __name__ == "__main__":
    print(*constraints(), *TOO_NEW, sep="\n")
