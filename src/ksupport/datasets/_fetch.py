"""Fetchers of the real datasets: from the data directory, else from their origins.

As with scikit-learn's fetchers, all have four common arguments and return a `Bunch`.  Data that are
missing and cannot be downloaded raise ``DatasetUnavailableError``, which names the file to get, its
address and the folder to put it in.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from textwrap import fill
from typing import Any, Protocol

import numpy as np

from ._bunch import to_bunch
from ._cache import PathLike, dataset_path, load_arrays
from ._convert import CONVERTERS
from ._haxby import fetch_haxby
from ._registry import dataset_info

_UNCHANGED = ("truth", "truth_positions", "true_coef", "position")
_DOWNLOADED = "Whether to download what the data directory lacks; if not, it is an error."
_BY_HAND = (
    "Without effect, as this dataset cannot be downloaded: if the data directory lacks it, an "
    "error explains where the data come from."
)
_DOCUMENTATION = """{text}

Parameters
----------
data_home : path-like, optional
    Data directory, see :func:`data_home`.
download_if_missing : bool, default=True
{download}
as_frame : bool, default=False
    Whether ``data`` is a pandas DataFrame, ``target`` a Series (of several responses a
    DataFrame), and ``frame`` both in one.
return_X_y : bool, default=False
    Whether to return ``(data, target)`` only.

Returns
-------
sklearn.utils.Bunch
{contents}

Examples
--------
>>> from ksupport.datasets import fetch_{name}
>>> fetch_{name}().data.shape  # doctest: +SKIP
{shape}
"""


_FETCHERS: dict[str, Callable[..., Any]] = {
    "haxby": partial(fetch_haxby, subset="full"),
    "haxby_slice": partial(fetch_haxby, subset="slice"),
}


class Fetcher(Protocol):
    """Loads one dataset."""

    def __call__(
        self, *, data_home: PathLike | None = None, download_if_missing: bool = True,
        as_frame: bool = False, return_X_y: bool = False,
    ) -> Any: ...  # fmt: skip


def _fetcher(
    name: str, response: str, text: str, target: str = "``target``", data: str = "", more: str = ""
) -> Fetcher:
    """The fetcher of a dataset; several responses are named by ``drugs`` or numbered.

    The documentation begins with the text, and says more of ``target``, ``data`` and other entries.
    """
    info = dataset_info(name)

    def fetch(
        *,
        data_home: PathLike | None = None,
        download_if_missing: bool = True,
        as_frame: bool = False,
        return_X_y: bool = False,
    ) -> Any:
        arrays = load_arrays(
            info, CONVERTERS.get(name), data_home=data_home, download_if_missing=download_if_missing
        )
        names = [response]
        if info.n_targets is not None:
            numbered = [f"{response}{j}" for j in range(info.n_targets)]
            names = [str(drug) for drug in arrays.pop("drugs", numbered)]
        return to_bunch(
            info,
            arrays.pop("X"),
            arrays.pop("y" if info.n_targets is None else "Y"),
            feature_names=arrays.pop("feature_names", None),
            target_names=names,
            filename=dataset_path(name, data_home),
            as_frame=as_frame,
            return_X_y=return_X_y,
            **_more(arrays),
        )

    contents = (
        f"``data`` ({info.shape[0]} x {info.shape[1]}{data}), {target}, {more}``feature_names``, "
        "``target_names``, ``DESCR``, ``filename``."
    )
    indented: Callable[[str], str] = partial(
        fill, width=96, initial_indent="    ", subsequent_indent="    "
    )
    fetch.__name__ = fetch.__qualname__ = f"fetch_{name}"
    fetch.__doc__ = _DOCUMENTATION.format(
        text=text, download=indented(_DOWNLOADED if info.files else _BY_HAND),
        contents=indented(contents), name=name, shape=info.shape,
    )  # fmt: skip
    _FETCHERS[name] = fetch
    return fetch


def _more(arrays: dict[str, Any]) -> dict[str, Any]:
    """Additional arrays of some datasets, under their names in the Bunch."""
    more: dict[str, Any] = {key: arrays[key] for key in _UNCHANGED if key in arrays}
    if "X_test" in arrays:
        more["data_test"] = np.asarray(arrays["X_test"], dtype=np.float64)
        more["target_test"] = np.asarray(arrays["y_test"], dtype=np.float64)
    if "sample_names" in arrays:
        more["sample_names"] = [str(sample) for sample in arrays["sample_names"]]
    return more


fetch_leukemia = _fetcher(
    "leukemia",
    "leukemia",
    """Load leukemia: two kinds of acute leukemia from 7129 gene expressions (38 samples).

