#!/usr/bin/env python3
"""For meson: the commit that is built, for ``ksupport --version`` to name.

Prints it, and where a source distribution is being made writes it into that too.
"""

import os
import runpy
from pathlib import Path

SOURCE = Path("src", "ksupport")

if __name__ == "__main__":
    here = Path(__file__).parents[1]
    commit = runpy.run_path(str(here / SOURCE / "_common" / "commit.py"))["commit"]()
    dist = os.environ.get("MESON_DIST_ROOT")
    if commit is not None and dist is not None:
        Path(dist, SOURCE, "commit.txt").write_text(f"{commit}\n")
    print(commit or "")
