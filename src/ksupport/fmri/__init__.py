"""Brain maps from k-support recovery: decoding for people who use nilearn.

Needs the extra: ``pip install 'ksupport[fmri]'``.
"""

from .decoder import KSupportDecoder
from .encludl import ClusteredInference, encludl
from .images import to_image, usable_mask
from .inference import beyond, z_map, z_threshold
from .plotting import plot_maps
from .simulate import brain_mask, make_brain

__all__ = [
    "ClusteredInference",
    "KSupportDecoder",
    "beyond",
    "brain_mask",
    "encludl",
    "make_brain",
    "plot_maps",
    "to_image",
    "usable_mask",
    "z_map",
    "z_threshold",
]
