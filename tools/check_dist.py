"""Install what was built into clean environments, with no extra and with each, and try it.

``python tools/check_dist.py dist [EXTRA ...]`` is what ``make test-dist`` calls: all extras, unless
some are named. Every environment is new, and gone afterwards. The wheel is tried where nothing but
that environment is to be found, no compiler above all; the source distribution builds its own.
"""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Sequence
from pathlib import Path

TOOLS = Path(__file__).parent
SCRIPTS = "Scripts" if os.name == "nt" else "bin"
LINES = """
import ksupport, pathlib, sys
from ksupport._common.commit import commit
assert pathlib.Path(ksupport.__file__).is_relative_to(sys.prefix), ksupport.__file__
print("ksupport", ksupport.__version__, "of", commit() or "no known commit")
"""


def run(python: Path, *arguments: str, alone: bool) -> None:
    """Nothing of the checkout or of the caller's settings may help; alone: no other program."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    if alone:
        clean = {key: value for key, value in clean.items() if key not in ("CC", "AR")}
        clean["PATH"] = str(python.parent)
    subprocess.run([str(python), *arguments], check=True, env=clean)


def try_out(built: Path, extra: str) -> None:
    """Install one file with one extra, and do what the extra is for."""
    began, alone = time.monotonic(), built.suffix == ".whl"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        venv.create(scratch, with_pip=True)
        python = Path(scratch, SCRIPTS, "python")
        what = str(built) if extra == "nothing" else f"{built}[{extra}]"
        pip = ["-m", "pip", "install", "-qq", "--disable-pip-version-check"]
        run(python, *pip, what, alone=alone)
        run(python, "-P", "-c", LINES, alone=alone)
        run(python, "-P", str(TOOLS / "smoke.py"), extra, alone=alone)
    print(f"{built.name} with {extra}: good, {time.monotonic() - began:.0f} s", flush=True)


def main(folder: str, *wanted: str) -> int:
    (wheel,), (source,) = (list(Path(folder).resolve().glob(end)) for end in ("*.whl", "*.tar.gz"))
    extras: Sequence[str] = wanted or list(runpy.run_path(str(TOOLS / "smoke.py"))["EXTRAS"])
    tried = [(wheel, extra) for extra in extras]
    if not wanted:
        tried.append((source, "nothing"))
    failed = []
    for built, extra in tried:
        try:
            try_out(built, extra)
        except subprocess.CalledProcessError:
            failed.append(f"{built.name} with {extra}")
    print(*(f"failed: {each}" for each in failed), sep="\n")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
