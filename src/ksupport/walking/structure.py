"""What models may look like: groups of features, one sign, several responses with one support."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..design import Floats, Ints

NO_LABELS = np.empty(0, np.intp)


@dataclass(frozen=True, eq=False)
class Structure:
    """Groups of coefficients that come in and stay out together, and their sign.

    The penalty is the k-support norm of the vector of norms of groups; k counts groups.  Models of
    several responses are one vector, the coefficients of each response side by side, and a group
    has those of all responses.
    """

    labels: Ints | None = None  # the group of each feature, from 0 on; None: each is one
    positive: bool = False  # whether coefficients must not be negative
    targets: int = 1  # responses

    @property
    def plain(self) -> bool:
        """Whether every coefficient stands for itself, of either sign."""
        return self.one_by_one and not self.positive

    @property
    def one_by_one(self) -> bool:
        """Whether every coefficient stands for itself, whatever its sign may be."""
        return self.labels is None and self.targets == 1

    def count(self, d: int) -> int:
        """How many groups d features have."""
        return d if self.labels is None else int(self.labels.max()) + 1

    def largest(self, k: int) -> int:
        """The most features that k groups have."""
        if self.labels is None:
            return k
        return int(np.sort(np.bincount(self.labels))[-k:].sum())

    def on(self, features: Ints) -> Ints:
        """The groups of some features as kernels take them; none where every entry is one."""
        if self.labels is not None:
            return np.unique(self.labels[features], return_inverse=True)[1].astype(np.intp)
        return np.arange(features.size) if self.targets > 1 else NO_LABELS

    def norms(self, columns: Floats) -> Floats:
        """For each feature a bound on ‖X_gᵀu‖/‖u‖, g its group: ‖X_g‖_F, given norms of columns."""
        return columns if self.labels is None else self._grouped(columns[None])[0]

    def sides(self, products: Floats) -> tuple[Floats, Floats]:
        """For each feature the size of its group in X̃ᵀu, and in -X̃ᵀu, for each row of products.

        Coefficients have the sign of -X̃ᵀu: of signs, only what counts is counted.
        """
        if self.positive:
            return self._sizes(np.minimum(products, 0.0)), self._sizes(np.maximum(products, 0.0))
        sizes = self._sizes(products)
        return sizes, sizes

    def _sizes(self, products: Floats) -> Floats:
        if self.targets > 1:
            products = np.linalg.norm(products.reshape(len(products), self.targets, -1), axis=1)
        if self.labels is None:
            return np.abs(products, out=products)
        return self._grouped(products)

    def picked(self, support: Sequence[int]) -> int:
        """How many groups have a feature of the support."""
        if self.labels is None:
            return len(support)
        return np.unique(self.labels[list(support)]).size

    def _grouped(self, values: Floats) -> Floats:
        """The norm of each row on the group of each feature."""
        assert self.labels is not None
        rows = [np.sqrt(np.bincount(self.labels, row * row))[self.labels] for row in values]
        return np.array(rows).reshape(values.shape)


PLAIN = Structure()
