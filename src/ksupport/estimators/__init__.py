"""The scikit-learn classes: one path each, and those that choose among many."""

from .auto import AutoIRKSN
from .auto_classifier import AutoIRKSNClassifier
from .chosen_classifiers import IRKSNCVClassifier, IRKSNICClassifier
from .classifier import IRKSNClassifier
from .cv import IRKSNCV, PathCV
from .ic import IRKSNIC, PathIC
from .irksn import IRKSN
from .rivals import IHT, IRCR, IROSR, KSN, SRDI
from .survival import AutoIRKSNSurvival

__all__ = [
    "IHT",
    "IRCR",
    "IRKSN",
    "IRKSNCV",
    "IRKSNIC",
    "IROSR",
    "KSN",
    "SRDI",
    "AutoIRKSN",
    "AutoIRKSNClassifier",
    "AutoIRKSNSurvival",
    "IRKSNCVClassifier",
    "IRKSNClassifier",
    "IRKSNICClassifier",
    "PathCV",
    "PathIC",
]
