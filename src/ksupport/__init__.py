"""Sparse recovery by iterative regularisation with the k-support norm."""

from . import datasets, metrics, plotting, stopping, theory
from .algorithms import METHODS, path
from .choosing.stability import StabilitySelection, stability_selection
from .estimators import (
    IHT,
    IRCR,
    IRKSN,
    IRKSNCV,
    IRKSNIC,
    IROSR,
    KSN,
    SRDI,
    AutoIRKSN,
    PathCV,
    PathIC,
)
from .norms import BoxNorm, ksupport_norm, prox_ksupport, topk_norm
from .reading import read

__version__ = "0.1.0"

__all__ = [
    "IHT",
    "IRCR",
    "IRKSN",
    "IRKSNCV",
    "IRKSNIC",
    "IROSR",
    "KSN",
    "METHODS",
    "SRDI",
    "AutoIRKSN",
    "BoxNorm",
    "PathCV",
    "PathIC",
    "StabilitySelection",
    "datasets",
    "ksupport_norm",
    "metrics",
    "path",
    "plotting",
    "prox_ksupport",
    "read",
    "stability_selection",
    "stopping",
    "theory",
    "topk_norm",
]
