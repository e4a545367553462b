"""When to stop: rules by name or as objects, and callbacks of scikit-learn."""

from ..walking import Rule, Verdict
from .callbacks import StoppingCallback
from .rules import APriori, Balancing, Discrepancy, HeldOut, ResidualRatio, Settled, rule_of

__all__ = [
    "APriori",
    "Balancing",
    "Discrepancy",
    "HeldOut",
    "ResidualRatio",
    "Rule",
    "Settled",
    "StoppingCallback",
    "Verdict",
    "rule_of",
]
