"""Data whose true features are known by other means: what is found, what not, and what besides.

Mutations of HIV-1 that drugs select, transcripts that were added to microarrays, and genotypes with
simulated traits.  KSUPPORT_DATA names the folder of the data; the table is written to docs/tables,
from which the manual draws its page.
"""

from __future__ import annotations

import csv
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ksupport import AutoIRKSN, datasets

from .selection_real import DRUGS, Array, hiv, informative

TABLE = Path(__file__).parents[1] / "docs" / "tables" / "truth.csv"
LEVELS = (0.05, 0.1)
Row = dict[str, Any]


def positions(data: str, named: list[str]) -> Row | None:
    """Named mutations counted by position, against the older list of positions, as published."""
    if data not in DRUGS:
        return None
    known = {int(each) for each in datasets.fetch_dataset(data).truth_positions}
    found = {int("".join(filter(str.isdigit, each))) for name in named for each in name.split("/")}
    return {
        "what": "positions", "named": len(found), "true": len(found & known), "of": len(known),
        "not_on_the_list": " ".join(map(str, sorted(found - known))),
        "missed": " ".join(map(str, sorted(known - found))),
    }  # fmt: skip


def studies() -> Iterator[tuple[str, str, Array, Array, Any, list[str]]]:
    """Data, response, X, y, which features are true, and their names."""
    for name, drugs in DRUGS.items():
        data = datasets.fetch_dataset(name)
        for drug in drugs:
            X, y, truth = hiv(None, name, drug)
            measured = np.isfinite(data.target[:, data.target_names.index(drug)])
            where = informative(data.data[measured])[1]
            names = [
                "/".join(np.asarray(data.feature_names)[where == j].tolist())
                for j in range(X.shape[1])
            ]
            yield name, drug, X, y, truth != 0, names
    spiked = datasets.fetch_spike_in_u133()
    for profile, truth in enumerate(spiked.truth):
        names = [str(each) for each in spiked.feature_names]
        y = spiked.target[:, profile]
        yield "spike_in_u133", f"profile {profile + 1}", spiked.data, y, truth != 0, names
    linked = datasets.fetch_finemapping_n3()
    names = [f"variant {j}" for j in range(linked.data.shape[1])]
    for trait, coef in enumerate(linked.true_coef.T):
        y = linked.target[:, trait]
        yield "finemapping_n3", f"trait {trait + 1}", linked.data, y, coef != 0, names


def rows() -> Iterator[Row]:
    """Of each response: features at each rate, and credible sets."""
    for data, response, X, y, truth, names in studies():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that nothing was found is in the table
            model = AutoIRKSN().fit(X, y)
        about = {"data": data, "response": response, "rows": len(X), "features": X.shape[1]}
        for level in LEVELS:
            named = model.posterior_.select(level)
            yield about | {
                "what": "features", "level": level, "named": int(named.sum()),
                "true": int((named & truth).sum()), "of": int(truth.sum()),
                "not_on_the_list": _listed(names, named & ~truth),
                "missed": _listed(names, truth & ~named),
            }  # fmt: skip
            by_position = positions(data, [names[j] for j in np.flatnonzero(named)])
            if by_position is not None:
                yield about | by_position | {"level": level}
        sets = [list(each.features) for each in model.sets_]
        inside = np.isin(np.arange(truth.size), [j for S in sets for j in S])
        yield about | {
            "what": "sets", "level": 0.95, "named": len(sets),
            "true": sum(bool(truth[S].any()) for S in sets), "of": int(truth.sum()),
            "not_on_the_list": " ".join(
                "{" + ", ".join(names[j] for j in S) + "}" for S in sets if not truth[S].any()
            ),
            "missed": _listed(names, truth & ~inside),
        }  # fmt: skip


def _listed(names: list[str], chosen: Any) -> str:
    return " ".join(names[j] for j in np.flatnonzero(chosen))


def main() -> None:
    table = []
    for row in rows():
        table.append(row)
        print(*list(row.values())[:9], flush=True)
    TABLE.parent.mkdir(parents=True, exist_ok=True)
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(table[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)
    print(f"written to {TABLE}")
