"""Which k to run IRKSN with, for a sparse vector to be its limit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._common.levels import check_k
from .._common.phases import phase
from .._common.render import Table, as_html, as_text, number, plain
from ..design import Design, Floats
from ._support import Support, at_vector
from .irksn import IRKSNCondition, irksn_at

SHARE = 0.9  # of the range of alpha, where bounds are compared


@dataclass(frozen=True)
class RecommendedK:
    """For which k and alpha a vector is the limit of IRKSN, as returned by :func:`recommend_k`.

    Attributes
    ----------
    k : int or None
        The k with the least error bound; None if no k has one.
    alpha : float or None
        The alpha that it is for, nine tenths of the way from the lower to the upper end of its
        range.
    size : int
        The size of the support.
    ks : tuple of int
        The k that were tried.
    alphas : tuple of (float, float)
        For each of them the range of alpha for which w is the limit; (0, 0) if there is none.
    bounds : tuple of float
        For each of them, at its alpha, ``dual_norm / alpha``: `ErrorBound.best` is proportional to
        the root of that times the noise. Infinite where w is not the limit.
    conditions : tuple of IRKSNCondition
        The condition for each of them.
    words : tuple of str
        The advice, in sentences.
    """

    k: int | None
    alpha: float | None
    size: int
    ks: tuple[int, ...]
    alphas: tuple[tuple[float, float], ...]
    bounds: tuple[float, ...]
    conditions: tuple[IRKSNCondition, ...] = field(repr=False)
    words: tuple[str, ...]

    def at(self, alpha: float) -> tuple[int, ...]:
        """The k of those tried for which w is the limit with this alpha."""
        ranges = zip(self.ks, self.alphas, strict=True)
        return tuple(k for k, (low, high) in ranges if low < alpha < high)

    def __str__(self) -> str:
        return as_text("Which k", self.words, self._tables())

    def _repr_html_(self) -> str:
        return as_html("Which k", self.words, self._tables())

    def to_dict(self) -> dict[str, Any]:
        """Plain data, fit for JSON."""
        names = [name for name in self.__dataclass_fields__ if name != "conditions"]
        return plain({name: getattr(self, name) for name in names})

    def _tables(self) -> list[Table]:
        rows = [
            (str(each.k), "yes" if each.recovers else "no" if each.source.decided else "undecided",
             number(each.alpha_low), number(each.alpha_sharp), number(bound))
            for each, bound in zip(self.conditions, self.bounds, strict=True)
        ]  # fmt: skip
        head = ("k", "w is the limit", "alpha above", "and below", "bound")
        return [Table("Limit of IRKSN", head, rows)]


def recommend_k(X: Any, w: Any, *, ks: Sequence[int] | None = None) -> RecommendedK:
    """Find the k and alpha for which IRKSN converges to a sparse vector on noise-free data.

    The k of the norm need not be the size of the support: often a smaller one recovers more, and
    has the smaller error with noise.

    Parameters
    ----------
    X : array, sparse matrix or LinearOperator of shape (n_samples, n_features)
        The design, as the method sees it (centred and scaled if the method does that).
    w : array of shape (n_features,)
        The sparse vector; an estimate stands for the truth.
    ks : sequence of int, optional
        The k to try; by default every one up to the size of the support, at most about thirty
        of them, and one above.

    Returns
    -------
    RecommendedK

    Notes
    -----
    Of the k for which IRKSN converges to w, the one with the smallest bound on the error with noise
    is returned (Theorem 1 with the certificate of this k).  A smaller k allows a larger alpha, for
    which errors are smaller, and needs a larger certificate, for which they are not.  Ranges
    of alpha come from linear programmes, see `irksn_condition`; they are equal for all k above the
    size of the support.

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport.theory import recommend_k
    >>> X = np.array([[1.0, 0.0, 0.8], [0.0, 1.0, 0.4]])
    >>> advice = recommend_k(X, [2.0, 1.0, 0.0])
    >>> advice.k, advice.at(0.1), [round(high, 3) for _, high in advice.alphas]
    (None, (), [0.0, 0.0, 0.0])
    >>> advice = recommend_k(X, [2.0, -1.0, 0.0])
    >>> advice.k, advice.at(0.1), [round(high, 3) for _, high in advice.alphas]
    (1, (1,), [0.6, 0.0, 0.0])
    """
    X, w, support = at_vector(X, w)
    n_features = X.shape[1]
    wanted = _default_ks(support.k, n_features) if ks is None else ks
    tried = tuple(sorted({check_k(k, n_features, "every one of ks") for k in wanted}))
    if not tried:
        raise ValueError("ks must hold at least one k, got none")
    conditions, bounds = [], []
    with phase("checking each k", len(tried)) as update:
        for done, k in enumerate(tried, start=1):
            conditions.append(irksn_at(X, support, w, None, k=k))
            bounds.append(_bound(X, support, w, conditions[-1]))
            update(done)
    best = min(range(len(tried)), key=bounds.__getitem__)
    found = conditions[best].recovers
    return RecommendedK(
        k=tried[best] if found else None,
        alpha=_inside(conditions[best]) if found else None,
        size=support.k,
        ks=tried,
        alphas=tuple((each.alpha_low, each.alpha_sharp) for each in conditions),
        bounds=tuple(bounds),
        conditions=tuple(conditions),
        words=_verdict(conditions[best], conditions),
    )


def _inside(condition: IRKSNCondition) -> float:
    """Return a large alpha inside the range: the error bound decreases with alpha."""
    return condition.alpha_low + SHARE * (condition.alpha_sharp - condition.alpha_low)


def _bound(X: Design, support: Support, w: Floats, condition: IRKSNCondition) -> float:
    """Compute ‖λ‖/alpha at a large alpha inside the range; infinite if there is none."""
    if not condition.recovers:
        return math.inf
    alpha, source = _inside(condition), condition.source
    if condition.k < condition.size:  # the certificate depends on alpha
        source = irksn_at(X, support, w, None, k=condition.k, alpha=alpha).source
    if source.certificate is None:
        return math.inf
    return float(np.linalg.norm(source.certificate)) / alpha


def _default_ks(size: int, d: int) -> list[int]:
    return [*range(1, size, max(1, size // 30)), size, *([size + 1] if size < d else [])]


def _verdict(best: IRKSNCondition, conditions: Sequence[IRKSNCondition]) -> tuple[str, ...]:
    """Return the sentences about the best k and the others."""
    if not best.recovers:
        undecided = [str(each.k) for each in conditions if not each.source.decided]
        return (
            f"IRKSN converges to this vector ({best.size} features) for no k that was tried"
            + (f"; undecided: {', '.join(undecided)}." if undecided else "."),
        )
    low, high = best.alpha_low, best.alpha_sharp
    others = ", ".join(str(each.k) for each in conditions if each.recovers and each.k != best.k)
    between = f"between {low:.3g} and {high:.3g}" if low > 0 else f"below {high:.3g}"
    return (
        f"With k={best.k} and any alpha {between}, on noise-free data IRKSN converges to this "
        f"vector ({best.size} features); with noise its error bound is the least of those tried.",
        f"With k={others} IRKSN also converges to it, each for its own range of alpha."
        if others
        else "IRKSN converges to it for no other k that was tried.",
    )
