"""What was understood of a file, for ``--dry-run``: as text and as plain data."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.console import Console

from ..._common.names import listed, shown
from ...design import Genotypes
from ...reading import Columns, Data
from ..terminal.printing import heading, paragraph, table
from .pace import pace


def understood(data: Data, columns: Columns, to_fit: str) -> dict[str, Any]:
    """What was understood, as plain data."""
    n, features = data.shape[0], data.n_features
    return {
        "file": data.path.name,
        "rows": n,
        "features": features,
        "feature_names": list(data.feature_names[: min(features, 10)]),
        "response": data.kind,
        "target": columns.target or columns.time or "y",
        "classes": list(data.classes),
        "adjusted_for": [coding.to_dict() for coding in data.codings],
        "ids": None if data.ids is None else data.ids[:10].tolist(),
        "groups": None if data.groups is None else len(np.unique(data.groups)),
        "remarks": data.remarks,
        "to_fit": to_fit,
        "pace": pace(data),
    }


def tell_understood(out: Console, data: Data, columns: Columns, to_fit: str) -> None:
    """The same in words."""
    n, features = data.shape[0], data.n_features
    heading(out, f"{shown(data.path.name)}: {n} rows, {features} features. Nothing was fitted.")
    rows = [
        ["to explain", _response(data, columns)],
        ["features", listed(data.feature_names[:features], 6)],
        ["adjusted for", "; ".join(map(_coding, data.codings)) or "nothing"],
        ["names of rows", "none" if data.ids is None else listed(data.ids.tolist(), 4)],
        ["groups", "none" if data.groups is None else f"{len(np.unique(data.groups))} labels"],
        ["kept", "on disk, read by blocks" if isinstance(data.X, Genotypes) else "in memory"],
        ["to be fitted", to_fit],
    ]
    table(out, ["what", "note"], rows)
    words = pace(data)
    for remark in [*data.remarks, *([] if words is None else [f"{words.capitalize()}."])]:
        out.print()
        paragraph(out, remark)
    out.print()
    paragraph(out, "If this is what you meant, leave --dry-run out; --help lists what changes it.")


def _response(data: Data, columns: Columns) -> str:
    if data.kind == "survival":
        seen, total = int(data.y["event"].sum()), len(data.y)
        return f"{shown(str(columns.time))} until an event, seen in {seen} of {total} rows"
    name = shown(columns.target or "y")
    if data.kind == "classes":
        return f"{name}: classes {listed(data.classes)}"
    return f"{name}: numbers from {data.y.min():.4g} to {data.y.max():.4g}"


def _coding(coding: Any) -> str:
    if not coding.levels:
        return shown(coding.name)
    first, *others = coding.levels
    return f"{shown(coding.name)} ({listed(others, 4)}, compared to {shown(first)})"
