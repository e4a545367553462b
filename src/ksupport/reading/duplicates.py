"""Columns that share a name, such as several probes of one gene: merged, renamed or refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp

from .._common.checks import dense
from .._common.errors import InputError
from .._common.names import listed, shown
from ..design import Genotypes
from .problems import Problem, option

DuplicatePolicy = Literal["refuse", "mean", "max-variance", "suffix"]
DUPLICATE_POLICIES: tuple[DuplicatePolicy, ...] = get_args(DuplicatePolicy)


@dataclass(frozen=True)
class Duplicates:
    """What was done about names that recur, so that it is done to new rows too.

    ``taken`` says for "max-variance" which of the columns of a name was taken, from 0 on.
    """

    way: DuplicatePolicy = "refuse"
    taken: Mapping[str, int] = field(default_factory=dict)

    def of(self, names: Collection[str]) -> Duplicates:
        return Duplicates(self.way, {name: at for name, at in self.taken.items() if name in names})

    def to_dict(self) -> dict[str, Any]:
        return {"way": self.way, "taken": dict(self.taken)}

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Duplicates:
        return cls(value["way"], {str(name): int(at) for name, at in value["taken"].items()})

    def renamed(self, names: Sequence[str]) -> list[str]:
        """The names of the columns of a file, made distinct if that is the way."""
        return made_unique(names) if self.way == "suffix" else list(names)

    def merge_again(self, names: Sequence[str], X: Any, file: str) -> tuple[list[str], Any]:
        """One column for each name, as in the fit."""
        groups = _places(names)
        if all(len(places) == 1 for places in groups.values()):
            return list(names), X
        if self.way == "refuse":
            _refuse(groups, file)
        if self.way == "mean":
            return list(groups), _columns(X, list(groups.values()))
        kept = [self._taken(name, places, file) for name, places in groups.items()]
        return list(groups), X[:, kept]

    def _taken(self, name: str, places: list[int], file: str) -> int:
        if len(places) == 1:
            return places[0]
        at = self.taken.get(name, 0)
        if at >= len(places):
            raise InputError(
                f"{file}: the model was fitted with column number {at + 1} of those called "
                f"{shown(name)}, but here are only {len(places)} of them"
            )
        return places[at]


def merged(
    names: Sequence[str], X: Any, way: DuplicatePolicy, file: str
) -> tuple[list[str], Any, Duplicates]:
    """One column for each name, and what was done to get there."""
    groups = _places(names)
    if len(groups) == len(names):
        return list(names), X, Duplicates()
    if isinstance(X, Genotypes) and way in ("mean", "max-variance"):
        raise InputError(
            f"{option('duplicates', way)}: genotypes stay on disk as they are; give "
            f"{option('duplicates', 'suffix')}"
        )
    taken = {}  # the first of those that vary most
    for name, places in groups.items():
        if way == "max-variance" and len(places) > 1:
            values = np.ma.masked_invalid(np.asarray(dense(X[:, places]), np.float64))
            taken[name] = int(np.argmax(values.var(axis=0).filled(0.0)))
    done = Duplicates(way, taken)
    return *done.merge_again(done.renamed(names), X, file), done


def remark_on(names: Sequence[str], duplicates: Duplicates) -> list[str]:
    counts = Counter(names)
    twice = [name for name, count in counts.items() if count > 1]
    if not twice:
        return []
    columns = sum(counts[name] for name in twice)
    done = {
        "mean": "were replaced by their mean",
        "max-variance": "were replaced by the one of largest variance",
        "suffix": "were distinguished by a number after the name",
    }[duplicates.way]
    return [f"{columns} columns that share {len(twice)} names ({listed(twice, 4)}) {done}."]


def made_unique(names: Sequence[str]) -> list[str]:
    """Names told apart by a number, as R's ``make.unique`` does.

    >>> made_unique(["TP53", "MYC", "TP53", "TP53.1", "TP53"])
    ['TP53', 'MYC', 'TP53.2', 'TP53.1', 'TP53.3']
    """
    taken, seen, next_number = set(names), set(), Counter[str]()
    out = []
    for name in names:
        unique = name
        while unique in seen or (unique != name and unique in taken):
            next_number[name] += 1
            unique = f"{name}.{next_number[name]}"
        seen.add(unique)
        out.append(unique)
    return out


def _places(names: Sequence[str]) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {}
    for at, name in enumerate(names):
        groups.setdefault(name, []).append(at)
    return groups


def _refuse(groups: Mapping[str, list[int]], file: str) -> None:
    twice = [name for name, places in groups.items() if len(places) > 1]
    ways = {
        option("duplicates", "mean"): "their mean",
        option("duplicates", "max-variance"): "the one of largest variance",
        option("duplicates", "suffix"): "all of them, with a number after the name",
    }
    told = ", ".join(f"{way} takes {what}" for way, what in ways.items())
    raise Problem(
        f"{file}: {len(twice)} name(s) of features occur more than once: {listed(twice)}. Of the "
        f"columns that share a name, {told}",
        *([("duplicates", way)] for way in DUPLICATE_POLICIES if way != "refuse"),
        columns=twice,
    )


def _columns(X: Any, groups: list[list[int]]) -> Any:
    """Means over the columns of each group; of missing values, over those that are there."""
    out = X[:, [places[0] for places in groups]]
    if sp.issparse(X):
        out = out.tolil()
    for at, places in enumerate(groups):
        if len(places) > 1:
            values = X[:, places] if sp.issparse(X) else np.ma.masked_invalid(X[:, places])
            means = values.mean(axis=1)
            out[:, at] = means if sp.issparse(X) else means.filled(np.nan)
    return out.tocsr() if sp.issparse(X) else out
