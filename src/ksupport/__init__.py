"""Sparse recovery by iterative regularisation with the k-support norm."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # at run time a name is imported when it is first used: see `__getattr__`
    from . import datasets as datasets
    from . import losses as losses
    from . import metrics as metrics
    from . import plotting as plotting
    from . import stopping as stopping
    from . import theory as theory
    from .algorithms import METHODS as METHODS
    from .algorithms import path as path
    from .choosing.stability import StabilitySelection as StabilitySelection
    from .choosing.stability import stability_selection as stability_selection
    from .estimators import IHT as IHT
    from .estimators import IRCR as IRCR
    from .estimators import IRKSN as IRKSN
    from .estimators import IRKSNCV as IRKSNCV
    from .estimators import IRKSNIC as IRKSNIC
    from .estimators import IROSR as IROSR
    from .estimators import KSN as KSN
    from .estimators import SRDI as SRDI
    from .estimators import AutoIRKSN as AutoIRKSN
    from .estimators import AutoIRKSNClassifier as AutoIRKSNClassifier
    from .estimators import AutoIRKSNSurvival as AutoIRKSNSurvival
    from .estimators import IRKSNClassifier as IRKSNClassifier
    from .estimators import IRKSNCVClassifier as IRKSNCVClassifier
    from .estimators import IRKSNICClassifier as IRKSNICClassifier
    from .estimators import PathCV as PathCV
    from .estimators import PathIC as PathIC
    from .inference.intervals import Intervals as Intervals
    from .inference.intervals import intervals as intervals
    from .inference.permutation import PermutationTest as PermutationTest
    from .inference.permutation import permutation_test as permutation_test
    from .inference.rehearsal import Outcome as Outcome
    from .inference.rehearsal import Rehearsal as Rehearsal
    from .inference.rehearsal import rehearse as rehearse
    from .norms import BoxNorm as BoxNorm
    from .norms import ksupport_norm as ksupport_norm
    from .norms import prox_ksupport as prox_ksupport
    from .norms import topk_norm as topk_norm
    from .posterior.coefficients import Effects as Effects
    from .posterior.credible_sets import FeatureSet as FeatureSet
    from .posterior.judgement import NoSignalWarning as NoSignalWarning
    from .posterior.performance import Performance as Performance
    from .posterior.result import Posterior as Posterior
    from .reading import read as read
    from .recovery import Recovery as Recovery
    from .recovery import recover as recover

__version__ = "0.2.0"

_NAMES = {  # of each module
    "algorithms": ("METHODS", "path"),
    "choosing.stability": ("StabilitySelection", "stability_selection"),
    "estimators": (
        "AutoIRKSN", "AutoIRKSNClassifier", "AutoIRKSNSurvival", "IHT", "IRCR", "IRKSN", "IRKSNCV",
        "IRKSNCVClassifier", "IRKSNClassifier", "IRKSNIC", "IRKSNICClassifier", "IROSR", "KSN",
        "PathCV", "PathIC", "SRDI",
    ),
    "inference.intervals": ("Intervals", "intervals"),
    "inference.permutation": ("PermutationTest", "permutation_test"),
    "inference.rehearsal": ("Outcome", "Rehearsal", "rehearse"),
    "norms": ("BoxNorm", "ksupport_norm", "prox_ksupport", "topk_norm"),
    "posterior.coefficients": ("Effects",),
    "posterior.credible_sets": ("FeatureSet",),
    "posterior.judgement": ("NoSignalWarning",),
    "posterior.performance": ("Performance",),
    "posterior.result": ("Posterior",),
    "reading": ("read",),
    "recovery": ("Recovery", "recover"),
}  # fmt: skip
_HOMES = {name: module for module, names in _NAMES.items() for name in names}
__all__ = [*_HOMES, "datasets", "losses", "metrics", "plotting", "stopping", "theory"]


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
