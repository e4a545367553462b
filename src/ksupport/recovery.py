"""`recover`: a sparse vector from few measurements by an operator, with nothing to choose."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from ._common.checks import check_count, check_interval, check_switch
from ._common.progress import show_progress
from .algorithms.irksn_descent import Descent
from .design import Design, Floats, Ints, as_real, paired, unwrapped
from .stopping import Discrepancy, HeldOut
from .walking import Block, History, Result, Rule, run
from .walking.structure import Structure
from .walking.working_set import WorkingSetPath

# Of 36 combinations the one whose errors and products compare best with SPGL1's, without a failure,
# on 24 images of eight kinds (seeds 1 to 3 of `benchmarks.imaging`) and six vectors of spikes.
ALPHA = 0.95
ROWS_PER_LEVEL, RATIO = 32, 4  # the first k is a 32nd of the measurements, the next ones a quarter
FEWER = 0.8  # a smaller k is worth its products if features become fewer by a fifth
LARGEST = 100.0  # lam of the last level
EVERY = 2  # steps between residuals, which take a product
HELD_OUT = 0.1  # share of the measurements held out where the noise is not known
PATIENCE = 10  # residuals without a better prediction after which a walk ends


@dataclass(frozen=True, eq=False)
class Recovery:
    """What `recover` found.

    Attributes
    ----------
    coef : ndarray of shape (n_features,)
        The vector; complex where that was asked for.
    k : int
        The sparsity level of the norm that was chosen.
    alpha : float
        Its weight of the squared l2 norm.
    residual : float
        ``‖X coef - y‖``.
    levels : dict of arrays
        Why that k: a row for each level walked, with ``k``, ``alpha``, ``n_nonzero``, ``residual``,
        ``n_iter`` and ``n_products`` (of this level and all before);
        ``pandas.DataFrame(found.levels)`` shows it.
    n_products : int
        How often X or its adjoint was applied.
    noise : float
        The norm of the noise: the parameter, or what was found by measurements held out.
    stop_reason : {"stopped", "max_iter", "diverged", "interrupted"}
        Why the walk at this k ended.
    """

    coef: np.ndarray
    k: int
    alpha: float
    residual: float
    levels: dict[str, np.ndarray]
    n_products: int
    noise: float
    stop_reason: str


def recover(
    X: Any,
    y: ArrayLike,
    noise: float | None = None,
    *,
    complex_coef: bool = False,
    positive: bool = False,
    max_iter: int = 500,
    random_state: int = 0,
    verbose: bool = False,
) -> Recovery:
    """Find a sparse w with y = Xw + noise: compressed sensing, deblurring, spectral estimation.

    X may be an operator, of which only products with vectors are known; with the Fourier transform
    and wavelets there is no array to write down.  Paths of IRKSN are walked from large k to small,
    each from where the last one ended, as long as the models become sparser.  A path ends as soon
    as the residual is as small as the noise; of models that fit as well as the noise allows,
    the one with the fewest features is taken.  Where the noise is not known, a tenth of the
    measurements is held out first, and the noise is taken to be the residual of the model that
    predicts them best.

    Parameters
    ----------
    X : LinearOperator of SciPy or PyLops, array or sparse matrix, shape (n, d)
        The measurements.  Columns of about equal norm are best.  No intercept is fitted.
    y : array of shape (n,)
        What was measured; complex where X is.
    noise : float, optional
        The norm of the noise, ``‖y - Xw‖``: its standard deviation times √n; of complex noise,
        that of moduli.  None: not known.
    complex_coef : bool, default=False
        Whether coefficients may be complex; sparsity is then that of their moduli.
    positive : bool, default=False
        Whether coefficients must not be negative.
    max_iter : int, default=500
        Steps at most, for each k; a step takes two products, and the residual one every other step.
    random_state : int, default=0
        Chooses the measurements that are held out.
    verbose : bool, default=False
        Show progress on walks of more than two seconds.

    Returns
    -------
    Recovery

    Warns
    -----
    ConvergenceWarning
        If the residual did not reach ``noise`` within ``max_iter`` steps.

    Examples
    --------
    Sixteen frequencies of a signal with three spikes:

    >>> import numpy as np
    >>> from scipy.sparse.linalg import LinearOperator
    >>> from ksupport import recover
    >>> rng = np.random.default_rng(0)
    >>> kept = np.sort(rng.choice(64, 24, replace=False))
    >>> def back(u):
    ...     spectrum = np.zeros(64, complex)
    ...     spectrum[kept] = u.ravel()
    ...     return np.fft.ifft(spectrum, norm="ortho")
    >>> X = LinearOperator(
    ...     (24, 64),
    ...     matvec=lambda w: np.fft.fft(w.ravel(), norm="ortho")[kept],
    ...     rmatvec=back,
    ...     dtype=complex,
    ... )
    >>> w = np.zeros(64)
    >>> w[[7, 20, 51]] = 2.0, -1.0, 1.5
    >>> y = X @ w + 0.01 * rng.standard_normal(24)
    >>> found = recover(X, y, noise=0.05)
    >>> np.flatnonzero(found.coef)
    array([ 7, 20, 51])
    """
    for name, value in (("complex_coef", complex_coef), ("positive", positive)):
        check_switch(name, value)
    if complex_coef and positive:
        raise ValueError("positive=True is for real coefficients: give complex_coef=False")
    check_count("max_iter", max_iter)
    if noise is not None:
        check_interval("noise", noise, low=0, high=np.inf, open_low=True, open_high=True)
    problem = _Problem(X, y, complex_coef, positive, max_iter)
    with show_progress("recover", verbose) if verbose else nullcontext():
        if noise is None:
            noise = problem.noise(np.random.default_rng(random_state))
        return problem.sparsest(float(noise))


class _Counted(LinearOperator):
    """An operator that counts its products."""

    def __init__(self, X: LinearOperator) -> None:
        super().__init__(X.dtype, X.shape)
        self.X, self.count = X, 0

    def _matvec(self, w: Floats) -> Floats:
        self.count += 1
        return np.ravel(self.X.matvec(np.ravel(w)))

    def _rmatvec(self, u: Floats) -> Floats:
        self.count += 1
        return np.ravel(self.X.rmatvec(np.ravel(u)))


class _Rows(LinearOperator):
    """Some rows of an operator."""

    def __init__(self, X: LinearOperator, rows: Ints) -> None:
        super().__init__(X.dtype, (rows.size, X.shape[1]))
        self.X, self.rows = X, rows

    def _matvec(self, w: Floats) -> Floats:
        return np.asarray(self.X.matvec(np.ravel(w))[self.rows])

    def _rmatvec(self, u: Floats) -> Floats:
        filled = np.zeros(self.X.shape[0])
        filled[self.rows] = np.ravel(u)
        return np.asarray(self.X.rmatvec(filled))


class _Problem:
    """The data as real numbers, and the walks on them."""

    def __init__(
        self, X: Any, y: ArrayLike, complex_coef: bool, positive: bool, max_iter: int
    ) -> None:
        given = aslinearoperator(unwrapped(X))
        self.d, self.complex = given.shape[1], complex_coef
        measured = np.asarray(y)
        if measured.shape != given.shape[:1]:
            raise ValueError(
                f"y must have {given.shape[0]} entries to match X, got shape {measured.shape}"
            )
        if not np.isfinite(measured).all():
            raise ValueError("y must be finite, got NaN or infinity")
        # Products of a complex operator are counted once, whichever parts are used.
        self.counted = _Counted(given)
        if complex_coef:
            self.X, self.y = paired(self.counted), np.concatenate([measured.real, measured.imag])
        else:
            self.X, self.y = as_real(self.counted, measured)
        self.y = np.asarray(self.y, np.float64)
        self.n_measured = given.shape[0]
        labels = np.tile(np.arange(self.d), 2) if complex_coef else None
        self.structure = Structure(labels, positive)
        self.max_iter = max_iter

    def levels(self) -> Iterator[tuple[int, float]]:
        """k and alpha of norms that want fewer and fewer features.

        Where features are many, R(w) hardly depends on k and lam = (1 - alpha)/alpha but by k/lam.
        """
        k, lam = min(max(self.n_measured // ROWS_PER_LEVEL, 1), self.d), (1 - ALPHA) / ALPHA
        while lam < LARGEST:
            yield k, 1 / (1 + lam)
            k, lam = (k // RATIO, lam) if k >= RATIO else (1, lam * RATIO / k)

    def sparsest(self, noise: float) -> Recovery:
        """The sparsest of the models that fit as well as the noise allows."""
        design = Design.of(self.X)
        rows: list[tuple[int, float, int, float, int, int]] = []
        best: tuple[int, int, float, Result] | None = None  # size, k, alpha and what came of it
        before: Descent | None = None
        for k, alpha in self.levels():
            state = Descent(self.y, k, alpha, self.structure)
            path = WorkingSetPath(design, state)
            if before is not None:
                state.resume(before)
            result = self._walk(path, _Noise(noise, first=not rows))
            reached = result.reason == "stopped"
            if rows and not reached:
                break
            size = int(np.count_nonzero(self._numbers(result.coef)))
            rows.append((k, alpha, size, _residual(result), result.n_iter, self.counted.count))
            worth = best is None or size < FEWER * best[0]
            if best is None or size < best[0]:
                best = size, k, alpha, result
            if not (worth and reached and size):
                break
            before = state
        assert best is not None
        _, k, alpha, result = best
        names = "k", "alpha", "n_nonzero", "residual", "n_iter", "n_products"
        return Recovery(
            self._numbers(result.coef), k, alpha, _residual(result),
            dict(zip(names, map(np.array, zip(*rows, strict=True)), strict=True)),
            self.counted.count, noise, result.reason,
        )  # fmt: skip

    def noise(self, chance: np.random.Generator) -> float:
        """The residual, for all rows, of the model that predicts best what is held out."""
        n = self.n_measured
        out = chance.permutation(n)[: max(round(HELD_OUT * n), 1)]
        if out.size == n:
            raise ValueError(f"y has {n} measurements, too few to hold one out: give noise")
        out = np.concatenate([out, out + n]) if self.y.size > n else out
        kept = np.setdiff1d(np.arange(self.y.size), out)
        design, found = Design.of(_Rows(self.X, kept)), []

        def validation(block: Block) -> Any:
            fitted = [self.X.matvec(w)[out] for w in block.dense(self.X.shape[1])]
            return np.mean((np.array(fitted) - self.y[out]) ** 2, axis=1)

        for k, alpha in self.levels():
            path = WorkingSetPath(design, Descent(self.y[kept], k, alpha, self.structure))
            result = self._walk(path, HeldOut(patience=PATIENCE), validation=validation)
            found.append((float(result.history["validation"][_kept(result)]), _residual(result)))
            if found[-1] != min(found):
                break
        return min(found)[1] * math.sqrt(self.y.size / kept.size)

    def _walk(self, path: WorkingSetPath, rule: Rule, **metrics: Any) -> Result:
        (result,) = run(
            [path], max_iter=path.t + self.max_iter, every=EVERY, stopping=rule, keep="last",
            metrics={path: metrics}, interruptible=True,
        )  # fmt: skip
        return result

    def _numbers(self, coef: Floats) -> np.ndarray:
        return coef[: self.d] + 1j * coef[self.d :] if self.complex else coef


@dataclass(frozen=True)
class _Noise(Discrepancy):
    """Warns at the first level alone: after it, a model that reaches the noise is known."""

    first: bool = True

    def unmet(self, history: History) -> str:
        if not self.first:
            return ""
        return (
            f"the residual did not reach the noise {self.delta:.3g}: after "
            f"{int(history['t'][-1])} steps it is {float(history['residual'][-1]):.3g}; increase "
            "max_iter, check X and noise, or let coefficients be complex, if they are"
        )


def _residual(result: Result) -> float:
    return float(result.history["residual"][_kept(result)])


def _kept(result: Result) -> int:
    """The record of the model."""
    return int(np.flatnonzero(result.history["t"] == result.n_iter)[0])
