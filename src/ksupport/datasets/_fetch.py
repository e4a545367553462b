"""Fetchers of the real datasets: from the data directory, else from their origins.

As with scikit-learn's fetchers, all have four common arguments and return a `Bunch`. Data that are
missing and cannot be downloaded raise ``DatasetUnavailableError``, which names the file to get, its
address and the folder to put it in.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._bunch import to_bunch
from ._cache import PathLike, dataset_path, load_arrays
from ._convert import CONVERTERS
from ._registry import dataset_info

_UNCHANGED = ("truth", "truth_positions", "true_coef", "position")


def fetch_leukemia(
    *,
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    as_frame: bool = False,
    return_X_y: bool = False,
) -> Any:
    """Load leukemia: two kinds of acute leukemia from 7129 gene expressions (38 samples).

    The 34 test samples of the original study come along as ``data_test`` and ``target_test``.
    The origin has standardised the features over all 72 samples together, so that the training
    part by itself has neither zero means nor unit variances.

    Parameters
    ----------
    data_home : path-like, optional
        Data directory, see :func:`data_home`.
    download_if_missing : bool, default=True
        Whether to download what the data directory lacks; if not, it is an error.
    as_frame : bool, default=False
        Whether ``data`` is a pandas DataFrame, ``target`` a Series, and ``frame`` both in one.
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` only.

    Returns
    -------
    sklearn.utils.Bunch
        ``data`` (38 x 7129), ``target`` (-1 or 1), ``data_test``, ``target_test``,
        ``feature_names``, ``target_names``, ``DESCR``, ``filename``.

    Examples
    --------
    >>> from ksupport.datasets import fetch_leukemia
    >>> fetch_leukemia().data.shape  # doctest: +SKIP
    (38, 7129)
    """
    return fetch("leukemia", "leukemia", data_home, download_if_missing, as_frame, return_X_y)


def fetch_california_housing(
    *,
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    as_frame: bool = False,
    return_X_y: bool = False,
) -> Any:
    """Load California housing: house values from 8 features of 20640 districts.

    The data of :func:`sklearn.datasets.fetch_california_housing`, in the cache of this package.

    Parameters
    ----------
    data_home, download_if_missing, as_frame, return_X_y
        As in :func:`fetch_leukemia`.

    Returns
    -------
    sklearn.utils.Bunch
        ``data`` (20640 x 8), ``target``, ``feature_names``, ``target_names``, ``DESCR``,
        ``filename``.

    Examples
    --------
    >>> from ksupport.datasets import fetch_california_housing
    >>> fetch_california_housing().data.shape  # doctest: +SKIP
    (20640, 8)
    """
    return fetch(
        "california_housing", "MedHouseVal", data_home, download_if_missing, as_frame, return_X_y
    )


def fetch_scheetz2006(
    *,
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    as_frame: bool = False,
    return_X_y: bool = False,
) -> Any:
    """Load scheetz2006: expression of the gene Trim32 from 18975 others in 120 rats.

    Parameters
    ----------
    data_home, download_if_missing, as_frame, return_X_y
        As in :func:`fetch_leukemia`.

    Returns
    -------
    sklearn.utils.Bunch
        ``data`` (120 x 18975), ``target``, ``feature_names``, ``target_names``, ``DESCR``,
        ``filename``.

    Examples
    --------
    >>> from ksupport.datasets import fetch_scheetz2006
    >>> fetch_scheetz2006().data.shape  # doctest: +SKIP
    (120, 18975)
    """
    return fetch("scheetz2006", "Trim32", data_home, download_if_missing, as_frame, return_X_y)


def fetch_rhee2006(
    *,
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    as_frame: bool = False,
    return_X_y: bool = False,
) -> Any:
    """Load rhee2006: resistance of 842 isolates of HIV-1 to nelfinavir from 361 mutations.

    Parameters
    ----------
    data_home, download_if_missing, as_frame, return_X_y
        As in :func:`fetch_leukemia`.

    Returns
    -------
    sklearn.utils.Bunch
        ``data`` (842 x 361, zeros and ones), ``target``, ``feature_names`` such as ``P13.V``
        (valine at position 13), ``target_names``, ``DESCR``, ``filename``.

    Notes
    -----
    Some mutations occur in none of these isolates: their columns are zero.

    Examples
    --------
    >>> from ksupport.datasets import fetch_rhee2006
    >>> fetch_rhee2006().data.shape  # doctest: +SKIP
    (842, 361)
    """
    return fetch("rhee2006", "log_NFV", data_home, download_if_missing, as_frame, return_X_y)


def fetch_riboflavin(
    *,
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    as_frame: bool = False,
    return_X_y: bool = False,
) -> Any:
    """Load riboflavin: its production by Bacillus subtilis from 4088 genes (71 samples).

    Parameters
    ----------
    data_home, download_if_missing, as_frame, return_X_y
        As in :func:`fetch_leukemia`.

    Returns
    -------
    sklearn.utils.Bunch
        ``data`` (71 x 4088), ``target``, ``feature_names``, ``sample_names``,
        ``target_names``, ``DESCR``, ``filename``.

    Examples
    --------
    >>> from ksupport.datasets import fetch_riboflavin
    >>> fetch_riboflavin().data.shape  # doctest: +SKIP
    (71, 4088)
    """
    return fetch("riboflavin", "q_RIBFLV", data_home, download_if_missing, as_frame, return_X_y)


def fetch(
    name: str,
    target_name: str,
    data_home: PathLike | None,
    download_if_missing: bool,
    as_frame: bool,
    return_X_y: bool,
) -> Any:
    """Load, name and wrap a dataset; several responses are named by ``drugs`` or numbered."""
    info = dataset_info(name)
    arrays = load_arrays(
        info, CONVERTERS.get(name), data_home=data_home, download_if_missing=download_if_missing
    )
    target_names = [target_name]
    if info.n_targets is not None:
        numbered = [f"{target_name}{j}" for j in range(info.n_targets)]
        target_names = [str(drug) for drug in arrays.pop("drugs", numbered)]
    return to_bunch(
        info,
        arrays.pop("X"),
        arrays.pop("y" if info.n_targets is None else "Y"),
        feature_names=arrays.pop("feature_names", None),
        target_names=target_names,
        filename=dataset_path(name, data_home),
        as_frame=as_frame,
        return_X_y=return_X_y,
        **_more(arrays),
    )


def _more(arrays: dict[str, Any]) -> dict[str, Any]:
    """Additional arrays of some datasets, under their names in the Bunch."""
    more: dict[str, Any] = {key: arrays[key] for key in _UNCHANGED if key in arrays}
    if "X_test" in arrays:
        more["data_test"] = np.asarray(arrays["X_test"], dtype=np.float64)
        more["target_test"] = np.asarray(arrays["y_test"], dtype=np.float64)
    if "sample_names" in arrays:
        more["sample_names"] = [str(sample) for sample in arrays["sample_names"]]
    return more
