"""How a result was made: versions, seed, command, data."""

from __future__ import annotations

import platform
import shlex
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from ... import __version__
from ..._common.commit import commit

if TYPE_CHECKING:  # `ksupport --version` need not import what reads files
    from ...reading import Data

PACKAGES = ("numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl")
OPTIONAL_PACKAGES = (
    "typer", "rich", "pandas", "pyarrow", "python-calamine", "bed-reader", "anndata", "h5py",
    "matplotlib", "dask", "distributed", "zarr", "nilearn", "hidimstat", "skglm", "numba",
    "pyproximal", "modopt", "benchopt", "rdata",
)  # fmt: skip


def versions() -> dict[str, str]:
    """Of this package, its commit if it is known, of Python and of what the numbers depend on."""
    known = commit()
    own = {"ksupport": __version__} | ({} if known is None else {"commit": known})
    # Without its metadata a package has no version, though it may work.
    needed = {name: _installed_version(name) or "unknown" for name in PACKAGES}
    return {**own, "python": platform.python_version(), **needed}


def version_text() -> str:
    """What `ksupport --version` prints, to be pasted into a report of a defect."""
    found = versions()
    own, known = found.pop("ksupport"), found.pop("commit", None)
    more = {
        name: there for name in OPTIONAL_PACKAGES if (there := _installed_version(name)) is not None
    }
    return "\n".join(
        [
            f"ksupport {own}" + ("" if known is None else f" (commit {known[:12]})"),
            f"{platform.system()} {platform.machine()}",
            *(f"{name} {number}" for name, number in {**found, **more}.items()),
        ]
    )


def _installed_version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


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
