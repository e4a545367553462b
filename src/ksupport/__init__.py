"""Sparse recovery by iterative regularisation with the k-support norm."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # at run time a name is imported when it is first used: see `__getattr__`
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
    from .inference.intervals import Intervals, intervals
    from .inference.permutation import PermutationTest, permutation_test
    from .inference.rehearsal import Outcome, Rehearsal, rehearse
    from .norms import BoxNorm, ksupport_norm, prox_ksupport, topk_norm
    from .posterior.coefficients import Effects
    from .posterior.credible_sets import FeatureSet
    from .posterior.judgement import NoSignalWarning
    from .posterior.performance import Performance
    from .posterior.result import Posterior
    from .reading import read
    from .recovery import Recovery, recover

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
    "Intervals",
    "NoSignalWarning",
    "Outcome",
    "PathCV",
    "PathIC",
    "Performance",
    "PermutationTest",
    "Posterior",
    "Recovery",
    "Rehearsal",
    "StabilitySelection",
    "datasets",
    "intervals",
    "ksupport_norm",
    "losses",
    "metrics",
    "path",
    "permutation_test",
    "plotting",
    "prox_ksupport",
    "read",
    "recover",
    "rehearse",
    "stability_selection",
    "stopping",
    "theory",
    "topk_norm",
]
_HOMES = {  # the module of each name; what is not listed is a module itself
    "AutoIRKSN": "estimators",
    "AutoIRKSNClassifier": "estimators",
    "AutoIRKSNSurvival": "estimators",
    "BoxNorm": "norms",
    "Effects": "posterior.coefficients",
    "FeatureSet": "posterior.credible_sets",
    "IHT": "estimators",
    "IRCR": "estimators",
    "IRKSN": "estimators",
    "IRKSNCV": "estimators",
    "IRKSNCVClassifier": "estimators",
    "IRKSNClassifier": "estimators",
    "IRKSNIC": "estimators",
    "IRKSNICClassifier": "estimators",
    "IROSR": "estimators",
    "KSN": "estimators",
    "METHODS": "algorithms",
    "NoSignalWarning": "posterior.judgement",
    "Outcome": "inference.rehearsal",
    "PathCV": "estimators",
    "PathIC": "estimators",
    "Intervals": "inference.intervals",
    "Performance": "posterior.performance",
    "PermutationTest": "inference.permutation",
    "Posterior": "posterior.result",
    "Recovery": "recovery",
    "Rehearsal": "inference.rehearsal",
    "SRDI": "estimators",
    "StabilitySelection": "choosing.stability",
    "intervals": "inference.intervals",
    "ksupport_norm": "norms",
    "path": "algorithms",
    "permutation_test": "inference.permutation",
    "prox_ksupport": "norms",
    "read": "reading",
    "recover": "recovery",
    "rehearse": "inference.rehearsal",
    "stability_selection": "choosing.stability",
    "topk_norm": "norms",
}


def __getattr__(name: str) -> Any:
    """Import a public name, or a module of the package, when it is first used."""
    if name in _HOMES:
        value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    elif name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    else:
        try:
            value = import_module(f".{name}", __name__)
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":
                raise
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
