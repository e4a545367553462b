"""
Brain maps: which voxels tell houses from faces?
================================================

A decoder predicts from brain images what a subject saw. Here it may use few voxels, and we look at
which ones it takes. The images are one slice of the recordings of Haxby et al. (2001), if it is on
this machine; if not, those of a small simulated brain.

This page needs ``pip install 'ksupport[fmri]'``.
"""

# %%
# Images, labels and runs
# -----------------------
# What nilearn takes: a 4-D image with one label and one run for each volume, and a mask.

import tempfile
import warnings
from pathlib import Path

import numpy as np
from nilearn.image import concat_imgs, index_img, load_img, mean_img
from nilearn.plotting import view_img

from ksupport.datasets import DatasetUnavailableError, fetch_haxby
from ksupport.fmri import KSupportDecoder, make_brain, plot_maps, to_image

try:
    files = fetch_haxby(subset="slice")
    lines = Path(files.attributes_path).read_text().split()
    labels, runs = np.array(lines[::2]), np.array(lines[1::2], dtype=int)
    seen = np.isin(labels, ["face", "house"])
    labels, runs = labels[seen], runs[seen]
    images, mask = index_img(load_img(files.bold_path), seen), load_img(files.mask_path)
    background = mean_img(images)
except DatasetUnavailableError:
    brain = make_brain(72, 2000, n_active=30, n_runs=6, random_state=0)
    images = concat_imgs([to_image(100 + row, brain.mask_img) for row in brain.data])
    labels, runs = np.where(brain.target > 0, "house", "face"), brain.run
    mask, background = brain.mask_img, None

print(images.shape, np.unique(labels), "runs:", len(np.unique(runs)))

# %%
# Predict a run that was not seen
# -------------------------------
# Folds by runs choose how many voxels to look for (k), alpha, and where to stop.

train = runs != runs[-1]
decoder = KSupportDecoder(mask=mask, cv=4)
decoder.fit(index_img(images, train), labels[train], groups=runs[train])
accuracy = decoder.score(index_img(images, ~train), labels[~train])
print(f"k={decoder.estimators_[0].k_}, alpha={decoder.estimators_[0].alpha_}")
print(f"right on the last run: {accuracy:.0%}")

# %%
# Maps
# ----
# All runs now. Few voxels are enough to predict, so folds choose a small k. To see the region
# rather than its best voxels, give a larger one. Colours are z-values, with weights taken as
# Gaussian; what is shown is beyond the threshold for a family-wise error rate of 0.1.

decoders = {
    "IRKSN, k chosen": KSupportDecoder(mask=mask, cv=4),
    "IRKSN, k=30": KSupportDecoder(k=30, mask=mask, cv=4),
    "Lasso": KSupportDecoder("lasso", mask=mask, cv=4),
}
for each in decoders.values():
    each.fit(images, labels, groups=runs)

maps = {name: each.z_img_["house"] for name, each in decoders.items()}
cut = 0.0 if background is not None else -12.0
figure = plot_maps(
    maps,
    background=background,
    threshold=decoder.threshold_,
    cut=cut,
    title="voxels that speak for house (red) or face (blue)",
)

# %%
# To keep, and to turn around
# ---------------------------
# Maps are NIfTI images, and nilearn's viewer makes a web page of each.

folder = Path(tempfile.mkdtemp())
chosen = decoders["IRKSN, k=30"]
chosen.z_img_["house"].to_filename(folder / "house_z.nii.gz")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of NumPy, about masks in nilearn
    view = view_img(
        chosen.z_img_["house"],
        bg_img="MNI152" if background is None else background,
        threshold=chosen.threshold_,
        title="IRKSN, k=30",
    )
view.save_as_html(folder / "house_z.html")
print([f"{name}: {np.count_nonzero(each.coef_)} voxels" for name, each in decoders.items()])
print(sorted(path.name for path in folder.iterdir()))
view
