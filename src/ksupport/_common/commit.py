"""The commit of this code: stored when a distribution is built, else read from git."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parents[1]
BAKED = "commit.txt"  # beside the package's modules, in what `make dist` builds


def commit() -> str | None:
    """The commit's 40 digits, or None where they are not known."""
    try:
        return _digits((HERE / BAKED).read_text()) or of_checkout(HERE.parents[1])
    except OSError:
        return of_checkout(HERE.parents[1])


def of_checkout(root: Path) -> str | None:
    """The commit checked out in a folder of this project, read from git's own files."""
    try:
        return _head(_folder(root / ".git")) if (root / "pyproject.toml").exists() else None
    except (OSError, UnicodeDecodeError):
        return None


def _folder(git: Path) -> Path:
    """The folder of HEAD; in a linked work tree ``.git`` is a file with its path."""
    if git.is_dir():
        return git
    return git.parent / git.read_text().removeprefix("gitdir:").strip()


def _head(folder: Path) -> str | None:
    head = (folder / "HEAD").read_text().strip()
    if not head.startswith("ref:"):
        return _digits(head)
    name = head.removeprefix("ref:").strip()
    common = folder / "commondir"  # in a linked work tree, the path to the branches
    places = folder / common.read_text().strip() if common.exists() else folder
    if (places / name).exists():
        return _digits((places / name).read_text())
    packed = (places / "packed-refs").read_text().splitlines()
    return next((_digits(line) for line in packed if line.endswith(f" {name}")), None)


def _digits(text: str) -> str | None:
    found = re.match("[0-9a-f]{40}", text)
    return found[0] if found else None
