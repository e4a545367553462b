"""The methods that IRKSN is compared with, one path each; the methods describe their parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ..design import NormKind
from .checks import with_parameters
from .paths import PathRegressor


@with_parameters
class KSN(PathRegressor):
    """Least squares with a squared k-support norm penalty [1]_, by FISTA.

    References
    ----------
    .. [1] A. Argyriou, R. Foygel, N. Srebro, "Sparse prediction with the k-support norm", NIPS
       2012.

    Examples
    --------
    >>> from ksupport import KSN
    >>> from ksupport.datasets import make_correlated_data
    >>> X, y, w = make_correlated_data(60, 20, rho=0.2, density=0.1, snr=20, random_state=0)
    >>> model = KSN(k=4).fit(X, y)
    >>> round(model.score(X, y), 2) > 0.9
    True
    """

    _method_name = "ksn"

    k: int | None = None
    lam: float | Sequence[float] = 1.0
    L: float | Literal["backtracking"] | None = None
    norm: NormKind = "spectral"
    steps_per_lam: int = 100


@with_parameters
class IRCR(PathRegressor):
    """Iterative regularisation towards the least l1 norm, dual-primal [1]_.

    References
    ----------
    .. [1] C. Molinari, M. Massias, L. Rosasco, S. Villa, "Iterative regularization for convex
       regularizers", AISTATS 2021.

    Examples
    --------
    >>> from ksupport import IRCR
    >>> from ksupport.datasets import make_correlated_data
    >>> X, y, w = make_correlated_data(60, 20, rho=0.2, density=0.1, snr=20, random_state=0)
    >>> model = IRCR(average=False).fit(X, y)
    >>> round(model.score(X, y), 2) > 0.9
    True
    """

    _method_name = "ircr"

    sigma: float | None = None
    tau: float | None = None
    average: bool = True
    norm: NormKind = "spectral"


@with_parameters
class IROSR(PathRegressor):
    """Gradient descent on w = u² - v², implicitly sparse [1]_.

    References
    ----------
    .. [1] T. Vaskevicius, V. Kanade, P. Rebeschini, "Implicit regularization for optimal sparse
       recovery", NeurIPS 2019.

    Examples
    --------
    >>> from ksupport import IROSR
    >>> from ksupport.datasets import make_correlated_data
    >>> X, y, w = make_correlated_data(60, 20, rho=0.2, density=0.1, snr=20, random_state=0)
    >>> model = IROSR().fit(X, y)
    >>> round(model.score(X, y), 2) > 0.9
    True
    """

    _method_name = "irosr"

    alpha: float = 1e-3
    eta: float | None = None
    init: Literal["symmetric", "published"] = "symmetric"


@with_parameters
class SRDI(PathRegressor):
    """Linearised Bregman iteration, a discretised inverse scale space [1]_.

    References
    ----------
    .. [1] S. Osher, F. Ruan, J. Xiong, Y. Yao, W. Yin, "Sparse recovery via differential
       inclusions", Applied and Computational Harmonic Analysis 41, 2016.

    Examples
    --------
    >>> from ksupport import SRDI
    >>> from ksupport.datasets import make_correlated_data
    >>> X, y, w = make_correlated_data(60, 20, rho=0.2, density=0.1, snr=20, random_state=0)
    >>> model = SRDI().fit(X, y)
    >>> round(model.score(X, y), 2) > 0.9
    True
    """

    _method_name = "srdi"

    kappa: float = 10.0
    alpha: float | None = None
    scale: Literal["n", "d"] = "n"
    norm: NormKind = "spectral"


@with_parameters
class IHT(PathRegressor):
    """Iterative hard thresholding [1]_.

    References
    ----------
    .. [1] T. Blumensath, M. E. Davies, "Iterative hard thresholding for compressed sensing",
       Applied and Computational Harmonic Analysis 27, 2009.

    Examples
    --------
    >>> from ksupport import IHT
    >>> from ksupport.datasets import make_correlated_data
    >>> X, y, w = make_correlated_data(60, 20, rho=0.2, density=0.1, snr=20, random_state=0)
    >>> model = IHT(k=4).fit(X, y)
    >>> round(model.score(X, y), 2) > 0.9
    True
    """

    _method_name = "iht"

    k: int | None = None
    step: float | Literal["normalised"] | None = None
    norm: NormKind = "spectral"
