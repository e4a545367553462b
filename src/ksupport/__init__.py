"""Sparse recovery by iterative regularisation with the k-support norm."""

from . import datasets, losses, metrics, plotting, stopping, theory
from .algorithms import METHODS, path
from .choosing.elections import Performance
from .choosing.sets import FeatureSet
from .choosing.stability import StabilitySelection, stability_selection
from .choosing.words import NoSignalWarning
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
    AutoIRKSNClassifier,
    AutoIRKSNSurvival,
    IRKSNClassifier,
    PathCV,
    PathIC,
)
from .norms import BoxNorm, ksupport_norm, prox_ksupport, topk_norm
from .reading import read

__version__ = "0.2.0"

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
    "AutoIRKSNClassifier",
    "AutoIRKSNSurvival",
    "BoxNorm",
    "FeatureSet",
    "IRKSNClassifier",
    "NoSignalWarning",
    "PathCV",
    "PathIC",
    "Performance",
    "StabilitySelection",
    "datasets",
    "ksupport_norm",
    "losses",
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
