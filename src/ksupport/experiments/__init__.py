"""The paper's experiments: one module per figure or table, each with its ``EXPERIMENTS``."""

from __future__ import annotations

from types import ModuleType

from . import (
    fig1,
    fig_example1,
    fig_f1,
    fig_k,
    fig_matrix,
    fmri,
    table_prediction,
    table_rate,
    table_stopping,
)
from .experiment import Cell, Experiment, Protocol, Row
from .runner import reproduce

__all__ = ["EXPERIMENTS", "Cell", "Experiment", "Protocol", "Row", "reproduce"]

_MODULES: tuple[ModuleType, ...] = (
    fig1,
    fig_example1,
    fig_f1,
    table_prediction,
    fmri,
    fig_k,  # beyond the paper, from here on
    table_rate,
    table_stopping,
    fig_matrix,
)

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment for module in _MODULES for experiment in module.EXPERIMENTS
}
