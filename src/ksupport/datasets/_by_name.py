"""A dataset by its name in the registry, for loops and for the command line."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from . import _fetch, _fetch_by_hand, _haxby
from ._registry import dataset_info

_FETCHERS: dict[str, Callable[..., Any]] = {
    "leukemia": _fetch.fetch_leukemia,
    "california_housing": _fetch.fetch_california_housing,
    "scheetz2006": _fetch.fetch_scheetz2006,
    "rhee2006": _fetch.fetch_rhee2006,
    "riboflavin": _fetch.fetch_riboflavin,
    "colon": _fetch_by_hand.fetch_colon,
    "khan": _fetch_by_hand.fetch_khan,
    "hiv_pi": _fetch_by_hand.fetch_hiv_pi,
    "hiv_nnrti": _fetch_by_hand.fetch_hiv_nnrti,
    "spike_in_u133": _fetch_by_hand.fetch_spike_in_u133,
    "finemapping_n3": _fetch_by_hand.fetch_finemapping_n3,
    "haxby": partial(_haxby.fetch_haxby, subset="full"),
    "haxby_slice": partial(_haxby.fetch_haxby, subset="slice"),
}


def fetch_dataset(name: str, **options: Any) -> Any:
    """Load a real dataset by name.

    Parameters
    ----------
    name : str
        A name of :func:`list_datasets`.
    **options
        Passed on to the fetcher of that name: ``data_home``, ``download_if_missing``,
        ``as_frame``, ``return_X_y``.

    Returns
    -------
    sklearn.utils.Bunch
        As the fetcher of that name returns it.

    Examples
    --------
    >>> from ksupport.datasets import fetch_dataset
    >>> fetch_dataset("rhee2006").data.shape  # doctest: +SKIP
    (842, 361)
    """
    return _FETCHERS[dataset_info(name).name](**options)
