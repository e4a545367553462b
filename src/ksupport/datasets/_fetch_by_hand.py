"""Fetchers of datasets that cannot be downloaded; for most of them the truth is known."""

from __future__ import annotations

from typing import Any

from ._cache import PathLike
from ._fetch import fetch


def fetch_colon(
    *,
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    as_frame: bool = False,
    return_X_y: bool = False,
) -> Any:
    """Load colon: 40 tumours and 22 normal tissues of the colon from 2000 gene expressions.

    Parameters
    ----------
    data_home : path-like, optional
        Data directory, see :func:`data_home`.
    download_if_missing : bool, default=True
        Without effect, as this dataset cannot be downloaded: if the data directory lacks it, an
        error explains where the data come from.
    as_frame, return_X_y
        As in :func:`fetch_leukemia`.

    Returns
    -------
    sklearn.utils.Bunch
        ``data`` (62 x 2000, intensities: take logarithms), ``target`` (1 is a tumour),
        ``feature_names``, ``target_names``, ``DESCR``, ``filename``.

    Examples
    --------
    >>> from ksupport.datasets import fetch_colon
    >>> fetch_colon().data.shape  # doctest: +SKIP
    (62, 2000)
    """
    return fetch("colon", "tumour", data_home, download_if_missing, as_frame, return_X_y)


def fetch_khan(
    *,
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    as_frame: bool = False,
    return_X_y: bool = False,
) -> Any:
    """Load khan: four kinds of small round blue cell tumours from 2308 genes (63 samples).

    Parameters
    ----------
    data_home, download_if_missing, as_frame, return_X_y
        As in :func:`fetch_colon`.

    Returns
    -------
    sklearn.utils.Bunch
        ``data`` (63 x 2308, logarithms), ``target`` (0 to 3, of which there are 8, 23, 12 and
        20), ``feature_names``, ``target_names``, ``DESCR``, ``filename``.

    Examples
    --------
    >>> from ksupport.datasets import fetch_khan
    >>> fetch_khan().data.shape  # doctest: +SKIP
    (63, 2308)
    """
    return fetch("khan", "tumour", data_home, download_if_missing, as_frame, return_X_y)


def fetch_hiv_pi(
    *,
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    as_frame: bool = False,
    return_X_y: bool = False,
) -> Any:
    """Load hiv_pi: resistance of HIV-1 to seven protease inhibitors from 361 mutations.

    What is known of the truth does not come from these isolates: mutations of the protease that
    are selected by treatment with these drugs.

    Parameters
    ----------
    data_home, download_if_missing, as_frame, return_X_y
        As in :func:`fetch_colon`.

    Returns
    -------
    sklearn.utils.Bunch
        ``data`` (846 x 361, zeros and ones), ``target`` (846 x 7, times the dose that the wild
        type needs, NaN where it was not measured: take logarithms), ``target_names`` (the drugs),
        ``feature_names`` such as ``P90.M`` (methionine at position 90), ``position``, ``truth``
        (whether a mutation is known to be selected by treatment), ``truth_positions`` (an older
        list, of positions), ``DESCR``, ``filename``.

    Notes
    -----
    Many mutations are rare or always occur together: keep columns with at least 3 ones among the
    rows in use, and one of equal columns.

    Examples
    --------
    >>> from ksupport.datasets import fetch_hiv_pi
    >>> fetch_hiv_pi().target_names  # doctest: +SKIP
    ['APV', 'ATV', 'IDV', 'LPV', 'NFV', 'RTV', 'SQV']
    """
    return fetch("hiv_pi", "drug", data_home, download_if_missing, as_frame, return_X_y)


def fetch_hiv_nnrti(
    *,
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    as_frame: bool = False,
    return_X_y: bool = False,
) -> Any:
    """Load hiv_nnrti: resistance of HIV-1 to three inhibitors of its reverse transcriptase.

    Parameters
    ----------
    data_home, download_if_missing, as_frame, return_X_y
        As in :func:`fetch_colon`.

    Returns
    -------
    sklearn.utils.Bunch
        As :func:`fetch_hiv_pi`: ``data`` (745 x 655), ``target`` (745 x 3), ``target_names``,
        ``feature_names``, ``position``, ``truth``, ``truth_positions``, ``DESCR``, ``filename``.

    Examples
    --------
    >>> from ksupport.datasets import fetch_hiv_nnrti
    >>> fetch_hiv_nnrti().target_names  # doctest: +SKIP
    ['DLV', 'EFV', 'NVP']
    """
    return fetch("hiv_nnrti", "drug", data_home, download_if_missing, as_frame, return_X_y)


def fetch_spike_in_u133(
    *,
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    as_frame: bool = False,
    return_X_y: bool = False,
) -> Any:
    """Load spike_in_u133: 42 microarrays to which known amounts of transcripts were added.

    Fourteen profiles of concentrations over the arrays were used, each for three transcripts: the
    measured expressions of these three are what a profile should be explained by.

    Parameters
    ----------
    data_home, download_if_missing, as_frame, return_X_y
        As in :func:`fetch_colon`.

    Returns
    -------
    sklearn.utils.Bunch
        ``data`` (42 x 500 probe sets), ``target`` (42 x 14, log2 concentrations), ``truth`` (14 x
        500, the three probe sets of each profile), ``feature_names``, ``target_names``,
        ``DESCR``, ``filename``.

    Examples
    --------
    >>> from ksupport.datasets import fetch_spike_in_u133
    >>> fetch_spike_in_u133().truth.sum(axis=1)[:4]  # doctest: +SKIP
    array([3, 3, 3, 3])
    """
    return fetch("spike_in_u133", "profile", data_home, download_if_missing, as_frame, return_X_y)


def fetch_finemapping_n3(
    *,
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    as_frame: bool = False,
    return_X_y: bool = False,
) -> Any:
    """Load finemapping_n3: 1001 linked genotypes of 574 people, two traits with three causes each.

    The genotypes are real and many of them nearly copies of each other; the traits are simulated.

    Parameters
    ----------
    data_home, download_if_missing, as_frame, return_X_y
        As in :func:`fetch_colon`.

    Returns
    -------
    sklearn.utils.Bunch
        ``data`` (574 x 1001), ``target`` (574 x 2), ``true_coef`` (1001 x 2), ``position`` (of
        each variant on its chromosome), ``feature_names``, ``target_names``, ``DESCR``,
        ``filename``.

    Examples
    --------
    >>> from ksupport.datasets import fetch_finemapping_n3
    >>> (fetch_finemapping_n3().true_coef != 0).sum(axis=0)  # doctest: +SKIP
    array([3, 3])
    """
    return fetch("finemapping_n3", "trait", data_home, download_if_missing, as_frame, return_X_y)
