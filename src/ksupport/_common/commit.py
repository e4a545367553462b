"""The commit that this code is of: baked in when a distribution was built, else asked of git."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

HERE = Path(__file__).parents[1]
BAKED = "commit.txt"  # beside the package's modules, in what `make dist` builds


def commit() -> str | None:
    """The commit's 40 digits, or None where they are not known.

    Examples
    --------
    >>> from ksupport._common.commit import commit
    >>> known = commit()
    >>> known is None or len(known)
    40
    """
    baked = HERE / BAKED
    digits = re.match("[0-9a-f]{40}", baked.read_text() if baked.exists() else "")
    return digits[0] if digits else of_checkout(HERE.parents[1])


def of_checkout(root: Path) -> str | None:
    """The commit that is checked out in a folder, if it is a checkout of this project."""
    if not ((root / "pyproject.toml").exists() and (root / ".git").exists()):
        return None
    ask = ["git", "-C", str(root), "rev-parse", "HEAD"]
    try:
        return subprocess.run(ask, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):  # git is not installed, or knows no commit
        return None
