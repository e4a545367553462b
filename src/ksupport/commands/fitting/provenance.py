"""How a result was made: versions, seed, command, data."""

from __future__ import annotations

import platform
import shlex
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from ... import __version__
from ...reading import Data

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")


def versions() -> dict[str, str]:
    """Of this package, of Python and of what the numbers depend on."""
    found = {"ksupport": __version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # a package put in place without its metadata
            found[name] = "unknown"
    return found


def command_line() -> str:
    """The command as it was typed, quoted for a shell."""
    return shlex.join(["ksupport", *sys.argv[1:]])


def provenance(data: Data, seed: int) -> dict[str, Any]:
    """All that is needed to make a result again from a data file."""
    rows, features = data.shape
    return {
        "command": command_line(),
        "seed": seed,
        "versions": versions(),
        "data": {
            "file": data.path.name,
            "sha256": data.sha256,
            "rows": rows,
            "features": features,
        },
    }
