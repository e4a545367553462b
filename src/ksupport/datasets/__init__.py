"""Data to try the methods on: simulated, from the paper's examples, and real."""

from ._cache import DatasetUnavailableError, data_home, dataset_path
from ._fetch import (
    fetch_california_housing,
    fetch_colon,
    fetch_dataset,
    fetch_finemapping_n3,
    fetch_hiv_nnrti,
    fetch_hiv_pi,
    fetch_khan,
    fetch_leukemia,
    fetch_rhee2006,
    fetch_riboflavin,
    fetch_scheetz2006,
    fetch_spike_in_u133,
)
from ._haxby import fetch_haxby
from ._paper_examples import make_example1, make_fmri_process
from ._registry import DatasetInfo, list_datasets
from ._synthetic import make_block_data, make_correlated_data

__all__ = [
    "DatasetInfo",
    "DatasetUnavailableError",
    "data_home",
    "dataset_path",
    "fetch_california_housing",
    "fetch_colon",
    "fetch_dataset",
    "fetch_finemapping_n3",
    "fetch_haxby",
    "fetch_hiv_nnrti",
    "fetch_hiv_pi",
    "fetch_khan",
    "fetch_leukemia",
    "fetch_rhee2006",
    "fetch_riboflavin",
    "fetch_scheetz2006",
    "fetch_spike_in_u133",
    "list_datasets",
    "make_block_data",
    "make_correlated_data",
    "make_example1",
    "make_fmri_process",
]
