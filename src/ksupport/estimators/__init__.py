"""The scikit-learn classes: one path each, and those that choose among many."""

from .auto import AutoIRKSN
from .classifier import IRKSNClassifier
from .cv import IRKSNCV, PathCV
from .ic import IRKSNIC, PathIC
from .irksn import IRKSN
from .rivals import IHT, IRCR, IROSR, KSN, SRDI

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
    "IRKSNClassifier",
    "PathCV",
    "PathIC",
]