The 34 test samples of the original study come along as ``data_test`` and ``target_test``.  The
origin has standardised the features over all 72 samples together, so that the training part by
itself has neither zero means nor unit variances.""",
    target="``target`` (-1 or 1)",
    more="``data_test``, ``target_test``, ",
)
fetch_california_housing = _fetcher(
    "california_housing",
    "MedHouseVal",
    """Load California housing: house values from 8 features of 20640 districts.

The data of :func:`sklearn.datasets.fetch_california_housing`, in the cache of this package.""",
)
fetch_scheetz2006 = _fetcher(
    "scheetz2006",
    "Trim32",
    "Load scheetz2006: expression of the gene Trim32 from 18975 others in 120 rats.",
)
fetch_rhee2006 = _fetcher(
    "rhee2006",
    "log_NFV",
    """Load rhee2006: resistance of 842 isolates of HIV-1 to nelfinavir from 361 mutations.

Features have names such as ``P13.V`` (valine at position 13).  Some mutations occur in none of
these isolates: their columns are zero.""",
    data=", zeros and ones",
)
fetch_riboflavin = _fetcher(
    "riboflavin",
    "q_RIBFLV",
    "Load riboflavin: its production by Bacillus subtilis from 4088 genes (71 samples).",
    more="``sample_names``, ",
)
fetch_colon = _fetcher(
    "colon",
    "tumour",
    "Load colon: 40 tumours and 22 normal tissues of the colon from 2000 gene expressions.",
    target="``target`` (1 is a tumour)",
    data=", intensities: take logarithms",
)
fetch_khan = _fetcher(
    "khan",
    "tumour",
    "Load khan: four kinds of small round blue cell tumours from 2308 genes (63 samples).",
    target="``target`` (0 to 3, of which there are 8, 23, 12 and 20)",
    data=", logarithms",
)
_RESISTANCE = (
    "times the dose that the wild type needs, NaN where it was not measured: take logarithms), "
    "``target_names`` (the drugs"
)
_SELECTED = (
    "``position``, ``truth`` (whether a mutation is known to be selected by treatment), "
    "``truth_positions`` (an older list, of positions), "
)
fetch_hiv_pi = _fetcher(
    "hiv_pi",
    "drug",
    """Load hiv_pi: resistance of HIV-1 to seven protease inhibitors from 361 mutations.

What is known of the truth does not come from these isolates: mutations of the protease that are
selected by treatment with these drugs.  Features have names such as ``P90.M`` (methionine at
position 90).  Many mutations are rare or always occur together: keep columns with at least 3 ones
among the rows in use, and one of equal columns.""",
    target=f"``target`` (846 x 7, {_RESISTANCE})",
    data=", zeros and ones",
    more=_SELECTED,
)
fetch_hiv_nnrti = _fetcher(
    "hiv_nnrti",
    "drug",
    """Load hiv_nnrti: resistance of HIV-1 to three inhibitors of its reverse transcriptase.

As :func:`fetch_hiv_pi`.""",
    target=f"``target`` (745 x 3, {_RESISTANCE})",
    data=", zeros and ones",
    more=_SELECTED,
)
fetch_spike_in_u133 = _fetcher(
    "spike_in_u133",
    "profile",
    """Load spike_in_u133: 42 microarrays to which known amounts of transcripts were added.

Fourteen profiles of concentrations over the arrays were used, each for three transcripts: the
measured expressions of these three are what a profile should be explained by.""",
    target="``target`` (42 x 14, log2 concentrations)",
    data=" probe sets",
    more="``truth`` (14 x 500, the three probe sets of each profile), ",
)
fetch_finemapping_n3 = _fetcher(
    "finemapping_n3",
    "trait",
    """Load finemapping_n3: 1001 linked genotypes of 574 people, two traits with three causes each.

The genotypes are real and many of them nearly copies of each other; the traits are simulated.""",
    target="``target`` (574 x 2)",
    more="``true_coef`` (1001 x 2), ``position`` (of each variant on its chromosome), ",
)


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
