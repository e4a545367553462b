"""Images in, numbers out: what a decoder checks before it believes a mask."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._common.extra import extra
from ..design import Floats

Bools = NDArray[np.bool_]

# What can be wrong with a voxel.
NOT_FINITE, CONSTANT = "hold NaN or infinity", "are constant over the volumes"


def optional(module: str) -> Any:
    """A module of the extra ``fmri``."""
    with extra("fmri"):
        return import_module(module)


def load_volumes(niimgs: Any) -> Any:
    """One 4-D image, from whatever nilearn takes for one; images of a list follow each other."""
    image = optional("nilearn.image")
    if isinstance(niimgs, (list, tuple)):
        return image.concat_imgs(niimgs)
    if 0 in getattr(niimgs, "shape", ()):
        raise ValueError(f"the images are empty: their shape is {niimgs.shape}")
    _refuse_surfaces(niimgs)
    loaded = image.load_img(niimgs)
    return loaded if len(loaded.shape) == 4 else image.concat_imgs([loaded])


def checked_mask(mask: Any, volumes: Any) -> Any:
    """The mask as an image, if it fits the volumes; voxels to use are those that are not 0."""
    _refuse_surfaces(mask)
    mask_img = optional("nilearn.image").load_img(mask)
    if mask_img.shape != volumes.shape[:3]:
        raise ValueError(
            f"mask must have the shape {volumes.shape[:3]} of the images, got {mask_img.shape}: "
            "resample it with nilearn.image.resample_to_img(mask, image, interpolation='nearest')"
        )
    if not np.allclose(mask_img.affine, volumes.affine, atol=1e-3):
        raise ValueError(
            "mask and images have the same shape but different affines, so voxels do not "
            "coincide: resample the mask with nilearn.image.resample_to_img"
        )
    if not inside(mask_img).any():
        raise ValueError(
            "mask has no voxel: all its values are 0. Give one with voxels to use different "
            "from 0, or mask=None to find the brain in the images"
        )
    return mask_img


def _refuse_surfaces(image: Any) -> None:
    if isinstance(image, optional("nilearn.surface").SurfaceImage):
        raise TypeError(
            "Mask and input images must be of compatible types, here volumes; got a SurfaceImage: "
            "mask it with nilearn's SurfaceMasker and fit ksupport.AutoIRKSN to the rows"
        )


def inside(mask_img: Any) -> Bools:
    """The voxels of a mask, as a boolean array."""
    return np.asarray(mask_img.dataobj) != 0


def check_voxels(volumes: Any, mask_img: Any, *, constant: bool) -> None:
    """Refuse voxels that are not finite, or never change if asked; say where the first one is."""
    bad = _bad_voxels(volumes, mask_img)
    if not constant:
        bad.pop(CONSTANT)
    for what, which in bad.items():
        if which.any():
            where = tuple(int(i) for i in np.argwhere(inside(mask_img))[int(np.argmax(which))])
            raise ValueError(
                f"{int(which.sum())} of {which.size} voxels in the mask {what}, the first at "
                f"{where}: exclude them with mask=ksupport.fmri.usable_mask(images, mask)"
            )


def usable_mask(niimgs: Any, mask: Any) -> Any:
    """A mask without the voxels that are not finite or never change.

    Parameters
    ----------
    niimgs : 4-D image, path, or list of images or paths
        The recordings.
    mask : 3-D image or path
        The mask to start from.

    Returns
    -------
    3-D image
        The smaller mask, with the affine of the given one.

    Examples
    --------
    >>> from ksupport.fmri import KSupportDecoder, usable_mask
    >>> mask = usable_mask("bold.nii.gz", "mask.nii.gz")  # doctest: +SKIP
    >>> decoder = KSupportDecoder(mask=mask)  # doctest: +SKIP
    """
    volumes = load_volumes(niimgs)
    mask_img = checked_mask(mask, volumes)
    keep = inside(mask_img).copy()
    bad = _bad_voxels(volumes, mask_img)
    keep[keep] = ~np.any(list(bad.values()), axis=0)
    if not keep.any():
        raise ValueError("no voxel of the mask is usable: all are constant or not finite")
    return optional("nilearn.image").new_img_like(mask_img, keep.astype(np.uint8))


def _bad_voxels(volumes: Any, mask_img: Any) -> dict[str, Bools]:
    """Which voxels of the mask have what wrong with them."""
    # nilearn's masker would silently put 0 for what is not finite.
    values = np.asarray(volumes.dataobj)[inside(mask_img)]
    finite = np.isfinite(values).all(axis=1)
    constant = finite & (values.min(axis=1) == values.max(axis=1))
    return {NOT_FINITE: ~finite, CONSTANT: constant}


def to_image(values: Floats, mask_img: Any) -> Any:
    """A map: the values at the voxels of the mask, 0 elsewhere.

    Parameters
    ----------
    values : array of shape (n_voxels,)
        One number for each voxel of the mask, in the order of nilearn's maskers.
    mask_img : 3-D image
        The mask.

    Returns
    -------
    3-D image
        With the affine of the mask.

    Examples
    --------
    >>> from ksupport.fmri import to_image
    >>> to_image(w, "mask.nii.gz").to_filename("w.nii.gz")  # doctest: +SKIP
    """
    mask_img = optional("nilearn.image").load_img(mask_img)
    where = inside(mask_img)
    values = np.asarray(values)
    if values.shape != (int(where.sum()),):
        raise ValueError(
            f"values must have shape ({int(where.sum())},), one for each voxel of the mask, "
            f"got {values.shape}"
        )
    data = np.zeros(where.shape, np.float64)
    data[where] = values
    # Not like the mask: in its whole numbers, weights would be rounded when saved.
    return optional("nibabel").Nifti1Image(data, mask_img.affine)
