"""`feature_groups=`, `positive=` and `shared_support=`: what models may look like."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._common.checks import check_switch
from .._common.groups import labels_of, ungrouped
from .._common.names import shown
from ..design import Ints, names_of
from ..walking.structure import Structure

STRUCTURE = ("feature_groups", "positive", "shared_support")


class Structured:
    """The part of an estimator that knows what its models may look like."""

    feature_groups: Any = None
    positive: bool = False
    shared_support: bool = False
    _labels: tuple[int, ...] | None = None  # the group of each feature

    def _learn_groups(self, X: Any, d: int, unpenalized: Ints) -> None:
        """Remember which of the d features of X belong together."""
        for name in ("positive", "shared_support"):
            check_switch(name, getattr(self, name))
        self._labels = groups_meant(self.feature_groups, X, d, unpenalized)

    @property
    def _asked_structure(self) -> dict[str, Any]:
        """The parameters of a method that say so, where they say anything."""
        asked = {"feature_groups": self._labels, "positive": bool(self.positive)}
        return {name: value for name, value in asked.items() if value}

    def _n_groups(self, d: int) -> tuple[int, str]:
        """How many there are, and what they are called: features, if none belong together."""
        return (d, "n_features") if self._labels is None else (max(self._labels) + 1, "n_groups")

    def _structure(self, targets: int) -> Structure:
        labels = None if self._labels is None else np.array(self._labels, np.intp)
        return Structure(labels, bool(self.positive), targets)


def groups_meant(groups: Any, X: Any, d: int, unpenalized: Ints) -> tuple[int, ...] | None:
    """The group of each of X's d features; unpenalised columns, which are none, are by themselves.

    A label for each feature labels them, too, which says nothing; in a list they are a mistake.
    """
    if groups is None:
        return None
    labels = labels_of(groups, d, names_of(X))
    sizes = np.bincount(labels)
    in_lists = any(isinstance(each, list | tuple | set | np.ndarray) for each in groups)
    for feature in unpenalized.tolist() if in_lists else []:
        if sizes[labels[feature]] > 1:
            names = names_of(X)
            name = f"x{feature}" if names is None else names[feature]
            raise ValueError(
                f"feature_groups has the column {shown(name)!r} in a group, but it is unpenalized, "
                "and so in every model; remove it from one of the two"
            )
    return ungrouped(labels, unpenalized)
