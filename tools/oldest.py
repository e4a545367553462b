"""Print, as constraints for pip, the oldest version that pyproject.toml allows of each package."""

import re
import tomllib
from itertools import chain
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]

# What the oldest versions did not know would become too new for them.
TOO_NEW = ["pyparsing<3.3"]  # matplotlib 3.9 calls names that warn since


def constraints() -> list[str]:
    """``name==version`` for every ``name>=version``, with or without extras."""
    wanted = chain(PROJECT["dependencies"], *PROJECT["optional-dependencies"].values())
    bounds = (re.match(r"([\w.-]+)(?:\[.*?\])?>=([\d.]+)", each) for each in wanted)
    return sorted({f"{bound[1]}=={bound[2]}" for bound in bounds if bound})


if __name__ == "__main__":
    print(*constraints(), *TOO_NEW, sep="\n")
