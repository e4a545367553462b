"""When to stop: rules by name or as objects, and callbacks of scikit-learn."""

from ..choosing.noise import noise_level
from ..walking import Rule, Verdict
from .callbacks import StoppingCallback
from .rules import APriori, Balancing, Discrepancy, HeldOut, NoChange, ResidualRatio, rule_of

__all__ = [
    "APriori",
    "Balancing",
    "Discrepancy",
    "HeldOut",
    "NoChange",
    "ResidualRatio",
    "Rule",
    "StoppingCallback",
    "Verdict",
    "noise_level",
    "rule_of",
]
