"""Which method suits a design, and how many samples it needs: simulate sparse vectors on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._common.checks import check_count
from .._common.levels import check_k
from .._common.phases import phase
from .._common.render import Table, as_html, as_text, plain
from ..design import Design, Floats, Ints
from ._support import TIE_RTOL, Support, as_design, as_vector, largest_outside
from .isometry import IHT_RIP, refutes_iht
from .l1 import omp_at
from .table1 import METHODS

ENOUGH = 0.9  # a condition that holds this often is called reliable
COEFFICIENTS: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "gaussian": lambda rng, k: rng.standard_normal(k),
    "equal": lambda rng, k: rng.choice([-1.0, 1.0], k),
}


@dataclass(frozen=True)
class Recommendation:
    """How often each method's sufficient condition holds, as returned by :func:`recommend`.

    Attributes
    ----------
    words : tuple of str
        The advice, in sentences.
    k : int
        The support size asked about.
    ks, sample_sizes : tuple of int
        The axes of the phase diagram.
    rates : dict of str to ndarray of shape (len(sample_sizes), len(ks))
        For each method of Table 1, the share of draws whose condition holds; NaN if unknown.
    best : str or None
        The method whose condition holds most often at k with every sample.
    samples_needed : dict of str to int or None
        For each method, the fewest samples tried at which its condition holds in 90 % of draws
        of size k, and at every larger number tried; None if there is no such number.
    n_draws : int
        Vectors drawn for each cell.
    """

    words: tuple[str, ...]
    k: int
    ks: tuple[int, ...]
    sample_sizes: tuple[int, ...]
    rates: dict[str, Floats] = field(repr=False, compare=False)
    best: str | None
    samples_needed: dict[str, int | None]
    n_draws: int

    def __str__(self) -> str:
        return as_text("Which method, how many samples", self.words, self._tables())

    def _repr_html_(self) -> str:
        return as_html("Which method, how many samples", self.words, self._tables())

    def to_dict(self) -> dict[str, Any]:
        """Plain data, fit for JSON; None where a rate is unknown."""
        return plain({name: getattr(self, name) for name in self.__dataclass_fields__})

    def _tables(self) -> list[Table]:
        growing = Table(
            f"Share of draws whose condition holds, {self.sample_sizes[-1]} samples",
            ("method", *(f"k={k}" for k in self.ks)),
            [(m, *map(_percent, self.rates[m][-1])) for m in METHODS],
        )
        column = self.ks.index(self.k)
        samples = Table(
            f"Share of draws recovered for k={self.k}, fewer samples",
            ("method", *(f"n={n}" for n in self.sample_sizes)),
            [(m, *map(_percent, self.rates[m][:, column])) for m in METHODS],
        )
        return [growing, samples]


def recommend(
    X: Any,
    k: int,
    *,
    ks: Sequence[int] | None = None,
    sample_sizes: Sequence[int] | None = None,
    n_draws: int = 40,
    coefficients: str | Callable[[np.random.Generator, int], Floats] = "gaussian",
    support: str = "scattered",
    random_state: int | np.random.Generator | None = None,
) -> Recommendation:
    """Advise on method and sample size, by checking the conditions on simulated vectors.

    Parameters
    ----------
    X : array, sparse matrix or LinearOperator of shape (n_samples, n_features)
        The design, centred and scaled as the methods will see it.
    k : int
        The support size of interest.
    ks : sequence of int, optional
        Support sizes to try; by default powers of two up to k, k, and 2k.
    sample_sizes : sequence of int, optional
        Numbers of samples to try; by default a quarter, a half, three quarters, and all. The
        samples are one random subset, each size containing the smaller ones.
    n_draws : int
        Vectors drawn for each pair of sizes.
    coefficients : {"gaussian", "equal"} or callable
        How nonzero entries are drawn: normal, random signs, or ``f(rng, k)``.
    support : {"scattered", "grouped"}
        Uniformly drawn features, or a random feature with those most correlated with it.
    random_state : int, Generator or None
        Seed of the simulation.

    Returns
    -------
    Recommendation

    Notes
    -----
    Conditions are the closed forms of Table 1: Assumption 2 for IRKSN, Assumption 3 for Lasso and
    IRCR, the exact recovery condition for OMP and SRDI. Restricted isometry (IHT, IROSR) is a
    property of X alone that can only be refuted at this cost: 0 if refuted, unknown otherwise.
    Where the columns of a support are dependent, the drawn vector is replaced by the smallest one
    with equal predictions, as Assumption 1 requires.

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport.theory import recommend
    >>> X = np.random.default_rng(0).standard_normal((60, 80))
    >>> advice = recommend(X, 2, n_draws=20, coefficients="equal", random_state=0)
    >>> advice.sample_sizes, advice.ks
    ((15, 30, 45, 60), (1, 2, 4))
    >>> float(advice.rates["IRKSN"][-1, 0])
    1.0
    """
    X = as_design(X)
    n, d = X.shape
    check_k(k, d)
    quarters = [max(n * part // 4, 1) for part in (1, 2, 3, 4)]
    sizes_k = _sizes("ks", _default_ks(k, d) if ks is None else ks, d, k)
    sizes_n = _sizes("sample_sizes", quarters if sample_sizes is None else sample_sizes, n, n)
    draw = _coefficient_law(coefficients)
    if support not in ("scattered", "grouped"):
        raise ValueError(f"support must be 'scattered' or 'grouped', got {support!r}")
    check_count("n_draws", n_draws)
    rng = _generator(random_state)
    order = rng.permutation(n)
    rates = {m: np.full((len(sizes_n), len(sizes_k)), np.nan) for m in METHODS}
    with phase("simulating models", len(sizes_n) * len(sizes_k)) as update:
        for row, m in enumerate(sizes_n):
            X_m = X if m == n else X.take(np.sort(order[:m]))
            for column, size in enumerate(sizes_k):
                supports = _draw_supports(X_m, size, n_draws, support == "grouped", rng)
                w_S = [draw(rng, size) for _ in supports]
                for method, rate in _cell(X_m, supports, w_S).items():
                    rates[method][row, column] = rate
                update(row * len(sizes_k) + column + 1)
    needed = {m: _samples_needed(rates[m][:, sizes_k.index(k)], sizes_n) for m in METHODS}
    at_k = {m: float(rates[m][-1, sizes_k.index(k)]) for m in METHODS}
    best = max(METHODS, key=lambda m: np.nan_to_num(at_k[m], nan=-1.0))  # ties: Table order
    best_or_none = best if at_k[best] > 0 else None
    return Recommendation(
        words=_advice(k, sizes_n[-1], at_k, best_or_none, needed),
        k=int(k),
        ks=sizes_k,
        sample_sizes=sizes_n,
        rates=rates,
        best=best_or_none,
        samples_needed=needed,
        n_draws=n_draws,
    )


def _cell(X: Design, supports: list[Ints], w: list[Floats]) -> dict[str, float]:
    """Return, per method, the share of draws of one (n, k) whose closed-form condition holds."""
    factored = [Support.of(X, S) for S in supports]
    D = len(factored)
    w = [f.row_projection(w_S) for f, w_S in zip(factored, w, strict=True)]  # Assumption 1
    # Both certificates of every draw in one product with Xᵀ.
    duals = [f.dual(w_S) for f, w_S in zip(factored, w, strict=True)]
    duals += [f.dual(np.sign(w_S)) for f, w_S in zip(factored, w, strict=True)]
    C = X.rmatmat(np.stack(duals, axis=1))
    irksn, l1, erc = np.zeros(D, bool), np.zeros(D, bool), np.zeros(D, bool)
    for i, (f, w_S) in enumerate(zip(factored, w, strict=True)):
        irksn[i] = largest_outside(C[:, i], f.S) < np.abs(w_S).min() * (1 - TIE_RTOL)
        l1[i] = f.injective and largest_outside(C[:, D + i], f.S) < 1 - TIE_RTOL
        # ‖X_S† x‖₁ is the largest ⟨X_S† x, s⟩ over signs s: it cannot hold where l1 fails.
        erc[i] = l1[i] and omp_at(X, f).holds
    k = factored[0].k
    rates = {"IRKSN": irksn.mean(), "Lasso": l1.mean(), "OMP": erc.mean()}
    rates |= {"IRCR": rates["Lasso"], "SRDI": rates["OMP"]}
    flat = np.zeros(X.shape[1])  # no ranking of the other features: the first ones are taken
    if any(refutes_iht(X, f.S, flat) >= IHT_RIP for f in factored[:8]):
        rates["IHT"] = 0.0
    if k + 1 > X.shape[0]:
        rates["IROSR"] = 0.0
    return {method: float(rate) for method, rate in rates.items()}


def _draw_supports(
    X: Design, k: int, n_draws: int, grouped: bool, rng: np.random.Generator
) -> list[Ints]:
    d = X.shape[1]
    if not grouped:
        return [np.sort(rng.choice(d, k, replace=False)) for _ in range(n_draws)]
    norms = X.column_norms
    safe = np.where(norms > 0, norms, np.inf)
    seeds = rng.integers(d, size=n_draws)
    cosines = np.abs(X.rmatmat(X.columns(seeds).T)) / safe[:, None]
    cosines[seeds, np.arange(n_draws)] = np.inf
    return [np.sort(np.argsort(-cosines[:, i], kind="stable")[:k]) for i in range(n_draws)]


def _coefficient_law(
    coefficients: str | Callable[[np.random.Generator, int], Floats],
) -> Callable[[np.random.Generator, int], Floats]:
    if callable(coefficients):
        law = coefficients
        return lambda rng, k: as_vector("coefficients(rng, k)", law(rng, k), k, "feature drawn")
    if not isinstance(coefficients, str) or coefficients not in COEFFICIENTS:
        raise ValueError(
            f"coefficients must be one of {sorted(COEFFICIENTS)} or a callable f(rng, k), "
            f"got {coefficients!r}"
        )
    return COEFFICIENTS[coefficients]


def _generator(random_state: Any) -> np.random.Generator:
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"random_state must be an integer of at least 0, a Generator or None, got "
            f"{random_state!r}"
        ) from error


def _default_ks(k: int, d: int) -> list[int]:
    powers = [2**i for i in range(int(k).bit_length())]
    return [*powers, k, *([2 * k] if 2 * k <= d else [])]


def _sizes(name: str, values: Sequence[int], most: int, must_have: int) -> tuple[int, ...]:
    """Return sorted distinct sizes within limits, including the one asked about."""
    if np.ndim(values) != 1:
        raise ValueError(f"{name} must be a sequence of integers, got {values!r}")
    sizes = {check_count(f"every one of {name}", size, high=most) for size in values}
    return tuple(sorted({*sizes, int(must_have)}))


def _samples_needed(rates: Floats, sizes: tuple[int, ...]) -> int | None:
    needed = None
    for rate, n in zip(rates[::-1], sizes[::-1], strict=True):
        if not rate >= ENOUGH:
            break
        needed = n
    return needed


def _advice(
    k: int,
    n: int,
    at_k: dict[str, float],
    best: str | None,
    needed: dict[str, int | None],
) -> tuple[str, ...]:
    """Return the best methods at k and the samples they need, in sentences."""
    caveat = (
        "Conditions are sufficient, not necessary: a method may do well where its own fails, "
        "and some methods have none that can be checked."
    )
    if best is None:
        return (
            f"With {n} samples no condition held for any simulated vector with k={k}: no "
            "method is guaranteed. Collect more samples, ask for a smaller k, or choose by "
            "cross-validation and treat the selected features with caution.",
            caveat,
        )
    tied = [m for m in METHODS if at_k[m] == at_k[best]]
    which = "condition that holds most often is that"
    if len(tied) > 1:
        which = "conditions that hold most often are those"
    first = (
        f"For k={k} with {n} samples, the {which} of {', '.join(tied)}: in "
        f"{_percent(at_k[best])} of the simulated vectors."
    )
    reliable_at = {m: size for m, size in needed.items() if size is not None}
    if reliable_at:
        fewest = min(reliable_at.values())
        methods = ", ".join(m for m, size in reliable_at.items() if size == fewest)
        second = f"{fewest} samples make it reliable (at least 90 %) for {methods}."
    else:
        second = f"No condition is reliable (at least 90 %) at {n} samples or fewer."
    return (first, second, caveat)


def _percent(rate: float) -> str:
    return "-" if np.isnan(rate) else f"{rate:.0%}"
