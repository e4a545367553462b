"""Sparse recovery by iterative regularisation with the k-support norm."""

from . import datasets, losses, metrics, plotting, stopping, theory
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
    AutoIRKSNClassifier,
    AutoIRKSNSurvival,
    IRKSNClassifier,
    IRKSNCVClassifier,
    IRKSNICClassifier,
    PathCV,
    PathIC,
)
from .inference.permutation import PermutationTest, permutation_test
from .inference.rehearsal import Outcome, Rehearsal, rehearse
from .inference.splitting import SplitIntervals, split_intervals
from .norms import BoxNorm, ksupport_norm, prox_ksupport, topk_norm
from .posterior.credible_sets import FeatureSet
from .posterior.judgement import NoSignalWarning
from .posterior.moments import Effects
from .posterior.performance import Performance
from .posterior.result import Posterior
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
    "Effects",
    "FeatureSet",
    "IRKSNCVClassifier",
    "IRKSNClassifier",
    "IRKSNICClassifier",
    "NoSignalWarning",
    "Outcome",
    "PathCV",
    "PathIC",
    "Performance",
    "PermutationTest",
    "Posterior",
    "Rehearsal",
    "SplitIntervals",
    "StabilitySelection",
    "datasets",
    "ksupport_norm",
    "losses",
    "metrics",
    "path",
    "permutation_test",
    "plotting",
    "prox_ksupport",
    "read",
    "rehearse",
    "split_intervals",
    "stability_selection",
    "stopping",
    "theory",
    "topk_norm",
]
