"""Columns that share a name, such as several probes of one gene: merge, rename or refuse them."""

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
    """How columns that share a name were resolved, so that new rows are treated alike.

    For "max-variance", ``chosen`` has the position, from 0 on, among the columns of a name.
    """

    policy: DuplicatePolicy = "refuse"
    chosen: Mapping[str, int] = field(default_factory=dict)

    def select(self, names: Collection[str]) -> Duplicates:
        """Return the same policy for these names only."""
        chosen = {name: position for name, position in self.chosen.items() if name in names}
        return Duplicates(self.policy, chosen)

    def to_dict(self) -> dict[str, Any]:
        return {"way": self.policy, "taken": dict(self.chosen)}

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Duplicates:
        return cls(value["way"], {str(name): int(at) for name, at in value["taken"].items()})

    def rename(self, names: Sequence[str]) -> list[str]:
        """Return the names of columns, made unique if the policy is "suffix"."""
        return make_unique(names) if self.policy == "suffix" else list(names)

    def merge_again(self, names: Sequence[str], X: Any, file: str) -> tuple[list[str], Any]:
        """Return names and X with one column for each name, as in the fit."""
        groups = _positions(names)
        if all(len(positions) == 1 for positions in groups.values()):
            return list(names), X
        if self.policy == "refuse":
            _refuse(groups, file)
        if self.policy == "mean":
            return list(groups), _average_columns(X, list(groups.values()))
        kept = [self._choose(name, positions, file) for name, positions in groups.items()]
        return list(groups), X[:, kept]

    def _choose(self, name: str, positions: list[int], file: str) -> int:
        """Return the column of this name that was chosen in the fit."""
        if len(positions) == 1:
            return positions[0]
        chosen = self.chosen.get(name, 0)
        if chosen >= len(positions):
            raise InputError(
                f"{file}: the model was fitted with column number {chosen + 1} of those called "
                f"{shown(name)}, but here are only {len(positions)} of them"
            )
        return positions[chosen]


def resolve_duplicates(
    names: Sequence[str], X: Any, policy: DuplicatePolicy, file: str
) -> tuple[list[str], Any, Duplicates]:
    """Return names and X with one column for each name, and how that was done."""
    groups = _positions(names)
    if len(groups) == len(names):
        return list(names), X, Duplicates()
    if isinstance(X, Genotypes) and policy in ("mean", "max-variance"):
        raise InputError(
            f"{option('duplicates', policy)}: genotypes are read from disk and cannot be combined; "
            f"use {option('duplicates', 'suffix')}"
        )
    chosen = {}  # the first of those that vary most
    for name, positions in groups.items():
        if policy == "max-variance" and len(positions) > 1:
            values = np.ma.masked_invalid(np.asarray(dense(X[:, positions]), np.float64))
            chosen[name] = int(np.argmax(values.var(axis=0).filled(0.0)))
    duplicates = Duplicates(policy, chosen)
    return *duplicates.merge_again(duplicates.rename(names), X, file), duplicates


def describe_duplicates(names: Sequence[str], duplicates: Duplicates) -> list[str]:
    """Return a remark on how duplicates were resolved, if there are any."""
    counts = Counter(names)
    twice = [name for name, count in counts.items() if count > 1]
    if not twice:
        return []
    columns = sum(counts[name] for name in twice)
    done = {
        "mean": "were replaced by their mean",
        "max-variance": "were replaced by the one of largest variance",
        "suffix": "were distinguished by a number after the name",
    }[duplicates.policy]
    return [f"{columns} columns that share {len(twice)} names ({listed(twice, 4)}) {done}."]


def make_unique(names: Sequence[str]) -> list[str]:
    """Return names told apart by a number, as R's ``make.unique`` does.

    >>> make_unique(["TP53", "MYC", "TP53", "TP53.1", "TP53"])
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


def _positions(names: Sequence[str]) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {}
    for position, name in enumerate(names):
        groups.setdefault(name, []).append(position)
    return groups


def _refuse(groups: Mapping[str, list[int]], file: str) -> None:
    twice = [name for name, positions in groups.items() if len(positions) > 1]
    policies = {
        option("duplicates", "mean"): "their mean",
        option("duplicates", "max-variance"): "the one of largest variance",
        option("duplicates", "suffix"): "all of them, with a number after the name",
    }
    choices = ", ".join(f"{setting} takes {what}" for setting, what in policies.items())
    raise Problem(
        f"{file}: {len(twice)} name(s) of features occur more than once: {listed(twice)}. Of the "
        f"columns that share a name, {choices}",
        *([("duplicates", policy)] for policy in DUPLICATE_POLICIES if policy != "refuse"),
        columns=twice,
    )


def _average_columns(X: Any, groups: list[list[int]]) -> Any:
    """Return the mean of the columns of each group, over the values that are not missing."""
    out = X[:, [positions[0] for positions in groups]]
    if sp.issparse(X):
        out = out.tolil()
    for j, positions in enumerate(groups):
        if len(positions) > 1:
            values = X[:, positions] if sp.issparse(X) else np.ma.masked_invalid(X[:, positions])
            means = values.mean(axis=1)
            out[:, j] = means if sp.issparse(X) else means.filled(np.nan)
    return out.tocsr() if sp.issparse(X) else out
