"""Columns that are always in the model: fitted within each set of rows, and projected off.

By the theorem of Frisch, Waugh and Lovell, least squares on two sets of columns is least squares on
the residuals of the one, when the other is projected off both them and y.  An intercept is
the constant column, and centring its projection; here are all other columns of that kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import limits
from .._common.names import listed
from .._common.phases import phase
from .passes import Asked, get_to_know, lifted_together
from .projection import DEPENDENT, Basis, Projection
from .spectra import unusable
from .stores import Floats, Ints
from .view import Design

NEAR = 1e-4  # share of ‖x‖² below which differences of squares have lost digits that matter
DUST = 1e-11  # share of ‖y‖ that rounding may leave where unpenalised columns explain all of it


@dataclass(frozen=True)
class Unpenalized:
    """Which columns are always in the model, by their numbers in X; and some that X has not."""

    index: Ints
    names: tuple[str, ...]  # of those in X, then of the others
    extra: Floats | None = None  # n x q: the levels of categories

    @property
    def count(self) -> int:
        return len(self.names)


@dataclass(frozen=True)
class Adjustment:
    """The unpenalised columns on some rows: a basis of them, and the projection of Y on it."""

    basis: Basis
    share: Floats  # coefficients of Y in the basis: a column for each target

    def coefficients(self, view: Design, coef: Floats) -> Floats:
        """Return those of unpenalised columns (q, or targets x q), given the coefficients of X."""
        assert view.off is not None
        rest = self.share - view.off.share @ np.atleast_2d(coef).T
        found = (self.basis.transform @ rest).T
        return found if coef.ndim == 2 else found[0]


class Adjusting:
    """The unpenalised columns of a problem, to be projected off on any set of rows."""

    def __init__(self, raw: Design, columns: Unpenalized, center: bool) -> None:
        self.columns, self.center = columns, center  # whether there is an intercept beside them
        # Columns E that X lacks.
        self.extra = np.empty((raw.n, 0)) if columns.extra is None else columns.extra
        self.U: Floats = np.hstack([raw.store.columns(columns.index), self.extra])

    def fit(self, Y: Floats, rows: Ints, weights: Floats | None) -> tuple[Adjustment, Floats]:
        """Return the basis on these rows, and the residuals of their centred Y."""
        basis, _ = Basis.of(self.U[rows], weights, self.center)
        Z = basis.rows(self.U[rows])
        share = Z.T @ (Y if weights is None else Y * weights[:, None])
        residuals = Y - Z @ share
        explained = np.linalg.norm(residuals, axis=0) <= DUST * np.linalg.norm(Y, axis=0)
        residuals[:, explained] = 0.0
        return Adjustment(basis, share), residuals

    def check(self, sets: Sequence[Ints], weights: Floats | None) -> None:
        """Reject columns that cannot all be in a model; the first set is that of all rows."""
        names, intercept = self.columns.names, " and the intercept" if self.center else ""
        fewest = min(len(rows) for rows in sets)
        if self.columns.count + self.center >= fewest:
            where = "" if fewest == len(sets[0]) else " of a fold"
            raise ValueError(
                f"unpenalized: {self.columns.count} columns{intercept} leave nothing to explain "
                f"of n_samples={fewest} rows{where}; adjust for fewer columns, or use more rows"
            )
        U = self.U[sets[0]]
        if not np.isfinite(U).all():
            bad = names[int(np.flatnonzero(~np.isfinite(U).all(axis=0))[0])]
            raise ValueError(
                f"unpenalized: column {bad!r} contains NaN or infinity; remove or impute such "
                "entries"
            )
        largest = np.abs(U).max(axis=0)
        if (
            odd := (largest > limits.LARGEST) | ((largest < limits.SMALLEST) & (largest > 0))
        ).any():
            at = int(np.argmax(odd))
            raise ValueError(
                f"unpenalized: the largest entry of column {names[at]!r} has size "
                f"{largest[at]:.3g}, which must lie between {limits.SMALLEST:g} and "
                f"{limits.LARGEST:g} to be squared; rescale it"
            )
        flat = np.ptp(U, axis=0) == 0 if self.center else ~U.any(axis=0)
        if flat.any():
            kind = "constant, as the intercept is" if self.center else "zero"
            raise ValueError(
                f"unpenalized: column {names[int(np.argmax(flat))]!r} is {kind}; leave it out"
            )
        self._check_rank(U, weights)

    def _check_rank(self, U: Floats, weights: Floats | None) -> None:
        """Reject a column that is a linear combination of others, and name these."""
        basis, dependent = Basis.of(U, weights, self.center)
        if dependent.size:
            at, names = int(dependent[0]), self.columns.names
            centered = U - basis.mean
            weighted = centered[:, at] if weights is None else centered[:, at] * weights
            coef = basis.transform @ (basis.rows(U).T @ weighted)
            contributions = np.abs(coef) * np.linalg.norm(centered, axis=0)
            others = [names[j] for j in np.flatnonzero(contributions > 1e-6 * contributions.max())]
            raise ValueError(
                f"unpenalized: column {names[at]!r} is a linear combination of {listed(others)}"
                f"{' and a constant' if self.center else ''}; remove one of these columns"
            )

    def projected(
        self,
        views: Sequence[Design],
        adjustment: Sequence[Adjustment],
        standardize: bool,
        asked: Asked = None,
    ) -> list[Design]:
        """Return weighted rows of X, centred if there is an intercept, projected and scaled."""
        store = views[0].store
        bases = [each.basis.rows(self.U) for each in adjustment]
        wanted = lifted_together(views, asked)
        with phase("adjusting X", one_pass=True), np.errstate(over="ignore", invalid="ignore"):
            weights = [view.row_weights for view in views]
            lifted = [w[:, None] * Z for w, Z in zip(weights, bases, strict=True)]
            moments, products = store.moments_and_products(weights, np.hstack(lifted + wanted))
        ends = np.cumsum([Z.shape[1] for Z in bases])
        shares = np.vsplit(products.T[: ends[-1]], ends[:-1])
        if self.center:
            shares = [
                share - np.outer(V.sum(axis=0), mean)
                for share, V, (mean, _) in zip(shares, lifted, moments, strict=True)
            ]
        parts = zip(views, adjustment, shares, moments, strict=True)
        adjusted = [
            self.adjusted(view, each, share, *moment, standardize)
            for view, each, share, moment in parts
        ]
        if wanted:
            get_to_know(adjusted, asked, wanted, products[:, ends[-1] :])
        return adjusted

    def adjusted(
        self,
        view: Design,
        adjustment: Adjustment,
        share: Floats,
        mean: Floats,
        variance: Floats,
        standardize: bool,
    ) -> Design:
        """Return weighted rows of X as `projected` does, given their products with the basis."""
        view = view.centred_by(mean, None)
        if not np.isfinite(variance).all():
            raise unusable(view, "infinite")
        off = Projection(adjustment.basis.rows(self.U), np.ascontiguousarray(share))
        view = (view if self.center else view.uncentred()).projected(off)
        before = view.n_samples * (variance if self.center else variance + mean**2)
        after = np.maximum(before - (share**2).sum(axis=0), 0.0)
        unsure = after < NEAR * before
        unsure[self.columns.index] = False
        after[unsure] = squares_of(view, np.flatnonzero(unsure))
        rounding = 10 * (float(np.finfo(view.dtype).eps) if view.dtype.kind == "f" else limits.EPS)
        floor = view.n_samples * (rounding * mean) ** 2
        nothing = (after <= floor) | (after <= max(DEPENDENT, rounding) ** 2 * before)
        nothing[self.columns.index] = True
        scale = self._deviations(view, mean, after, floor) if standardize else np.ones(view.d)
        scale[nothing] = np.inf
        return view.scaled_by(scale, np.sqrt(after) / scale)

    def _deviations(self, view: Design, mean: Floats, squares: Floats, floor: Floats) -> Floats:
        """Return standard deviations of the projected columns; 1 for constant ones."""
        assert view.off is not None
        middle: Any = 0.0  # of what is left: an intercept takes it off
        if not self.center:
            middle = mean - (view.row_weights / view.n_samples) @ view.off.basis @ view.off.share
        variance = squares / view.n_samples - middle**2
        return np.where(variance > floor / view.n_samples, np.sqrt(np.abs(variance)), 1.0)

    # -- the same from sums of squares of [X E Y], where X lacks the columns E -----------------

    def _places(self, d: int) -> Ints:
        return np.append(self.columns.index, d + np.arange(self.extra.shape[1]))

    def extra_mean(self, adjustment: Adjustment) -> Floats:
        """Return the means of E on the rows of a basis."""
        return adjustment.basis.mean[self.columns.index.size :]

    def share_of(self, upper: Floats, d: int, adjustment: Adjustment) -> Floats:
        """Return coefficients of X, E and Y in the basis, from sums of squares about means."""
        places = self._places(d)
        crossed = upper[places] + upper[:, places].T
        crossed[np.arange(places.size), places] /= 2
        return np.asarray(adjustment.basis.transform.T @ crossed)

    def off_gram(self, upper: Floats, view: Design, adjustment: Adjustment) -> Floats:
        """Return [X Y]ᵀ[X Y] after projections learned on these rows or others; E is dropped.

        With the basis Z and coefficients B of [X Y] it is G - GᵤᵀB - BᵀGᵤ + Bᵀ(ZᵀZ)B, Gᵤ = Zᵀ[X Y].
        """
        assert view.off is not None
        d, e = view.d, self.extra.shape[1]
        kept = np.r_[:d, d + e : len(upper)]
        B = np.hstack([view.off.share, adjustment.share])
        crossed = self.share_of(upper, d, adjustment)
        square = crossed[:, self._places(d)] @ adjustment.basis.transform  # ZᵀZ
        taken = crossed[:, kept].T @ B
        gram = upper[np.ix_(kept, kept)] - taken - taken.T + B.T @ square @ B
        negative = np.diag(gram) < 0  # by rounding
        gram[negative] = gram[:, negative] = 0.0
        return np.asfortranarray(gram)


def squares_of(view: Design, index: Ints) -> Floats:
    """Compute ‖x̃_j‖² of some columns; in a pass over X if they are many."""
    if 4 * index.size > view.d:
        return np.square(view.store.column_norms(view)[index])
    width = max(1, limits.CHUNK // view.store.shape[0])
    parts = (index[at : at + width] for at in range(0, index.size, width))
    found = [np.square(view.columns(part)).sum(axis=1) for part in parts]
    return np.concatenate([np.zeros(0), *found])
