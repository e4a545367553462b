"""A page for each public name, and an index of them, from the list that the tests compare with."""

from __future__ import annotations

import inspect
import re
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
    "ksupport.losses": "Losses",
    "ksupport.explain.report": "Report",
    "ksupport.walking": "What a path gives",
    "ksupport.choosing.criteria": "Criteria",
    "ksupport.fmri": "Brain maps",
}  # of others, the module's name
DATA = {"ksupport.METHODS": "The methods by name, each a class that makes its parameters."}
HIDDEN = {"get_metadata_routing"}  # for scikit-learn to call


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
    things = list(api.public(module))
    rows = "".join(row(*each) for each in things)
    pages = "".join(f"   {name}\n" for name, _ in things)
    return (
        f"{heading(TITLES.get(module, f'``{module}``'), '-')}\n"
        f".. list-table::\n   :widths: 35 65\n\n{rows}\n"
        f".. toctree::\n   :hidden:\n\n{pages}"
    )


def row(name: str, thing: Any) -> str:
    short = name.removeprefix("ksupport.")
    return f"   * - :doc:`{short} <{name}>`\n     - {summary(name, thing)}\n"


def summary(name: str, thing: Any) -> str:
    """The first line of a docstring, without marks of footnotes."""
    text = DATA.get(name) or (inspect.getdoc(thing) or "").split("\n\n")[0]
    return re.sub(r" \[\d+\]_", "", " ".join(text.split()))


def page(name: str, thing: Any) -> str:
    """One name: its docstring, and those of its own members (none that scikit-learn adds)."""
    return f"{heading(name.removeprefix('ksupport.'), '=')}\n{directive(name, thing)}\n"


def directive(name: str, thing: Any) -> str:
    if name in DATA:
        return f".. data:: {name}\n\n   {DATA[name]}"
    if not inspect.isclass(thing):
        return f".. autofunction:: {name}"
    members = [] if api.is_error(thing) else [each for each, _ in api.members(thing)]
    shown = ", ".join(each for each in members if each not in HIDDEN)
    return f".. autoclass:: {name}\n" + (f"   :members: {shown}\n" if shown else "")


def heading(text: str, line: str) -> str:
    return f"{text}\n{line * len(text)}\n"


def setup(app: Any) -> dict[str, Any]:
    write(Path(app.srcdir) / "api")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
