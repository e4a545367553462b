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
    from .norms import BoxNorm, ksupport_norm, prox_ksupport, topk_norm
    from .posterior.credible_sets import FeatureSet
    from .posterior.judgement import NoSignalWarning
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
    "FeatureSet",
    "IRKSNCVClassifier",
    "IRKSNClassifier",
    "IRKSNICClassifier",
    "NoSignalWarning",
    "PathCV",
    "PathIC",
    "Performance",
    "Posterior",
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
_HOMES = {  # the module of each name; what is not listed is a module itself
    "AutoIRKSN": "estimators",
    "AutoIRKSNClassifier": "estimators",
    "AutoIRKSNSurvival": "estimators",
    "BoxNorm": "norms",
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
    "PathCV": "estimators",
    "PathIC": "estimators",
    "Performance": "posterior.performance",
    "Posterior": "posterior.result",
    "SRDI": "estimators",
    "StabilitySelection": "choosing.stability",
    "ksupport_norm": "norms",
    "path": "algorithms",
    "prox_ksupport": "norms",
    "read": "reading",
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
