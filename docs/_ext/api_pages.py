"""A page for each public name, and an index of them, from the list that the tests compare with."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

import api

TITLES = {
    "ksupport": "Estimators, paths and norms",
    "ksupport.datasets": "Data",
    "ksupport.metrics": "Metrics",
    "ksupport.plotting": "Pictures",
    "ksupport.stopping": "Stopping rules",
    "ksupport.theory": "Theory",
    "ksupport.explain.report": "Report",
    "ksupport.walking": "What a path gives",
    "ksupport.choosing.criteria": "Criteria",
    "ksupport.fmri": "Brain maps",
}  # of others, the module's name


def write(folder: Path) -> None:
    """All pages; those of names that are gone are removed."""
    folder.mkdir(exist_ok=True)
    pages = {"index": index()}
    for module in api.MODULES:
        pages |= {name: page(name, thing) for name, thing in api.public(module)}
    for old in folder.glob("*.rst"):
        if old.stem not in pages:
            old.unlink()
    for name, text in pages.items():
        path = folder / f"{name}.rst"
        if not path.exists() or path.read_text("utf-8") != text:  # what is new is read again
            path.write_text(text, "utf-8")


def index() -> str:
    """Every public name with the first line of its docstring."""
    return "\n".join([heading("API", "="), *map(section, api.MODULES)])


def section(module: str) -> str:
    names = "\n".join(f"   {name}" for name, _ in api.public(module))
    return (
        f"{heading(TITLES.get(module, f'``{module}``'), '-')}\n"
        f".. autosummary::\n   :toctree: .\n   :nosignatures:\n\n{names}\n"
    )


def page(name: str, thing: Any) -> str:
    """One name: its docstring, and those of its own members (none that scikit-learn adds)."""
    return f"{heading(name.rpartition('.')[2], '=')}\n{directive(name, thing)}\n"


def directive(name: str, thing: Any) -> str:
    if not inspect.isclass(thing):
        return f".. auto{'function' if callable(thing) else 'data'}:: {name}"
    members = "" if api.is_error(thing) else ", ".join(each for each, _ in api.members(thing))
    return f".. autoclass:: {name}\n" + (f"   :members: {members}\n" if members else "")


def heading(text: str, line: str) -> str:
    return f"{text}\n{line * len(text)}\n"


def setup(app: Any) -> dict[str, Any]:
    write(Path(app.srcdir) / "api")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
